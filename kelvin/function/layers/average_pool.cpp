// SPDX-License-Identifier: Apache-2.0
// y = the mean of a window, for each channel; what lies beyond the image counts as zeros.
#include <algorithm>

#include "kelvin/function/pooling.h"

namespace kelvin {
namespace {

template <class Real>
class AveragePoolLayer final : public Layer<Real> {
 public:
  explicit AveragePoolLayer(const LayerPlan& plan) : plan_(pooling_of(plan.numbers, plan.input)) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    pool_mean(loops_of(plan_, pass.rows), pass.x, pass.y);
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    std::fill_n(pass.dx, pass.rows * plan_.x.size(), Real(0));
    pool_mean_back(loops_of(plan_, pass.rows), pass.dy, pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<AveragePoolLayer>(*this); }

 private:
  PoolingPlan plan_;
};

}  // namespace

KELVIN_LAYER_ROW(average_pool, AveragePoolLayer, pooling_parameters, false, pooling_plan,
                 "the mean of each window, channel by channel; padding counts as zeros",
                 {{3, 5, 4}, "['conv 2 3', 'tanh', 'average_pool 3x2 stride 1 padding 1', 'flatten', 'dense 2']"})

}  // namespace kelvin
