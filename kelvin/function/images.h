// SPDX-License-Identifier: Apache-2.0
// What the layers of images have in common: extents, windows that slide over them, how slopes are written.
#pragma once
#include "kelvin/core/error.h"
#include "kelvin/function/layers.h"

namespace kelvin {

struct ImageShape {
  std::size_t channels, height, width;
  std::size_t pixels() const { return height * width; }
  std::size_t size() const { return channels * pixels(); }
  Shape shape() const { return {channels, height, width}; }
};

Error refused_layer(const Choice& layer, const std::string& sentence);
template <class... Values>
Error layer_error(const Choice& layer, fmt::format_string<Values...> sentence, Values&&... values) {
  return refused_layer(layer, fmt::format(sentence, std::forward<Values>(values)...));
}

// What comes before a layer that takes images only.
ImageShape image_before(const Choice& layer, const Shape& input);

// Any input as pixels of channels, which lie together in memory: a list of numbers is one pixel, a step of a sequence
// is one.
struct Pixels {
  std::size_t count, channels;
  std::size_t size() const { return count * channels; }
};
Pixels pixels_of(const Shape&);

// Windows along one direction: window k covers k stride - before + i dilation, i = 0 ... size - 1.
struct Window {
  std::size_t size = 1, stride = 1, dilation = 1;
  std::size_t before = 0, after = 0;  // places beyond the ends that it may cover
  std::size_t extent() const { return dilation * (size - 1) + 1; }
  std::size_t fitting(std::size_t places) const {
    const std::size_t all = before + places + after;
    return all < extent() ? 0 : (all - extent()) / stride + 1;
  }
};
using Windows = std::array<Window, 2>;  // along the height, along the width

// The image of so many channels that the windows leave; an Error if not one of them fits.
ImageShape windowed(const Choice& layer, const ImageShape& input, const Windows&, std::size_t channels);

// g = keep g + share slope, where with keep = 0 nothing is read.
template <class Real>
void put_slope(const Slopes<Real>& to, Real& g, Real slope) {
  g = (to.keep == 0 ? Real(0) : to.keep * g) + to.share * slope;
}

}  // namespace kelvin
