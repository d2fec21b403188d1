// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/entry.h"

#include <fmt/ranges.h>

#include <vector>

namespace kelvin {

std::string entry_name(std::string_view array, std::size_t k, std::span<const std::size_t> shape) {
  if (shape.empty()) return std::string(array);
  std::vector<std::size_t> at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; k /= shape[d]) at[d] = k % shape[d];
  return fmt::format("{}[{}]", array, fmt::join(at, ","));
}

}  // namespace kelvin
