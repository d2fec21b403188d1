// SPDX-License-Identifier: Apache-2.0
// Command lines: which command is meant, what it is given, and help.
#pragma once
#include <string>
#include <vector>

#include "apps/cli/command.h"

namespace kelvin::cli {

// Runs the command that `words` name, or prints its help. `path` is how the command itself is called: "kelvin", "kelvin
// landscape". Throws UsageError for a command line that is not understood.
void run_command(const Command&, const std::string& path, std::vector<std::string> words);

}  // namespace kelvin::cli
