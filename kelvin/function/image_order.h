// SPDX-License-Identifier: Apache-2.0
// Images lie channels last; lists made of them, and the weights of what reads those, channels first, as PyTorch has
// them.
#pragma once
#include "kelvin/function/images.h"

namespace kelvin {

// Of an image as it is; of a sequence or a list, which lie as PyTorch has them, so that turning leaves them alone.
inline Pixels planes_of(const Shape& shape) {
  return shape.rank() == 3 ? pixels_of(shape) : Pixels{.count = shape.size(), .channels = 1};
}

template <class Real>
void channels_first(const Pixels& image, std::size_t rows, const Real* from, Real* to) {
  for (std::size_t row = 0; row < rows; ++row, from += image.size(), to += image.size())
    for (std::size_t c = 0; c < image.channels; ++c)
      for (std::size_t p = 0; p < image.count; ++p) to[c * image.count + p] = from[p * image.channels + c];
}

template <class Real>
void channels_last(const Pixels& image, std::size_t rows, const Real* from, Real* to) {
  for (std::size_t row = 0; row < rows; ++row, from += image.size(), to += image.size())
    for (std::size_t p = 0; p < image.count; ++p)
      for (std::size_t c = 0; c < image.channels; ++c) to[p * image.channels + c] = from[c * image.count + p];
}

}  // namespace kelvin
