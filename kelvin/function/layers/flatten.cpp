// SPDX-License-Identifier: Apache-2.0
// The numbers of a row as a list, those of an image in PyTorch's order: channel, height, width.
#include "kelvin/function/image_order.h"

namespace kelvin {
namespace {

LayerPlan flatten_plan(const Choice& numbers, const Shape& input) {
  return {.numbers = numbers, .input = input, .output = {input.size()}};
}

template <class Real>
class FlattenLayer final : public Layer<Real> {
 public:
  explicit FlattenLayer(const LayerPlan& plan) : x_(planes_of(plan.input)) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    channels_first(x_, pass.rows, pass.x, pass.y);
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (pass.dx) channels_last(x_, pass.rows, pass.dy, pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<FlattenLayer>(*this); }

 private:
  Pixels x_;
};

}  // namespace

KELVIN_LAYER_ROW(flatten, FlattenLayer, {}, false, flatten_plan,
                 "an image or a sequence as a list of numbers: channel by channel, or step by step",
                 {{3, 2, 5}, "['flatten', 'dense 3', 'tanh', 'dense 2']"})

}  // namespace kelvin
