// SPDX-License-Identifier: Apache-2.0
// Files of one state: named arrays, called as Kelvin calls its blocks or as PyTorch does.
#pragma once
#include <string>
#include <vector>

#include "kelvin/function/block.h"

namespace kelvin {

bool is_state_file(const std::string& place);  // by the end of its name

std::vector<double> block_in_file(const std::string& file, const Block&);

}  // namespace kelvin
