// SPDX-License-Identifier: Apache-2.0
// Loops over pixels, all channels of a pixel at once: what layers that normalise are made of. One version for each
// instruction set. Sums are taken in runs of a few pixels, which are added up in double.
#pragma once
#include <cstddef>

#include "kelvin/core/isa.h"

namespace kelvin {

// So many channels of each pixel, the pixels `stride` numbers apart.
struct ChannelRows {
  std::size_t pixels, channels, stride;
};

// y = max((x - mean) scale + bias, threshold); null: no threshold.
template <class Real>
struct ChannelMap {
  const Real *mean, *scale, *bias, *threshold = nullptr;
};

// dx = scale dy - offset - (x - mean) along
template <class Real>
struct ChannelSlopes {
  const Real *mean, *scale, *offset, *along;
};

// Where y is given, it is a positive part: dy becomes 0 where y is not above 0, before it is summed.
template <class Real>
struct ChannelCut {
  Real* dy;
  const Real *x, *mean, *y = nullptr;
};

#define KELVIN_CHANNELS(Real)                                                                           \
  /* sum of x */                                                                                        \
  void channel_sums(const ChannelRows&, const Real* x, double* sums);                                   \
  /* sum of (x - mean)^2 */                                                                             \
  void channel_squares(const ChannelRows&, const Real* x, const Real* mean, double* sums);              \
  /* sum of dy where y is not above the threshold; there dy becomes 0 */                                \
  void channel_cut(const ChannelRows&, const Real* y, const Real* threshold, Real* dy, double* sums);   \
  /* sum of x, and of (x - its mean over all pixels)^2 */                                               \
  void channel_statistics(const ChannelRows&, const Real* x, double* sums, double* squares);            \
  /* sum of dy, and of dy (x - mean) */                                                                 \
  void channel_slope_sums(const ChannelRows&, const ChannelCut<Real>&, double* sums, double* products); \
  void channel_map(const ChannelRows&, const Real* x, const ChannelMap<Real>&, Real* y);                \
  void channel_slopes(const ChannelRows&, const Real* dy, const Real* x, const ChannelSlopes<Real>&, Real* dx)

KELVIN_FOR_EACH_ISA(KELVIN_CHANNELS(float))
KELVIN_FOR_EACH_ISA(KELVIN_CHANNELS(double))
KELVIN_CHANNELS(float);
KELVIN_CHANNELS(double);

}  // namespace kelvin
