// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/channels.h"

namespace kelvin {

#define KELVIN_CHANNELS_BEST(Real)                                                                                \
  void channel_sums(const ChannelRows& rows, const Real* x, double* sums) {                                       \
    KELVIN_RETURN_BEST(channel_sums(rows, x, sums));                                                              \
  }                                                                                                               \
  void channel_squares(const ChannelRows& rows, const Real* x, const Real* mean, double* sums) {                  \
    KELVIN_RETURN_BEST(channel_squares(rows, x, mean, sums));                                                     \
  }                                                                                                               \
  void channel_cut(const ChannelRows& rows, const Real* y, const Real* threshold, Real* dy, double* sums) {       \
    KELVIN_RETURN_BEST(channel_cut(rows, y, threshold, dy, sums));                                                \
  }                                                                                                               \
  void channel_statistics(const ChannelRows& rows, const Real* x, double* sums, double* squares) {                \
    KELVIN_RETURN_BEST(channel_statistics(rows, x, sums, squares));                                               \
  }                                                                                                               \
  void channel_slope_sums(const ChannelRows& rows, const ChannelCut<Real>& cut, double* sums, double* products) { \
    KELVIN_RETURN_BEST(channel_slope_sums(rows, cut, sums, products));                                            \
  }                                                                                                               \
  void channel_map(const ChannelRows& rows, const Real* x, const ChannelMap<Real>& map, Real* y) {                \
    KELVIN_RETURN_BEST(channel_map(rows, x, map, y));                                                             \
  }                                                                                                               \
  void channel_slopes(const ChannelRows& rows, const Real* dy, const Real* x, const ChannelSlopes<Real>& by,      \
                      Real* dx) {                                                                                 \
    KELVIN_RETURN_BEST(channel_slopes(rows, dy, x, by, dx));                                                      \
  }
KELVIN_CHANNELS_BEST(float)
KELVIN_CHANNELS_BEST(double)

}  // namespace kelvin
