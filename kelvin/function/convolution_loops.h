// SPDX-License-Identifier: Apache-2.0
// The plain loops of a convolution, which define it: one version for each instruction set.
#pragma once
#include <cstddef>

#include "kelvin/core/isa.h"

namespace kelvin {

// From x to y along one direction: place p of y sees p stride - before + i dilation of x, i = 0 ... taps - 1, where
// there is such a place.
struct ConvolutionAxis {
  std::size_t x, y, taps, stride, dilation, before;
};
struct ConvolutionLoops {
  ConvolutionAxis down, along;
  std::size_t groups, x_channels, y_channels;  // channels of one group
  std::size_t rows;
};

// Weights lie as taps x groups x channels of x x channels of y; turned, the last two the other way round. What is
// written is added to.
#define KELVIN_CONVOLUTIONS(Real)                                                            \
  void convolve(const ConvolutionLoops&, const Real* taps, const Real* x, Real* y);          \
  void convolve_back(const ConvolutionLoops&, const Real* turned, const Real* dy, Real* dx); \
  void convolve_slopes(const ConvolutionLoops&, const Real* x, const Real* dy, Real* taps)

KELVIN_FOR_EACH_ISA(KELVIN_CONVOLUTIONS(float))
KELVIN_FOR_EACH_ISA(KELVIN_CONVOLUTIONS(double))
KELVIN_CONVOLUTIONS(float);
KELVIN_CONVOLUTIONS(double);

}  // namespace kelvin
