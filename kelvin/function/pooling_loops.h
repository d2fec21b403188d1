// SPDX-License-Identifier: Apache-2.0
// The loops of pools, channel by channel: one version for each instruction set.
#pragma once
#include "kelvin/function/convolution_loops.h"

namespace kelvin {

struct PoolingLoops {
  ConvolutionAxis down, along;
  std::size_t channels, rows;
  bool relu = false;  // of the largest, its positive part
  // Windows that touch: each pixel of x lies in one of them at most.
  bool touch() const {
    return down.stride == down.taps && along.stride == along.taps && down.before == 0 && along.before == 0;
  }
  bool cover() const { return touch() && down.y * down.taps == down.x && along.y * along.taps == along.x; }
};

// `first`: for each number of y, which place of its window the first of the largest has; none where the positive part
// has cut it off. Slopes are added to; those of windows that cover the image are put.
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
