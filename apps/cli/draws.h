// SPDX-License-Identifier: Apache-2.0
// Where a command takes a run, it may be given a file of draws that another program made.
#pragma once
#include "kelvin/trajectory/samples.h"

namespace kelvin::cli {

inline constexpr const char* directory_or_draws =
    "directory of a run, or a file of draws from elsewhere (.npz, .csv, .nc)";

// Of a file: stored in a temporary directory, which lasts as long as the program.
Samples samples_at(const std::string& place);

}  // namespace kelvin::cli
