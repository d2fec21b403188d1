// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of matrices: each place of the kernel becomes a row of all the numbers that it sees.
#pragma once
#include "kelvin/function/convolution.h"

namespace kelvin {

// Of one group. Weights lie as taps x channels of x x channels of y; what is written is added to.
template <class Real>
class UnfoldedConvolution {
 public:
  static bool pays(const ConvolutionPlan&);
  void forward(const ConvolutionPlan&, const Real* taps, std::size_t rows, const Real* x, Real* y);
  void back(const ConvolutionPlan&, const Real* taps, std::size_t rows, const Real* dy, Real* dx);
  void slopes(const ConvolutionPlan&, std::size_t rows, const Real* x, const Real* dy, Real* taps);

 private:
  const Real* unfold(const ConvolutionPlan&, const Real* x);
  LargeArray<Real> unfolded_;  // of one row: pixels of y x taps x channels of x
};

}  // namespace kelvin
