// SPDX-License-Identifier: Apache-2.0
// y = the mean of a window, for each channel; what lies beyond the image counts as zeros.
#include <algorithm>

#include "kelvin/function/pooling.h"

namespace kelvin {
namespace {

template <class Real>
class AveragePoolLayer final : public Layer<Real> {
 public:
  explicit AveragePoolLayer(const LayerPlan& plan)
      : plan_(pooling_of(plan.numbers, plan.input)),
        share_(Real(1) / Real(plan_.windows[0].size * plan_.windows[1].size)) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    const std::size_t channels = plan_.x.channels;
    for_each_window(plan_, pass.rows, [&](std::size_t to, std::size_t count, const std::size_t* pixels) {
      Real* y = pass.y + to * channels;
      std::fill_n(y, channels, Real(0));
      for (std::size_t k = 0; k < count; ++k)
        for (std::size_t c = 0; c < channels; ++c) y[c] += pass.x[pixels[k] * channels + c];
      for (std::size_t c = 0; c < channels; ++c) y[c] *= share_;
    });
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    const std::size_t channels = plan_.x.channels;
    std::fill_n(pass.dx, pass.rows * plan_.x.size(), Real(0));
    for_each_window(plan_, pass.rows, [&](std::size_t from, std::size_t count, const std::size_t* pixels) {
      const Real* dy = pass.dy + from * channels;
      for (std::size_t k = 0; k < count; ++k)
        for (std::size_t c = 0; c < channels; ++c) pass.dx[pixels[k] * channels + c] += share_ * dy[c];
    });
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<AveragePoolLayer>(*this); }

 private:
  PoolingPlan plan_;
  Real share_;
};

}  // namespace

KELVIN_LAYER_ROW(average_pool, AveragePoolLayer, pooling_parameters, false, pooling_plan,
                 "the mean of each window, channel by channel; padding counts as zeros",
                 {{3, 5, 4}, "['conv 2 3', 'tanh', 'average_pool 3x2 stride 1 padding 1', 'flatten', 'dense 2']"})

}  // namespace kelvin
