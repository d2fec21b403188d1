// SPDX-License-Identifier: Apache-2.0
// One step of a sequence: steps x numbers to numbers.
#pragma once
#include <algorithm>

#include "kelvin/function/layers/sequence.h"

namespace kelvin {

inline LayerPlan one_step_plan(const Choice& numbers, const Shape& input) {
  return {.numbers = numbers, .input = input, .output = {sequence_given(numbers, input).numbers}};
}

template <class Real, bool last>
class OneStep final : public Layer<Real> {
 public:
  explicit OneStep(const LayerPlan& plan)
      : size_(plan.input.size()), width_(plan.input[1]), at_(last ? size_ - width_ : 0) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    for (std::size_t i = 0; i < pass.rows; ++i) std::copy_n(pass.x + i * size_ + at_, width_, pass.y + i * width_);
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    std::fill_n(pass.dx, pass.rows * size_, Real(0));
    for (std::size_t i = 0; i < pass.rows; ++i) std::copy_n(pass.dy + i * width_, width_, pass.dx + i * size_ + at_);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<OneStep>(*this); }

 private:
  std::size_t size_, width_, at_;
};

}  // namespace kelvin
