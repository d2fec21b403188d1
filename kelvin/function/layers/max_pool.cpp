// SPDX-License-Identifier: Apache-2.0
// y = the largest number of a window, for each channel; its slope goes to the first of the largest.
#include <algorithm>
#include <cmath>

#include "kelvin/function/pooling.h"

namespace kelvin {
namespace {

template <class Real>
class MaxPoolLayer final : public Layer<Real> {
 public:
  explicit MaxPoolLayer(const LayerPlan& plan) : plan_(pooling_of(plan.numbers, plan.input)) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    const std::size_t channels = plan_.x.channels;
    first_.resize(std::max(first_.size(), pass.rows * plan_.y.size()));
    for_each_window(plan_, pass.rows, [&](std::size_t to, std::size_t count, const std::size_t* pixels) {
      Real* y = pass.y + to * channels;
      std::uint32_t* first = first_.data() + to * channels;
      std::copy_n(pass.x + pixels[0] * channels, channels, y);
      std::fill_n(first, channels, std::uint32_t(0));
      for (std::size_t k = 1; k < count; ++k) {
        const Real* x = pass.x + pixels[k] * channels;
        for (std::size_t c = 0; c < channels; ++c)
          if (x[c] > y[c] || std::isnan(x[c])) {
            y[c] = x[c];
            first[c] = std::uint32_t(k);
          }
      }
    });
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    const std::size_t channels = plan_.x.channels;
    std::fill_n(pass.dx, pass.rows * plan_.x.size(), Real(0));
    for_each_window(plan_, pass.rows, [&](std::size_t from, std::size_t, const std::size_t* pixels) {
      const Real* dy = pass.dy + from * channels;
      const std::uint32_t* first = first_.data() + from * channels;
      for (std::size_t c = 0; c < channels; ++c) pass.dx[pixels[first[c]] * channels + c] += dy[c];
    });
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<MaxPoolLayer>(*this); }

 private:
  PoolingPlan plan_;
  LargeArray<std::uint32_t> first_;  // which pixel of its window each output is
};

}  // namespace

KELVIN_LAYER_ROW(max_pool, MaxPoolLayer, pooling_parameters, false, pooling_plan,
                 "the largest number of each window, channel by channel",
                 {{3, 5, 4}, "['conv 2 3', 'tanh', 'max_pool 3x2 stride 1 padding 1', 'flatten', 'dense 2']"})

}  // namespace kelvin
