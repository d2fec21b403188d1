// SPDX-License-Identifier: Apache-2.0
// A learned step before the first one of a sequence, where a transformer can gather what it says of the whole.
#include <algorithm>

#include "kelvin/function/affine.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

LayerPlan class_token_plan(const Choice& numbers, const Shape& input) {
  const auto [steps, width] = sequence_given(numbers, input);
  LayerPlan plan{.numbers = numbers, .input = input, .output = {steps + 1, width}};
  plan.blocks.push_back({.name = "token", .shape = {width}, .role = Role::embedding, .fan_in = width, .fan_out = 1});
  return plan;
}

template <class Real>
class ClassToken final : public Layer<Real> {
 public:
  explicit ClassToken(const LayerPlan& plan) : size_(plan.input.size()), width_(plan.input[1]), sums_(width_) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    for (std::size_t i = 0; i < pass.rows; ++i) {
      Real* y = pass.y + i * (size_ + width_);
      std::copy_n(w[0], width_, y);
      std::copy_n(pass.x + i * size_, size_, y + width_);
    }
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    std::ranges::fill(sums_, Real(0));
    for (std::size_t i = 0; i < pass.rows; ++i) {
      const Real* dy = pass.dy + i * (size_ + width_);
      for (std::size_t k = 0; k < width_; ++k) sums_[k] += dy[k];
      if (pass.dx) std::copy_n(dy + width_, size_, pass.dx + i * size_);
    }
    write_slopes<Real>(sums_, slopes, 0);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<ClassToken>(*this); }

 private:
  std::size_t size_, width_;
  std::vector<Real> sums_;
};

}  // namespace

KELVIN_LAYER_ROW(class_token, ClassToken, {}, true, class_token_plan,
                 "a learned step before the first one of a sequence",
                 {{4, 3}, "['dense 3', 'class_token', 'rnn 4', 'last_step', 'dense 2']"})

}  // namespace kelvin
