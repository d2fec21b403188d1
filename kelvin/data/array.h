// SPDX-License-Identifier: Apache-2.0
// A block of numbers with a shape, as the array formats (IDX, NPY, NPZ) hold it.
#pragma once
#include <cstddef>
#include <vector>

namespace kelvin {

struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> values;  // the last index runs fastest
};

}  // namespace kelvin
