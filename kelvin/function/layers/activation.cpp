// SPDX-License-Identifier: Apache-2.0
// A function of each number by itself: every row of the table of activations, by its own name.
#include "kelvin/function/activation.h"

#include <algorithm>

#include "kelvin/function/layers.h"

namespace kelvin {
namespace {

constexpr Parameter activation_parameters[] = {{"of", "", "a row of `kelvin list activations`"}};

LayerPlan activation_plan(const Choice& numbers, const Shape& input) {
  return {.numbers = numbers,
          .input = input,
          .output = input,
          .activation = &activation_named(numbers.text("of")),
          .needs_outputs = true};
}

template <class Real>
class ActivationLayer final : public Layer<Real> {
 public:
  explicit ActivationLayer(const LayerPlan& plan) : size_(plan.input.size()), acts_(&plan.activation->on<Real>()) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    const std::size_t n = pass.rows * size_;
    std::copy_n(pass.x, n, pass.y);
    acts_->forward({pass.y, n});
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    const std::size_t n = pass.rows * size_;
    std::copy_n(pass.dy, n, pass.dx);
    acts_->backward({acts_->needs_inputs ? pass.x : pass.y, n}, {pass.dx, n});
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<ActivationLayer>(*this); }

 private:
  std::size_t size_;
  const ActivationOn<Real>* acts_;
};

}  // namespace

KELVIN_LAYER_ROW(activation, ActivationLayer, activation_parameters, false, activation_plan,
                 "a function of each number: written by its own name, such as \"relu\" or \"tanh\"",
                 {{5}, "['tanh', 'dense 2']"})

}  // namespace kelvin
