// SPDX-License-Identifier: Apache-2.0
// The mean over the steps of a sequence: steps x numbers to numbers.
#include <algorithm>

#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

LayerPlan mean_over_steps_plan(const Choice& numbers, const Shape& input) {
  return {.numbers = numbers, .input = input, .output = {sequence_given(numbers, input).numbers}};
}

template <class Real>
class MeanOverSteps final : public Layer<Real> {
 public:
  explicit MeanOverSteps(const LayerPlan& plan) : steps_(plan.input[0]), width_(plan.input[1]) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    const Real share = Real(1) / Real(steps_);
    for (std::size_t i = 0; i < pass.rows; ++i) {
      Real* y = pass.y + i * width_;
      std::fill_n(y, width_, Real(0));
      for (std::size_t t = 0; t < steps_; ++t)
        for (std::size_t k = 0; k < width_; ++k) y[k] += pass.x[(i * steps_ + t) * width_ + k];
      for (std::size_t k = 0; k < width_; ++k) y[k] *= share;
    }
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    const Real share = Real(1) / Real(steps_);
    for (std::size_t at = 0; at < pass.rows * steps_; ++at)
      for (std::size_t k = 0; k < width_; ++k) pass.dx[at * width_ + k] = share * pass.dy[at / steps_ * width_ + k];
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<MeanOverSteps>(*this); }

 private:
  std::size_t steps_, width_;
};

}  // namespace

KELVIN_LAYER_ROW(mean_over_steps, MeanOverSteps, {}, false, mean_over_steps_plan,
                 "the mean over the steps of a sequence: numbers",
                 {{5, 3}, "['dense 4', 'tanh', 'mean_over_steps', 'dense 2']"})

}  // namespace kelvin
