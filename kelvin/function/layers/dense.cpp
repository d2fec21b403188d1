// SPDX-License-Identifier: Apache-2.0
// y = W x + b, W of units x inputs.
#include "kelvin/function/gemm.h"
#include "kelvin/function/layers.h"

namespace kelvin {
namespace {

constexpr Parameter dense_parameters[] = {
    {"units", "", "number of outputs"},
    {"bias", "1", "0 leaves out b"},
};

LayerPlan dense_plan(const Choice& numbers, const Shape& input) {
  if (input.rank() != 1)
    throw Error("layer \"dense\" takes a list of numbers, but what comes before it is {}; flatten it first",
                input.text());
  const std::size_t in = input.size(), out = whole_number(numbers, "units");
  if (double(in) * double(out) > 2147483648.0)
    throw Error("layer \"dense\" from {} to {} has more than 2^31 weights; use a smaller one", in, out);
  LayerPlan plan{.numbers = numbers, .input = input, .output = {out}, .multiply_adds = double(in) * double(out)};
  plan.blocks.push_back({.name = "weight", .shape = {out, in}, .role = Role::weight, .fan_in = in, .fan_out = out});
  if (numbers.number("bias") != 0)
    plan.blocks.push_back({.name = "bias", .shape = {out}, .role = Role::bias, .fan_in = in, .fan_out = out});
  return plan;
}

template <class Real>
class DenseLayer final : public Layer<Real> {
 public:
  explicit DenseLayer(const LayerPlan& plan)
      : in_(plan.input.size()), out_(plan.output.size()), biased_(plan.blocks.size() > 1) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    for (std::size_t i = 0; i < pass.rows; ++i)
      for (std::size_t k = 0; k < out_; ++k) pass.y[i * out_ + k] = biased_ ? w[1][k] : Real(0);
    gemm(Real(1), {pass.x, pass.rows, in_, in_}, {w[0], out_, in_, in_, true}, Real(1), pass.y, out_);
  }
  // dW = dy' x, db = sum of dy, dx = dy W
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const auto wants = [&](std::size_t block) { return slopes.wanted.empty() || slopes.wanted[block]; };
    if (wants(0))
      gemm(slopes.share, {pass.dy, pass.rows, out_, out_, true}, {pass.x, pass.rows, in_, in_}, slopes.keep,
           slopes.g[0], in_);
    if (biased_ && wants(1))
      for (std::size_t k = 0; k < out_; ++k) {
        Real sum = 0;
        for (std::size_t i = 0; i < pass.rows; ++i) sum += pass.dy[i * out_ + k];
        slopes.g[1][k] = (slopes.keep == 0 ? Real(0) : slopes.keep * slopes.g[1][k]) + slopes.share * sum;
      }
    if (pass.dx) gemm(Real(1), {pass.dy, pass.rows, out_, out_}, {w[0], out_, in_, in_}, Real(0), pass.dx, in_);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<DenseLayer>(*this); }

 private:
  std::size_t in_, out_;
  bool biased_;
};

}  // namespace

KELVIN_LAYER_ROW(dense, DenseLayer, dense_parameters, true, dense_plan, "fully connected: y = W x + b",
                 {{3}, "['dense 4', 'tanh', 'dense 2 bias 0']"})

}  // namespace kelvin
