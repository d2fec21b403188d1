// SPDX-License-Identifier: Apache-2.0
// How one number of an array is called: layer1.weight[0,1].
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace kelvin {

// The k-th number, counted with the last index fastest, of an array of this shape; the array's own name without one.
std::string entry_name(std::string_view array, std::size_t k, std::span<const std::size_t> shape);

}  // namespace kelvin
