// SPDX-License-Identifier: Apache-2.0
// The loops of pools, channel by channel: one version for each instruction set.
#pragma once
#include "kelvin/function/convolution_loops.h"

namespace kelvin {

struct PoolingLoops {
  ConvolutionAxis down, along;
  std::size_t channels, rows;
};

// `first`: for each number of y, which place of its window the first of the largest has. Slopes are added to.
#define KELVIN_POOLS(Real)                                                                  \
  void pool_largest(const PoolingLoops&, const Real* x, Real* y, Real* first);              \
  void pool_largest_back(const PoolingLoops&, const Real* dy, const Real* first, Real* dx); \
  void pool_mean(const PoolingLoops&, const Real* x, Real* y);                              \
  void pool_mean_back(const PoolingLoops&, const Real* dy, Real* dx)

KELVIN_FOR_EACH_ISA(KELVIN_POOLS(float))
KELVIN_FOR_EACH_ISA(KELVIN_POOLS(double))
KELVIN_POOLS(float);
KELVIN_POOLS(double);

}  // namespace kelvin
