// SPDX-License-Identifier: Apache-2.0
// y[c, v, h] = x[c, v / factor, h / factor], rounded down: the nearest pixel.
#include <algorithm>

#include "kelvin/function/images.h"

namespace kelvin {
namespace {

constexpr Parameter upsample_parameters[] = {
    {"factor", "2", "how many times each pixel stands: 2, or down x along as in \"2x3\""},
};

ImageShape enlarged(const Choice& numbers, const ImageShape& x) {
  const auto [down, along] = height_and_width(numbers, "factor");
  return {x.channels, x.height * down, x.width * along};
}

LayerPlan upsample_plan(const Choice& numbers, const Shape& input) {
  return {.numbers = numbers, .input = input, .output = enlarged(numbers, image_before(numbers, input)).shape()};
}

template <class Real>
class UpsampleLayer final : public Layer<Real> {
 public:
  explicit UpsampleLayer(const LayerPlan& plan)
      : x_(image_before(plan.numbers, plan.input)), y_(enlarged(plan.numbers, x_)) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    for_each_pixel(pass.rows, [&](std::size_t from, std::size_t to) {
      std::copy_n(pass.x + from * x_.channels, x_.channels, pass.y + to * x_.channels);
    });
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    std::fill_n(pass.dx, pass.rows * x_.size(), Real(0));
    for_each_pixel(pass.rows, [&](std::size_t to, std::size_t from) {
      for (std::size_t c = 0; c < x_.channels; ++c) pass.dx[to * x_.channels + c] += pass.dy[from * x_.channels + c];
    });
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<UpsampleLayer>(*this); }

 private:
  // Calls each(pixel of x, pixel of y) for each pixel of y.
  template <class Each>
  void for_each_pixel(std::size_t rows, Each&& each) const {
    const std::size_t down = y_.height / x_.height, along = y_.width / x_.width;
    for (std::size_t line = 0; line < rows * y_.height; ++line)
      for (std::size_t h = 0; h < y_.width; ++h) each(line / down * x_.width + h / along, line * y_.width + h);
  }
  ImageShape x_, y_;
};

}  // namespace

KELVIN_LAYER_ROW(upsample, UpsampleLayer, upsample_parameters, false, upsample_plan,
                 "each pixel several times in both directions: a larger image",
                 {{3, 2, 3}, "['conv 2 3', 'tanh', 'upsample 2x3', 'conv 2 2', 'flatten', 'dense 2']"})

}  // namespace kelvin
