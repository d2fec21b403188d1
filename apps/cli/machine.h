// SPDX-License-Identifier: Apache-2.0
// The machine that a run is on.
#pragma once
#include <filesystem>
#include <string>

#include "kelvin/run/size.h"

namespace kelvin::cli {

// What the speed of a run, and the last place of its numbers, may depend on.
std::string machine();

// What is left of its memory, or of what this process's group may have; and of the disk where a run will lie.
Room room_for(const std::filesystem::path& run);

}  // namespace kelvin::cli
