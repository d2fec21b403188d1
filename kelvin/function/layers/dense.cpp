// SPDX-License-Identifier: Apache-2.0
// y = W x + b, W of units x inputs; of a sequence, each step by itself.
#include "kelvin/function/affine.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

constexpr Parameter dense_parameters[] = {
    {"units", "", "number of outputs"},
    {"bias", "1", "0 leaves out b"},
};

LayerPlan dense_plan(const Choice& numbers, const Shape& input) {
  if (input.rank() > 2)
    throw Error(
        "layer \"dense\" takes a list of numbers or a sequence, but what comes before it is {}; flatten it first",
        input.text());
  const std::size_t steps = steps_of(input), in = input.size() / steps, out = whole_number(numbers, "units");
  if (double(in) * double(out) > 2147483648.0)
    throw Error("layer \"dense\" from {} to {} has more than 2^31 weights; use a smaller one", in, out);
  LayerPlan plan{.numbers = numbers,
                 .input = input,
                 .output = input.rank() == 2 ? Shape{steps, out} : Shape{out},
                 .multiply_adds = double(steps) * double(in) * double(out)};
  plan.blocks.push_back({.name = "weight", .shape = {out, in}, .role = Role::weight, .fan_in = in, .fan_out = out});
  if (is_set(numbers, "bias"))
    plan.blocks.push_back({.name = "bias", .shape = {out}, .role = Role::bias, .fan_in = in, .fan_out = out});
  return plan;
}

template <class Real>
class DenseLayer final : public Layer<Real> {
 public:
  explicit DenseLayer(const LayerPlan& plan)
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
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<DenseLayer>(*this); }

 private:
  std::size_t steps_;
  Affine<Real> affine_;
  bool biased_;
};

}  // namespace

KELVIN_LAYER_ROW(dense, DenseLayer, dense_parameters, true, dense_plan,
                 "fully connected: y = W x + b, at each step of a sequence",
                 {{3}, "['dense 4', 'tanh', 'dense 2 bias 0']"})

}  // namespace kelvin
