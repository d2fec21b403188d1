// SPDX-License-Identifier: Apache-2.0
// What a run reads, from files: rows, draws of other runs to start from, the bias of a tempered one.
#pragma once
#include "kelvin/run/environment.h"

namespace kelvin {

// Names of files and runs are relative to the directory; empty: to that of the process. No clock, one thread.
RunEnvironment inputs_from(const std::string& directory = "");

}  // namespace kelvin
