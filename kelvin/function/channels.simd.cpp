// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/channels.h"

#include "kelvin/core/lanes.h"

namespace kelvin::KELVIN_ISA {
namespace {

constexpr std::size_t channels_at_once = 64, pixels_in_a_run = 32;

// sums[k] = sum over the pixels of term(place, channel)
template <class Real, class Term>
KELVIN_INLINE void sum_over_pixels(const ChannelRows& rows, double* __restrict sums, Term&& term) {
  for (std::size_t first = 0; first < rows.channels; first += channels_at_once) {
    const std::size_t left = rows.channels - first, count = left < channels_at_once ? left : channels_at_once;
    for (std::size_t k = 0; k < count; ++k) sums[first + k] = 0;
    for (std::size_t begin = 0; begin < rows.pixels; begin += pixels_in_a_run) {
      const std::size_t end = rows.pixels - begin < pixels_in_a_run ? rows.pixels : begin + pixels_in_a_run;
      Real run[channels_at_once] = {};
      for (std::size_t i = begin; i < end; ++i)
        for (std::size_t k = 0; k < count; ++k) run[k] += term(i * rows.stride + first + k, first + k);
      for (std::size_t k = 0; k < count; ++k) sums[first + k] += double(run[k]);
    }
  }
}

template <class Real>
KELVIN_INLINE void cut_(const ChannelRows& rows, const Real* __restrict y, const Real* __restrict threshold,
                        Real* __restrict dy, double* sums) {
  sum_over_pixels<Real>(rows, sums, [&](std::size_t at, std::size_t k) {
    const Real slope = dy[at];
    const bool cut = y[at] <= threshold[k];
    dy[at] = cut ? Real(0) : slope;
    return cut ? slope : Real(0);
  });
}

template <class Real>
KELVIN_INLINE void map_(const ChannelRows& rows, const Real* __restrict x, const ChannelMap<Real>& map,
                        Real* __restrict y) {
  const Real *mean = map.mean, *scale = map.scale, *bias = map.bias, *threshold = map.threshold;
  for (std::size_t i = 0; i < rows.pixels; ++i) {
    const Real* from = x + i * rows.stride;
    Real* to = y + i * rows.stride;
    if (!threshold) {
      for (std::size_t k = 0; k < rows.channels; ++k) to[k] = (from[k] - mean[k]) * scale[k] + bias[k];
    } else {
      for (std::size_t k = 0; k < rows.channels; ++k) {
        const Real value = (from[k] - mean[k]) * scale[k] + bias[k];
        to[k] = value < threshold[k] ? threshold[k] : value;
      }
    }
  }
}

template <class Real>
KELVIN_INLINE void slopes_(const ChannelRows& rows, const Real* __restrict dy, const Real* __restrict x,
                           const ChannelSlopes<Real>& by, Real* __restrict dx) {
  const Real *mean = by.mean, *scale = by.scale, *offset = by.offset, *along = by.along;
  for (std::size_t i = 0; i < rows.pixels; ++i) {
    const std::size_t at = i * rows.stride;
    for (std::size_t k = 0; k < rows.channels; ++k)
      dx[at + k] = scale[k] * dy[at + k] - offset[k] - (x[at + k] - mean[k]) * along[k];
  }
}

}  // namespace

#define KELVIN_DEFINE_CHANNELS(Real)                                                                              \
  void channel_sums(const ChannelRows& rows, const Real* x, double* sums) {                                       \
    sum_over_pixels<Real>(rows, sums, [&](std::size_t at, std::size_t) { return x[at]; });                        \
  }                                                                                                               \
  void channel_squares(const ChannelRows& rows, const Real* x, const Real* mean, double* sums) {                  \
    sum_over_pixels<Real>(rows, sums,                                                                             \
                          [&](std::size_t at, std::size_t k) { return (x[at] - mean[k]) * (x[at] - mean[k]); });  \
  }                                                                                                               \
  void channel_cut(const ChannelRows& rows, const Real* y, const Real* threshold, Real* dy, double* sums) {       \
    cut_(rows, y, threshold, dy, sums);                                                                           \
  }                                                                                                               \
  void channel_products(const ChannelRows& rows, const Real* dy, const Real* x, const Real* mean, double* sums) { \
    sum_over_pixels<Real>(rows, sums, [&](std::size_t at, std::size_t k) { return dy[at] * (x[at] - mean[k]); }); \
  }                                                                                                               \
  void channel_map(const ChannelRows& rows, const Real* x, const ChannelMap<Real>& map, Real* y) {                \
    map_(rows, x, map, y);                                                                                        \
  }                                                                                                               \
  void channel_slopes(const ChannelRows& rows, const Real* dy, const Real* x, const ChannelSlopes<Real>& by,      \
                      Real* dx) {                                                                                 \
    slopes_(rows, dy, x, by, dx);                                                                                 \
  }
KELVIN_DEFINE_CHANNELS(float)
KELVIN_DEFINE_CHANNELS(double)

}  // namespace kelvin::KELVIN_ISA
