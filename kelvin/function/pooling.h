// SPDX-License-Identifier: Apache-2.0
// Windows of an image of which each leaves one pixel.
#pragma once
#include "kelvin/function/images.h"

namespace kelvin {

inline constexpr Parameter pooling_parameters[] = {
    {"size", "", "pixels of a window: 2, or height x width as in \"2x3\""},
    {"stride", "0", "pixels from one window to the next; 0: the size, so that windows touch"},
    {"padding", "0", "pixels around the image, at most half a window"},
};

struct PoolingPlan {
  Image x, y;
  Windows windows;
};
PoolingPlan pooling_of(const Choice& layer, const Shape& input);
LayerPlan pooling_plan(const Choice& layer, const Shape& input);

inline constexpr std::size_t most_pooled_pixels = 4096;  // of a window

// Calls each(pixel of y, how many pixels of x lie in its window, which), for all rows.
template <class Each>
void for_each_window(const PoolingPlan& plan, std::size_t rows, Each&& each) {
  const auto& [down, along] = plan.windows;
  std::size_t pixels[most_pooled_pixels];
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t v = 0; v < plan.y.height; ++v)
      for (std::size_t h = 0; h < plan.y.width; ++h) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < down.size; ++i)
          for (std::size_t j = 0; j < along.size; ++j) {
            const std::size_t line = v * down.stride + i - down.before;  // wraps where it is below 0
            const std::size_t place = h * along.stride + j - along.before;
            if (line >= plan.x.height || place >= plan.x.width) continue;
            pixels[count++] = (row * plan.x.height + line) * plan.x.width + place;
          }
        each((row * plan.y.height + v) * plan.y.width + h, count, pixels);
      }
}

}  // namespace kelvin
