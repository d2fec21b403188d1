// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

namespace kelvin::cli {

void add_compare(CLI::App&) {}

}  // namespace kelvin::cli
