// SPDX-License-Identifier: Apache-2.0
// Multi-head self-attention, weights as PyTorch's MultiheadAttention has them. Of each step and head, q, k and v are
// slices of W x + b (all queries, then all keys, then all values):
//   P(t, s) = softmax over s of q_t.k_s / sqrt(n), o_t = sum over s of P(t, s) v_s, y = W' o + b'
// Causal: s up to t only.
#include <algorithm>
#include <cmath>

#include "kelvin/function/affine.h"
#include "kelvin/function/gemm.h"
#include "kelvin/function/layers/sequence.h"
#include "kelvin/function/sequence_loops.h"

namespace kelvin {
namespace {

constexpr Parameter attention_parameters[] = {
    {"heads", "1", "that share the numbers of a step"},
    {"causal", "0", "1: a step sees itself and those before it only"},
};

LayerPlan attention_plan(const Choice& numbers, const Shape& input) {
  const auto [steps, d] = sequence_given(numbers, input);
  const std::size_t heads = whole_number(numbers, "heads");
  if (d % heads != 0)
    throw Error("layer \"attention\" cannot share the {} numbers of a step among {} heads; give heads that divide {}",
                d, heads, d);
  is_set(numbers, "causal");
  LayerPlan plan{.numbers = numbers, .input = input, .output = input};
  plan.kept = steps * (7 * d + heads * steps);
  plan.multiply_adds = double(steps) * double(d) * (4 * double(d) + 2 * double(steps));
  const auto add = [&](const char* name, const char* torch, const Shape& shape, Role role) {
    plan.blocks.push_back({.name = name, .shape = shape, .role = role, .fan_in = d, .fan_out = d, .torch = {{torch}}});
  };
  add("query_key_value.weight", "in_proj_weight", {3 * d, d}, Role::weight);
  add("query_key_value.bias", "in_proj_bias", {3 * d}, Role::bias);
  add("output.weight", "out_proj.weight", {d, d}, Role::weight);
  add("output.bias", "out_proj.bias", {d}, Role::bias);
  return plan;
}

template <class Real>
class AttentionLayer final : public Layer<Real> {
 public:
  explicit AttentionLayer(const LayerPlan& plan)
      : steps_(plan.input[0]),
        width_(plan.input[1]),
        heads_(whole_number(plan.numbers, "heads")),
        each_(width_ / heads_),
        causal_(is_set(plan.numbers, "causal")),
        scale_(Real(1 / std::sqrt(double(each_)))),
        in_{width_, 3 * width_},
        out_{width_, width_} {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    const std::size_t all = pass.rows * steps_;
    grow(qkv_, all * 3 * width_);
    grow(weighted_, all * width_);
    grow(shares_, all * heads_ * steps_);
    in_.forward(all, pass.x, w[0], w[1], qkv_.data());
    for (std::size_t i = 0; i < pass.rows; ++i)
      for (std::size_t head = 0; head < heads_; ++head) {
        const Real* q = qkv_.data() + i * steps_ * 3 * width_ + head * each_;
        Real *P = shares(i, head), *o = weighted_.data() + i * steps_ * width_ + head * each_;
        gemm(scale_, slice(q), turned(slice(q + width_)), Real(0), P, steps_);
        softmax_rows(Shares<Real>{.rows = steps_, .width = steps_, .causal = causal_, .p = P});
        gemm(Real(1), square(P), slice(q + 2 * width_), Real(0), o, width_);
      }
    out_.forward(all, weighted_.data(), w[2], w[3], pass.y);
  }

  // dv = P' do, dP = do v', dS = P (dP - sum over s of P dP), dq = dS k / sqrt(n), dk = dS' q / sqrt(n)
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const std::size_t all = pass.rows * steps_;
    out_.weight_slopes(all, weighted_.data(), pass.dy, slopes, 2);
    out_.bias_slopes(all, pass.dy, slopes, 3);
    if (!pass.dx && !wants(slopes, 0) && !wants(slopes, 1)) return;
    grow(slopes_, all * 3 * width_);
    grow(share_slopes_, steps_ * steps_);
    out_.input_slopes(all, pass.dy, w[2], weighted_.data());
    Real* dP = share_slopes_.data();
    for (std::size_t i = 0; i < pass.rows; ++i)
      for (std::size_t head = 0; head < heads_; ++head) {
        const std::size_t at = i * steps_ * 3 * width_ + head * each_;
        const Real *q = qkv_.data() + at, *o = weighted_.data() + i * steps_ * width_ + head * each_;
        Real* P = shares(i, head);
        Real* dq = slopes_.data() + at;
        const Factor<Real> dout{o, steps_, each_, width_};
        gemm(Real(1), turned(square(P)), dout, Real(0), dq + 2 * width_, 3 * width_);
        gemm(Real(1), dout, turned(slice(q + 2 * width_)), Real(0), dP, steps_);
        softmax_slopes(Shares<Real>{.rows = steps_, .width = steps_, .causal = causal_, .p = P, .dp = dP});
        gemm(scale_, square(dP), slice(q + width_), Real(0), dq, 3 * width_);
        gemm(scale_, turned(square(dP)), slice(q), Real(0), dq + width_, 3 * width_);
      }
    in_.weight_slopes(all, pass.x, slopes_.data(), slopes, 0);
    in_.bias_slopes(all, slopes_.data(), slopes, 1);
    if (pass.dx) in_.input_slopes(all, slopes_.data(), w[0], pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<AttentionLayer>(*this); }

 private:
  Real* shares(std::size_t row, std::size_t head) { return shares_.data() + (row * heads_ + head) * steps_ * steps_; }
  Factor<Real> slice(const Real* q) const { return {q, steps_, each_, 3 * width_}; }
  Factor<Real> square(const Real* P) const { return {P, steps_, steps_, steps_}; }
  static Factor<Real> turned(Factor<Real> f) {
    f.turned = true;
    return f;
  }

  std::size_t steps_, width_, heads_, each_;  // each: numbers of a head
  bool causal_;
  Real scale_;
  Affine<Real> in_, out_;
  LargeArray<Real> qkv_, slopes_;  // queries, keys and values of each row and step, and their slopes
  LargeArray<Real> shares_;        // P of each row and head
  LargeArray<Real> weighted_;      // o of each row and step, then its slopes
  LargeArray<Real> share_slopes_;  // dP of one row and head
};

}  // namespace

KELVIN_LAYER_ROW(attention, AttentionLayer, attention_parameters, true, attention_plan,
                 "multi-head self-attention: each step takes from others what its query finds",
                 {{5, 3}, "['dense 6', 'attention 3', 'attention 2 causal 1', 'last_step', 'dense 2']"})

}  // namespace kelvin
