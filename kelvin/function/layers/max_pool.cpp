// SPDX-License-Identifier: Apache-2.0
// y = the largest number of a window, for each channel; its slope goes to the first of the largest.
#include <algorithm>

#include "kelvin/function/pooling.h"

namespace kelvin {
namespace {

LayerPlan max_pool_plan(const Choice& layer, const Shape& input) {
  LayerPlan plan = pooling_plan(layer, input);
  plan.takes_relu = plan.monotone = true;
  return plan;
}

template <class Real>
class MaxPoolLayer final : public Layer<Real> {
 public:
  explicit MaxPoolLayer(const LayerPlan& plan) : plan_(pooling_of(plan.numbers, plan.input)), relu_(plan.relu) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>&) override {
    first_.resize(std::max(first_.size(), pass.rows * plan_.y.size()));
    pool_largest(loops(pass.rows), pass.x, pass.y, first_.data());
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    if (!loops(pass.rows).cover()) std::fill_n(pass.dx, pass.rows * plan_.x.size(), Real(0));
    pool_largest_back(loops(pass.rows), pass.dy, first_.data(), pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<MaxPoolLayer>(*this); }

 private:
  PoolingLoops loops(std::size_t rows) const {
    PoolingLoops out = loops_of(plan_, rows);
    out.relu = relu_;
    return out;
  }

  PoolingPlan plan_;
  bool relu_;
  LargeArray<Real> first_;  // which place of its window each output is from
};

}  // namespace

KELVIN_LAYER_ROW(max_pool, MaxPoolLayer, pooling_parameters, false, max_pool_plan,
                 "the largest number of each window, channel by channel",
                 {{3, 5, 4}, "['conv 2 3', 'tanh', 'max_pool 3x2 stride 1 padding 1', 'flatten', 'dense 2']"})

}  // namespace kelvin
