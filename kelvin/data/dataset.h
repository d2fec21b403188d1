// SPDX-License-Identifier: Apache-2.0
// Rows of inputs and targets, as every model sees them.
#pragma once
#include <cstdint>

#include "kelvin/data/input_values.h"
#include "kelvin/data/shape.h"

namespace kelvin {

using Batch = std::span<const std::uint32_t>;  // row numbers; empty means every row

// stored = (original - mean) / scale, per column; empty means the stored numbers are the original ones.
struct Units {
  std::vector<double> mean, scale;
  double original(std::size_t column, double stored) const {
    return mean.empty() ? stored : mean[column] + scale[column] * stored;
  }
  double scale_of(std::size_t column) const { return scale.empty() ? 1 : scale[column]; }
};

struct Dataset {
  std::size_t rows = 0;
  std::vector<std::string> input_names, target_names;
  std::vector<std::string> vocabulary;  // what the numbers of inputs that are tokens stand for
  std::vector<std::string> classes;     // names of the classes; empty for numeric targets
  InputValues inputs;                   // rows x input_names.size(), row by row, in stored units
  std::vector<double> targets;  // rows x target_names.size(); with classes: one column, 0 ... classes.size() - 1
  Units input_units, target_units;
  Shape shape = {};       // of a row of inputs where it has one: an image is channels x height x width, channels last
  std::size_t steps = 0;  // of a sequence whose steps have a class each, the columns of `targets`; 0: rows have one

  std::size_t input_count() const { return input_names.size(); }
  Shape input_shape() const { return shape.rank() > 0 ? shape : Shape{input_count()}; }
  std::size_t target_count() const { return target_names.size(); }
  std::size_t observations() const { return rows * (steps > 0 ? steps : 1); }
  bool has_classes() const { return !classes.empty(); }
};

struct Splits {
  Dataset train, validation, test;  // validation and test may have no rows
};

}  // namespace kelvin
