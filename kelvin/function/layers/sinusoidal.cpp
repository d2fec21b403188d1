// SPDX-License-Identifier: Apache-2.0
// y = x + s, where s(t, 2k) = sin(t / 10000^(2k / d)) and s(t, 2k + 1) = cos(t / 10000^(2k / d)).
#include <cmath>

#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

LayerPlan sinusoidal_plan(const Choice& numbers, const Shape& input) {
  sequence_given(numbers, input);
  return {.numbers = numbers, .input = input, .output = input};
}

template <class Real>
class SinusoidalLayer final : public Layer<Real> {
 public:
  explicit SinusoidalLayer(const LayerPlan& plan) : waves_(plan.input.size()) {
    const std::size_t steps = plan.input[0], width = plan.input[1];
    for (std::size_t t = 0; t < steps; ++t)
      for (std::size_t k = 0; k < width; ++k) {
        const double angle = double(t) * std::pow(1e4, -double(k / 2 * 2) / double(width));
        waves_[t * width + k] = Real(k % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
  }

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    for (std::size_t i = 0; i < pass.rows; ++i)
      for (std::size_t k = 0; k < waves_.size(); ++k)
        pass.y[i * waves_.size() + k] = pass.x[i * waves_.size() + k] + waves_[k];
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (pass.dx) std::copy_n(pass.dy, pass.rows * waves_.size(), pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<SinusoidalLayer>(*this); }

 private:
  std::vector<Real> waves_;
};

}  // namespace

KELVIN_LAYER_ROW(sinusoidal, SinusoidalLayer, {}, false, sinusoidal_plan,
                 "adds waves that tell the steps of a sequence apart, without weights",
                 {{5, 3}, "['dense 3', 'sinusoidal', 'tanh', 'mean_over_steps', 'dense 2']"})

}  // namespace kelvin
