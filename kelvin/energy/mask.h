// SPDX-License-Identifier: Apache-2.0
// Masks, such as dropout: entries of a block that some evaluations leave out. Which ones is a pure function of (seed,
// walker, number of the evaluation). To add one, write its function and its row in mask.cpp.
#pragma once
#include "kelvin/core/choice.h"
#include "kelvin/core/noise.h"
#include "kelvin/function/block.h"

namespace kelvin {

struct MaskDraw {
  const Block& block;
  Stream stream;          // its step is the number of the evaluation
  const double* numbers;  // of the row, in the order of its parameters
};

struct Mask {
  std::string_view name;
  std::span<const Parameter> parameters;
  // Factors for the entries before the evaluation, and for the gradient after it.
  void (*factors)(const MaskDraw&, std::span<double> on_q, std::span<double> on_g);
  std::string_view meaning;
};
std::span<const Mask> masks();

struct BlockMask {
  std::string block;
  Choice mask;
};

// A row with its numbers, checked, and the factors of the next evaluation.
struct DrawnMask {
  const Mask* row;
  std::vector<double> numbers, on_q, on_g;
  void draw(const Block&, const Stream&);
};
DrawnMask mask_of(const Choice&, const Block&);

}  // namespace kelvin
