// SPDX-License-Identifier: Apache-2.0
// A block of numbers with a shape, as the array formats (IDX, NPY, NPZ) hold it.
#pragma once
#include "kelvin/data/input_values.h"

namespace kelvin {

struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> values;  // the last index runs fastest
};

// The same, whose numbers may be kept in bytes.
struct InputArray {
  std::vector<std::size_t> shape;
  InputValues values;
  operator Array() const { return {shape, values.list()}; }
};

}  // namespace kelvin
