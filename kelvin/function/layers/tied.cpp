// SPDX-License-Identifier: Apache-2.0
// y = E x + b at each step, E being the weight of the embedding before it: one number for each word.
#include "kelvin/function/affine.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

constexpr Parameter tied_parameters[] = {{"bias", "1", "0 leaves out b"}};

LayerPlan tied_plan(const Choice& numbers, const Shape&) {
  throw Error(
      "{}{}layer \"tied\" shares the weight of an \"embedding\", but none stands before it in its list; add one, or "
      "use "
      "\"dense\"",
      numbers.where, numbers.where.empty() ? "" : ": ");
}

LayerPlan tied_to(const Choice& numbers, const Shape& input, const LayerPlan& embedding) {
  const Block& weight = embedding.blocks.front();
  const std::size_t steps = steps_of(input), in = input.size() / steps, words = weight.shape[0];
  if (input.rank() > 2 || in != weight.shape[1])
    throw Error(
        "layer \"tied\" takes steps of {} numbers, as many as the embedding has, but what comes before it is {}; "
        "add \"dense {}\" before it",
        weight.shape[1], input.text(), weight.shape[1]);
  LayerPlan plan{.numbers = numbers,
                 .input = input,
                 .output = input.rank() == 2 ? Shape{steps, words} : Shape{words},
                 .multiply_adds = double(steps) * double(weight.size())};
  plan.blocks.push_back(weight);
  if (is_set(numbers, "bias"))
    plan.blocks.push_back({.name = "bias", .shape = {words}, .role = Role::bias, .fan_in = in, .fan_out = words});
  return plan;
}

template <class Real>
class TiedLayer final : public Layer<Real> {
 public:
  explicit TiedLayer(const LayerPlan& plan)
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
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<TiedLayer>(*this); }

 private:
  std::size_t steps_;
  Affine<Real> affine_;
  bool biased_;
};

}  // namespace

KELVIN_LAYER_ROW(tied, TiedLayer, tied_parameters, true, tied_plan,
                 "fully connected, with the weight of the embedding: a number for each word",
                 {{5}, "['embedding 4 3', 'rnn 3', 'tied', 'mean_over_steps', 'dense 2']", 4}, false, false, nullptr,
                 tied_to, "embedding")

}  // namespace kelvin
