// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace kelvin {

std::string_view version();

}  // namespace kelvin
