// SPDX-License-Identifier: Apache-2.0
// A layer that is a list of others, such as a whole architecture: its plan has the list as branch 0.
#pragma once
#include <algorithm>

#include "kelvin/function/stack.h"

namespace kelvin {

// The list may hold what layers in a run file are written as: "dense 16", or groups.
template <Value (*layers)(const Choice&, const Shape& input)>
LayerPlan expanded_plan(const Choice& numbers, const Shape& input) {
  LayerPlan plan{.numbers = numbers, .input = input, .output = input};
  plan.branches.push_back(plan_layers(layers(numbers, input), input));
  plan.output = output_of(plan.branches[0], input);
  return plan;
}

template <class Real>
class Expanded final : public Layer<Real> {
 public:
  explicit Expanded(const LayerPlan& plan) : stack_(plan.branches[0], plan.input) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>& of) override {
    std::copy_n(stack_.forward(w, pass.rows, pass.x, of), pass.rows * stack_.outputs(), pass.y);
  }
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    std::copy_n(pass.dy, pass.rows * stack_.outputs(), stack_.output_slopes());
    stack_.backward(w, slopes, pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<Expanded>(*this); }

 private:
  Stack<Real> stack_;
};

// A row of the table of layers; what follows `meaning` begins with its sample.
#define KELVIN_ARCHITECTURE_ROW(NAME, parameters, layers, meaning, ...) \
  KELVIN_LAYER_ROW(NAME, Expanded, parameters, false, expanded_plan<layers>, meaning, __VA_ARGS__, false, false, layers)

}  // namespace kelvin
