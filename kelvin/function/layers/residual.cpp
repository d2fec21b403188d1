// SPDX-License-Identifier: Apache-2.0
// y = f(x) + s(x): layers, and a shortcut past them.
#include <algorithm>

#include "kelvin/function/additions.h"
#include "kelvin/function/images.h"
#include "kelvin/function/stack.h"

namespace kelvin {
namespace {

constexpr Parameter residual_parameters[] = {
    {"layers", "", "f, a list of layers"},
    {"shortcut", "[]", "s, a list of layers; empty: x itself"},
};

LayerPlan residual_plan(const Choice& numbers, const Shape& input) {
  LayerPlan plan{.numbers = numbers, .input = input, .output = input, .takes_relu = true};
  for (const char* name : {"layers", "shortcut"}) {
    const auto list = numbers.values.find(name);
    if (list == numbers.values.end())
      throw layer_error(numbers, "needs its layers; write {{ residual = [\"dense 16\", \"relu\"] }}");
    plan.branches.push_back(plan_layers(list->second, input, fmt::format("{}.", name)));
  }
  plan.output = output_of(plan.branches[0], input);
  if (const Shape& past = output_of(plan.branches[1], input); past != plan.output)
    throw layer_error(numbers,
                      "adds {} of its layers to {} of its shortcut; make them equal, for images by a shortcut "
                      "such as [\"conv 1 16 stride 2\"]",
                      plan.output.text(), past.text());
  return plan;
}

template <class Real>
class ResidualLayer final : public Layer<Real> {
 public:
  explicit ResidualLayer(const LayerPlan& plan)
      : in_(plan.input.size()),
        out_(plan.output.size()),
        identity_(plan.branches[1].empty()),
        relu_(plan.relu),
        layers_(plan.branches[0], plan.input),
        shortcut_(plan.branches[1], plan.input) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>& how) override {
    const Real* f = with_blocks(how, 0, layers_.blocks(),
                                [&](const Pass<Real>& own) { return layers_.forward(w, pass.rows, pass.x, own); });
    const Real* s = with_blocks(how, layers_.blocks(), shortcut_.blocks(), [&](const Pass<Real>& own) {
      return shortcut_.forward(weights_from(w, layers_.blocks()), pass.rows, pass.x, own);
    });
    put_sum(pass.rows * out_, f, s, relu_, pass.y);
  }

  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    if (relu_) cut_and_copy(pass.rows * out_, pass.y, pass.dy, layers_.output_slopes());
    else std::copy_n(pass.dy, pass.rows * out_, layers_.output_slopes());
    layers_.backward(w, slopes_from(slopes, 0, layers_.blocks()), pass.dx);
    if (!identity_) back_through_shortcut(w, pass, slopes);
    if (pass.dx) add_numbers(pass.rows * in_, identity_ ? pass.dy : past_.data(), pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<ResidualLayer>(*this); }

 private:
  void back_through_shortcut(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) {
    if (pass.dx) past_.resize(std::max(past_.size(), pass.rows * in_));
    std::copy_n(pass.dy, pass.rows * out_, shortcut_.output_slopes());
    shortcut_.backward(weights_from(w, layers_.blocks()), slopes_from(slopes, layers_.blocks(), shortcut_.blocks()),
                       pass.dx ? past_.data() : nullptr);
  }

  std::size_t in_, out_;
  bool identity_, relu_;
  Stack<Real> layers_, shortcut_;
  LargeArray<Real> past_;  // dL/dx through the shortcut
};

}  // namespace

KELVIN_LAYER_ROW(
    residual, ResidualLayer, residual_parameters, false, residual_plan,
    "the sum of some layers and a shortcut past them: { residual = [\"dense 16\", \"relu\", \"dense 8\"] }",
    {{3, 4, 3},
     "[{ residual = ['conv 3 3 padding same', 'tanh'] }, "
     "{ residual = ['conv 3 4 stride 2 padding 1', 'batch_norm'], shortcut = ['conv 1 4 stride 2'] }, "
     "'tanh', 'flatten', 'dense 2']"})

}  // namespace kelvin
