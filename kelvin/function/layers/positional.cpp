// SPDX-License-Identifier: Apache-2.0
// y = x + W, a learned number for each step and number of a sequence.
#include "kelvin/function/additions.h"
#include "kelvin/function/affine.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

LayerPlan positional_plan(const Choice& numbers, const Shape& input) {
  const auto [steps, width] = sequence_given(numbers, input);
  LayerPlan plan{.numbers = numbers, .input = input, .output = input};
  plan.blocks.push_back({.name = "weight", .shape = input, .role = Role::embedding, .fan_in = width, .fan_out = steps});
  return plan;
}

template <class Real>
class PositionalLayer final : public Layer<Real> {
 public:
  explicit PositionalLayer(const LayerPlan& plan) : size_(plan.input.size()), sums_(size_) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    for (std::size_t i = 0; i < pass.rows; ++i) put_sum(size_, pass.x + i * size_, w[0], false, pass.y + i * size_);
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    if (wants(slopes, 0)) {
      sum_rows(pass.rows, size_, pass.dy, sums_.data());
      write_slopes<Real>(sums_, slopes, 0);
    }
    if (pass.dx) std::copy_n(pass.dy, pass.rows * size_, pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<PositionalLayer>(*this); }

 private:
  std::size_t size_;
  std::vector<Real> sums_;
};

}  // namespace

KELVIN_LAYER_ROW(positional, PositionalLayer, {}, true, positional_plan,
                 "adds learned numbers that tell the steps of a sequence apart",
                 {{5, 3}, "['dense 4', 'positional', 'tanh', 'mean_over_steps', 'dense 2']"})

}  // namespace kelvin
