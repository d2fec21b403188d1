// SPDX-License-Identifier: Apache-2.0
// y[c] = mean over all pixels of x[c].
#include <algorithm>

#include "kelvin/function/images.h"

namespace kelvin {
namespace {

LayerPlan global_pool_plan(const Choice& numbers, const Shape& input) {
  return {.numbers = numbers, .input = input, .output = {image_before(numbers, input).channels}};
}

template <class Real>
class GlobalPoolLayer final : public Layer<Real> {
 public:
  explicit GlobalPoolLayer(const LayerPlan& plan) : x_(pixels_of(plan.input)) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    for (std::size_t row = 0; row < pass.rows; ++row) {
      Real* y = pass.y + row * x_.channels;
      std::fill_n(y, x_.channels, Real(0));
      for (std::size_t p = 0; p < x_.count; ++p)
        for (std::size_t c = 0; c < x_.channels; ++c) y[c] += pass.x[(row * x_.count + p) * x_.channels + c];
      for (std::size_t c = 0; c < x_.channels; ++c) y[c] /= Real(x_.count);
    }
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    for (std::size_t i = 0; i < pass.rows * x_.count; ++i)
      for (std::size_t c = 0; c < x_.channels; ++c)
        pass.dx[i * x_.channels + c] = pass.dy[i / x_.count * x_.channels + c] / Real(x_.count);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<GlobalPoolLayer>(*this); }

 private:
  Pixels x_;
};

}  // namespace

KELVIN_LAYER_ROW(global_pool, GlobalPoolLayer, {}, false, global_pool_plan,
                 "the mean over all pixels, channel by channel: an image becomes a list",
                 {{3, 5, 3}, "['conv 3 5', 'tanh', 'global_pool', 'dense 2']"})

}  // namespace kelvin
