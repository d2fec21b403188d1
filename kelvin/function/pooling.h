// SPDX-License-Identifier: Apache-2.0
// Windows of an image of which each leaves one pixel.
#pragma once
#include "kelvin/function/images.h"
#include "kelvin/function/pooling_loops.h"

namespace kelvin {

inline constexpr Parameter pooling_parameters[] = {
    {"size", "", "pixels of a window: 2, or height x width as in \"2x3\""},
    {"stride", "0", "pixels from one window to the next; 0: the size, so that windows touch"},
    {"padding", "0", "pixels around the image, at most half a window"},
};

struct PoolingPlan {
  ImageShape x, y;
  Windows windows;
};
PoolingPlan pooling_of(const Choice& layer, const Shape& input);
LayerPlan pooling_plan(const Choice& layer, const Shape& input);

PoolingLoops loops_of(const PoolingPlan&, std::size_t rows);

}  // namespace kelvin
