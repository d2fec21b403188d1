// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/pooling.h"

namespace kelvin {

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
  if (size[0] * size[1] > most_pooled_pixels)
    throw layer_error(layer, "has windows of {} x {} pixels, more than {}; use \"global_pool\" or a smaller size",
                      size[0], size[1], most_pooled_pixels);
  plan.y = windowed(layer, plan.x, plan.windows, plan.x.channels);
  return plan;
}

LayerPlan pooling_plan(const Choice& layer, const Shape& input) {
  return {.numbers = layer, .input = input, .output = pooling_of(layer, input).y.shape()};
}

}  // namespace kelvin
