// SPDX-License-Identifier: Apache-2.0
// y = W x + b of a list of numbers, or of each step of a sequence: block 0 is W, block 1, if there is one, is b.
#pragma once
#include "kelvin/function/affine.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {

// A plan of such a layer with that weight.
LayerPlan affine_plan(const Choice& numbers, const Shape& input, Block weight);

template <class Real>
class AffineLayer final : public Layer<Real> {
 public:
  explicit AffineLayer(const LayerPlan& plan)
      : steps_(steps_of(plan.input)),
        affine_{plan.input.size() / steps_, plan.output.size() / steps_},
        biased_(plan.blocks.size() > 1) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    affine_.forward(pass.rows * steps_, pass.x, w[0], biased_ ? w[1] : nullptr, pass.y);
  }
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const std::size_t rows = pass.rows * steps_;
    affine_.weight_slopes(rows, pass.x, pass.dy, slopes, 0);
    if (biased_) affine_.bias_slopes(rows, pass.dy, slopes, 1);
    if (pass.dx) affine_.input_slopes(rows, pass.dy, w[0], pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<AffineLayer>(*this); }

 private:
  std::size_t steps_;
  Affine<Real> affine_;
  bool biased_;
};

}  // namespace kelvin
