// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/shape.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "kelvin/core/error.h"

namespace kelvin {

Shape::Shape(std::span<const std::size_t> extents) : rank_(extents.size()) {
  if (rank_ > most) throw Error("an array has {} extents; at most {} are possible", rank_, most);
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

std::string Shape::text() const { return fmt::format("{}", fmt::join(extents(), " x ")); }

}  // namespace kelvin
