// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/pooling.h"

namespace kelvin {

#define KELVIN_POOLS_BEST(Real)                                                                                     \
  void pool_largest(const PoolingLoops& loops, const Real* x, Real* y, Real* first) {                               \
    KELVIN_RETURN_BEST(pool_largest(loops, x, y, first));                                                           \
  }                                                                                                                 \
  void pool_largest_back(const PoolingLoops& loops, const Real* dy, const Real* first, Real* dx) {                  \
    KELVIN_RETURN_BEST(pool_largest_back(loops, dy, first, dx));                                                    \
  }                                                                                                                 \
  void pool_mean(const PoolingLoops& loops, const Real* x, Real* y) { KELVIN_RETURN_BEST(pool_mean(loops, x, y)); } \
  void pool_mean_back(const PoolingLoops& loops, const Real* dy, Real* dx) {                                        \
    KELVIN_RETURN_BEST(pool_mean_back(loops, dy, dx));                                                              \
  }
KELVIN_POOLS_BEST(float)
KELVIN_POOLS_BEST(double)

PoolingPlan pooling_of(const Choice& layer, const Shape& input) {
  PoolingPlan plan{.x = image_before(layer, input), .y = {}, .windows = {}};
  const auto size = height_and_width(layer, "size"), stride = height_and_width(layer, "stride", 0);
  const auto padding = height_and_width(layer, "padding", 0);
  for (std::size_t k = 0; k < 2; ++k) {
    if (2 * padding[k] > size[k])
      throw layer_error(layer, "has a padding of {} around windows of {}; give at most half a window", padding[k],
                        size[k]);
    plan.windows[k] = {
        .size = size[k], .stride = stride[k] == 0 ? size[k] : stride[k], .before = padding[k], .after = padding[k]};
  }
  plan.y = windowed(layer, plan.x, plan.windows, plan.x.channels);
  return plan;
}

PoolingLoops loops_of(const PoolingPlan& plan, std::size_t rows) {
  const auto axis = [](const Window& window, std::size_t x, std::size_t y) {
    return ConvolutionAxis{
        .x = x, .y = y, .taps = window.size, .stride = window.stride, .dilation = 1, .before = window.before};
  };
  return {.down = axis(plan.windows[0], plan.x.height, plan.y.height),
          .along = axis(plan.windows[1], plan.x.width, plan.y.width),
          .channels = plan.x.channels,
          .rows = rows};
}

LayerPlan pooling_plan(const Choice& layer, const Shape& input) {
  return {.numbers = layer, .input = input, .output = pooling_of(layer, input).y.shape()};
}

}  // namespace kelvin
