// SPDX-License-Identifier: Apache-2.0
// A list of numbers in PyTorch's order (channel, height, width) as an image.
#include "kelvin/function/image_order.h"

namespace kelvin {
namespace {

constexpr Parameter reshape_parameters[] = {
    {"channels", "", "of the image"},
    {"size", "", "of the image: 7, or height x width as in \"7x5\""},
};

LayerPlan reshape_plan(const Choice& numbers, const Shape& input) {
  const auto [height, width] = height_and_width(numbers, "size");
  const ImageShape image{whole_number(numbers, "channels"), height, width};
  if (input.rank() != 1 || input.size() != image.size())
    throw layer_error(numbers, "makes images of {}, but what comes before it is {}; make it a list of {} numbers",
                      image.shape().text(), input.text(), image.size());
  return {.numbers = numbers, .input = input, .output = image.shape()};
}

template <class Real>
class ReshapeLayer final : public Layer<Real> {
 public:
  explicit ReshapeLayer(const LayerPlan& plan) : y_(pixels_of(plan.output)) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    channels_last(y_, pass.rows, pass.x, pass.y);
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (pass.dx) channels_first(y_, pass.rows, pass.dy, pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<ReshapeLayer>(*this); }

 private:
  Pixels y_;
};

}  // namespace

KELVIN_LAYER_ROW(reshape, ReshapeLayer, reshape_parameters, false, reshape_plan,
                 "a list of numbers as an image: \"reshape 16 7x5\" takes 560 numbers, channel by channel",
                 {{3}, "['dense 30', 'tanh', 'reshape 3 5x2', 'conv 2 3', 'flatten', 'dense 2']"})

}  // namespace kelvin
