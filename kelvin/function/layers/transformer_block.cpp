// SPDX-License-Identifier: Apache-2.0
// Attention A and two fully connected layers F, each added to what it is given, normalised (N) first or last:
//   z = x + A(N(x)), y = z + F(N(z))    or    z = N(x + A(x)), y = N(z + F(z))
// Labels are those of PyTorch's TransformerEncoderLayer.
#include <algorithm>

#include "kelvin/function/activation.h"
#include "kelvin/function/additions.h"
#include "kelvin/function/layers/sequence.h"
#include "kelvin/function/stack.h"

namespace kelvin {
namespace {

constexpr Parameter transformer_block_parameters[] = {
    {"heads", "1", "of the attention"},
    {"units", "", "numbers between the two fully connected layers"},
    {"causal", "0", "1: a step sees itself and those before it only"},
    {"norm", "\"first\"", "what is normalised: \"first\" the inputs of both, or \"last\" both sums"},
    {"activation", "\"relu\"", "a row of `kelvin list activations`"},
};

using Names = std::vector<std::string>;

// Layers whose outputs are added to their inputs, and those that follow, in turn.
std::vector<Names> transformer_block_branches(const Choice& c, std::size_t width) {
  const std::string activation = c.text("activation");
  activation_named(activation);
  Names attention = {fmt::format("self_attn: attention {} {}", whole_number(c, "heads"), int(is_set(c, "causal")))};
  Names forward = {fmt::format("linear1: dense {}", whole_number(c, "units")), activation,
                   fmt::format("linear2: dense {}", width)};
  if (!is_first_word(c, "norm", "first", "last"))
    return {attention, {"norm1: layer_norm"}, forward, {"norm2: layer_norm"}};
  attention.insert(attention.begin(), "norm1: layer_norm");
  forward.insert(forward.begin(), "norm2: layer_norm");
  return {attention, {}, forward, {}};
}

Value transformer_block_layers(const Choice& c, const Shape& input) {
  Names all;
  for (const Names& names : transformer_block_branches(c, sequence_given(c, input).numbers))
    all.insert(all.end(), names.begin(), names.end());
  return Value(all);
}

LayerPlan transformer_block_plan(const Choice& numbers, const Shape& input) {
  const std::size_t width = sequence_given(numbers, input).numbers;
  LayerPlan plan{.numbers = numbers, .input = input, .output = input};
  for (const Names& names : transformer_block_branches(numbers, width))
    plan.branches.push_back(plan_layers(Value(names), input));
  return plan;
}

template <class Real>
class TransformerBlock final : public Layer<Real> {
 public:
  explicit TransformerBlock(const LayerPlan& plan) : size_(plan.input.size()) {
    for (const auto& branch : plan.branches) {
      first_.push_back(first_.empty() ? 0 : first_.back() + stacks_.back().blocks());
      stacks_.emplace_back(branch, plan.input);
    }
    sums_.resize(plan.branches.size() / 2);
  }

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>& of) override {
    const Real* x = pass.x;
    for (std::size_t k = 0; k < stacks_.size(); ++k) {
      const Real* y = stacks_[k].forward(weights_from(w, first_[k]), pass.rows, x, part(of, k));
      if (k % 2 == 0) x = added(k / 2, pass.rows * size_, x, y);
      else x = y;
    }
    std::copy_n(x, pass.rows * size_, pass.y);
  }
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const std::size_t n = pass.rows * size_;
    grow(through_, n);
    Real* dy = pass.dy;
    for (std::size_t k = stacks_.size(); k-- > 0;) {
      Stack<Real>& stack = stacks_[k];
      Real* dx = k > 0 ? through_.data() : pass.dx;
      std::copy_n(dy, n, stack.output_slopes());
      stack.backward(weights_from(w, first_[k]), slopes_from(slopes, first_[k], stack.blocks()), dx);
      if (!dx) return;
      if (k % 2 == 1) std::copy_n(dx, n, dy);
      else add_numbers(n, dx, dy);
      if (k == 0) std::copy_n(dy, n, dx);
    }
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<TransformerBlock>(*this); }

 private:
  const Real* added(std::size_t which, std::size_t n, const Real* x, const Real* y) {
    LargeArray<Real>& sum = sums_[which];
    grow(sum, n);
    put_sum(n, x, y, false, sum.data());
    return sum.data();
  }
  // Its buffers are those of the layers of that branch.
  Pass<Real> part(Pass<Real> of, std::size_t k) {
    if (of.buffers) {
      buffers_ = slopes_from(*of.buffers, first_[k], stacks_[k].blocks());
      of.buffers = &buffers_;
    }
    return of;
  }

  std::size_t size_;
  std::vector<Stack<Real>> stacks_;
  std::vector<std::size_t> first_;  // blocks before those of each branch
  std::vector<LargeArray<Real>> sums_;
  LargeArray<Real> through_;
  Slopes<Real> buffers_;
};

}  // namespace

KELVIN_LAYER_ROW(
    transformer_block, TransformerBlock, transformer_block_parameters, false, transformer_block_plan,
    "attention and two fully connected layers, each added to its inputs, with normalisation",
    {{5, 4},
     "['transformer_block 2 3 activation tanh', 'transformer_block 1 3 causal 1 norm last activation tanh', "
     "'last_step', 'dense 2']"},
    false, false, transformer_block_layers)

}  // namespace kelvin
