// SPDX-License-Identifier: Apache-2.0
// Several lists of layers on the same inputs, their outputs next to each other: the channels of images, else numbers.
#include <algorithm>

#include "kelvin/function/images.h"
#include "kelvin/function/stack.h"

namespace kelvin {
namespace {

constexpr Parameter concatenate_parameters[] = {
    {"branches", "", "lists of layers; an empty one stands for the inputs themselves"},
};

Shape with_channels(const Shape& shape, std::size_t channels) {
  if (shape.rank() == 3) return {channels, shape[1], shape[2]};
  if (shape.rank() == 2) return {shape[0], channels};
  return {channels};
}

LayerPlan concatenate_plan(const Choice& numbers, const Shape& input) {
  std::vector<Value> lists;
  if (const auto given = numbers.values.find("branches"); given != numbers.values.end())
    assign(lists, given->second, "branches");
  if (lists.empty())
    throw layer_error(numbers, "needs its branches; write {{ concatenate = [[\"dense 3\"], [\"dense 4\"]] }}");
  LayerPlan plan{.numbers = numbers, .input = input, .output = {}};
  std::size_t channels = 0;
  for (const Value& list : lists) {
    plan.branches.push_back(plan_layers(list, input, fmt::format("{}.", plan.branches.size())));
    const Shape one = output_of(plan.branches.back(), input), first = output_of(plan.branches.front(), input);
    if (one.rank() != first.rank() || with_channels(one, 1) != with_channels(first, 1))
      throw layer_error(numbers, "puts {} next to {}, which differ in more than their channels; make the rest equal",
                        one.text(), first.text());
    channels += pixels_of(one).channels;
    plan.output = with_channels(one, channels);
  }
  return plan;
}

template <class Real>
class ConcatenateLayer final : public Layer<Real> {
 public:
  explicit ConcatenateLayer(const LayerPlan& plan) : in_(plan.input.size()), y_(pixels_of(plan.output)) {
    for (const auto& branch : plan.branches) {
      branches_.push_back({.stack = Stack<Real>(branch, plan.input),
                           .first_block = blocks_,
                           .channels = pixels_of(output_of(branch, plan.input)).channels});
      blocks_ += branches_.back().stack.blocks();
    }
  }

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>& how) override {
    std::size_t first = 0;
    for (Branch& branch : branches_) {
      const Real* out = with_blocks(how, branch.first_block, branch.stack.blocks(), [&](const Pass<Real>& own) {
        return branch.stack.forward(weights_from(w, branch.first_block), pass.rows, pass.x, own);
      });
      for (std::size_t p = 0; p < pass.rows * y_.count; ++p)
        std::copy_n(out + p * branch.channels, branch.channels, pass.y + p * y_.channels + first);
      first += branch.channels;
    }
  }

  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    if (pass.dx) {
      of_one_.resize(std::max(of_one_.size(), pass.rows * in_));
      std::fill_n(pass.dx, pass.rows * in_, Real(0));
    }
    std::size_t first = 0;
    for (Branch& branch : branches_) {
      Real* to = branch.stack.output_slopes();
      for (std::size_t p = 0; p < pass.rows * y_.count; ++p)
        std::copy_n(pass.dy + p * y_.channels + first, branch.channels, to + p * branch.channels);
      branch.stack.backward(weights_from(w, branch.first_block),
                            slopes_from(slopes, branch.first_block, branch.stack.blocks()),
                            pass.dx ? of_one_.data() : nullptr);
      for (std::size_t k = 0; pass.dx && k < pass.rows * in_; ++k) pass.dx[k] += of_one_[k];
      first += branch.channels;
    }
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<ConcatenateLayer>(*this); }

 private:
  struct Branch {
    Stack<Real> stack;
    std::size_t first_block, channels;
  };
  std::size_t in_, blocks_ = 0;
  Pixels y_;
  std::vector<Branch> branches_;
  LargeArray<Real> of_one_;  // dL/dx through one branch
};

}  // namespace

KELVIN_LAYER_ROW(concatenate, ConcatenateLayer, concatenate_parameters, false, concatenate_plan,
                 "outputs of several lists of layers next to each other: { concatenate = [[\"dense 3\"], [\"dense 4\", "
                 "\"relu\"]] }",
                 {{3, 3, 4},
                  "[{ concatenate = [['conv 1 2', 'tanh'], ['conv 3 3 padding same', 'batch_norm'], []] }, 'tanh', "
                  "'flatten', 'dense 2']"})

}  // namespace kelvin
