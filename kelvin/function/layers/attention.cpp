// SPDX-License-Identifier: Apache-2.0
// Multi-head self-attention, weights as PyTorch's MultiheadAttention has them. Of each step and head, q, k and v are
// slices of W x + b (all queries, then all keys, then all values):
//   P(t, s) = softmax over s of q_t.k_s / sqrt(n), o_t = sum over s of P(t, s) v_s, y = W' o + b'
// Causal: s up to t only.
#include <algorithm>
#include <cmath>

#include "kelvin/function/affine.h"
#include "kelvin/function/layers/sequence.h"
#include "kelvin/function/product.h"
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
    for (LargeArray<Real>& some : packed_) grow(some, std::max(packed_size(steps_, each_), packed_size(each_, steps_)));
    in_.forward(all, pass.x, w[0], w[1], qkv_.data());
    for (std::size_t i = 0; i < pass.rows; ++i)
      for (std::size_t head = 0; head < heads_; ++head) {
        const Slice q = slice(qkv_, i, head), k = slice(qkv_, i, head, 1), v = slice(qkv_, i, head, 2);
        Real* P = shares(i, head);
        pack_turned(Unpacked<Real>{steps_, each_, k.stride, k.at}, packed_[0].data());
        pairs(q, packed_[0].data(), scale_, P);
        softmax_rows(Shares<Real>{.rows = steps_, .width = steps_, .causal = causal_, .p = P});
        pack(Unpacked<Real>{steps_, each_, v.stride, v.at}, packed_[0].data());
        over_seen(P, packed_[0].data(), 1, outputs_of(i, head));
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
    for (std::size_t i = 0; i < pass.rows; ++i)
      for (std::size_t head = 0; head < heads_; ++head) back_through_head(i, head);
    in_.weight_slopes(all, pass.x, slopes_.data(), slopes, 0);
    in_.bias_slopes(all, slopes_.data(), slopes, 1);
    if (pass.dx) in_.input_slopes(all, slopes_.data(), w[0], pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<AttentionLayer>(*this); }

 private:
  // The numbers of one row and head: `each_` of every step, the steps `stride` apart.
  struct Slice {
    Real* at;
    std::size_t stride;
  };
  Slice slice(LargeArray<Real>& of, std::size_t row, std::size_t head, std::size_t which = 0) const {
    return {of.data() + row * steps_ * 3 * width_ + which * width_ + head * each_, 3 * width_};
  }
  Slice outputs_of(std::size_t row, std::size_t head) {
    return {weighted_.data() + row * steps_ * width_ + head * each_, width_};
  }
  Real* shares(std::size_t row, std::size_t head) { return shares_.data() + (row * heads_ + head) * steps_ * steps_; }

  void back_through_head(std::size_t i, std::size_t head) {
    const Slice q = slice(qkv_, i, head), k = slice(qkv_, i, head, 1), v = slice(qkv_, i, head, 2);
    const Slice o = outputs_of(i, head);
    Real *P = shares(i, head), *dP = share_slopes_.data(), *packed = packed_[0].data(), *turned = packed_[1].data();
    pack(Unpacked<Real>{steps_, each_, o.stride, o.at}, packed);
    over_seeing(P, packed, 1, slice(slopes_, i, head, 2));
    pack_turned(Unpacked<Real>{steps_, each_, v.stride, v.at}, turned);
    pairs(o, turned, 1, dP);
    softmax_slopes(Shares<Real>{.rows = steps_, .width = steps_, .causal = causal_, .p = P, .dp = dP});
    pack(Unpacked<Real>{steps_, each_, k.stride, k.at}, packed);
    over_seen(dP, packed, scale_, slice(slopes_, i, head));
    pack(Unpacked<Real>{steps_, each_, q.stride, q.at}, packed);
    over_seeing(dP, packed, scale_, slice(slopes_, i, head, 1));
  }

  // Of steps t and s of a pair only those products are taken that t may see, in blocks of steps.
  static constexpr std::size_t block = 16;
  void for_each_block(auto&& act) const {
    for (std::size_t first = 0; first < steps_; first += block) act(first, std::min(steps_, first + block));
  }
  // P(t, s) = share a_t.b_s
  void pairs(Slice a, const Real* turned_b, Real share, Real* P) const {
    for_each_block([&](std::size_t first, std::size_t last) {
      multiply(Product<Real>{.rows = last - first,
                             .columns = causal_ ? last : steps_,
                             .depth = each_,
                             .a = a.at + first * a.stride,
                             .a_row = a.stride,
                             .a_depth = 1,
                             .a_panel = panel,
                             .b = turned_b,
                             .c = P + first * steps_,
                             .c_row = steps_,
                             .share = share});
    });
  }
  // c_t = share times the sum over s of P(t, s) b_s
  void over_seen(const Real* P, const Real* b, Real share, Slice c) const {
    for_each_block([&](std::size_t first, std::size_t last) {
      multiply(Product<Real>{.rows = last - first,
                             .columns = each_,
                             .depth = causal_ ? last : steps_,
                             .a = P + first * steps_,
                             .a_row = steps_,
                             .a_depth = 1,
                             .a_panel = panel,
                             .b = b,
                             .c = c.at + first * c.stride,
                             .c_row = c.stride,
                             .share = share,
                             .b_rows = steps_});
    });
  }
  // c_s = share times the sum over t of P(t, s) b_t
  void over_seeing(const Real* P, const Real* b, Real share, Slice c) const {
    for_each_block([&](std::size_t first, std::size_t last) {
      const std::size_t from = causal_ ? first : 0;
      multiply(Product<Real>{.rows = last - first,
                             .columns = each_,
                             .depth = steps_ - from,
                             .a = P + from * steps_ + first,
                             .a_row = 1,
                             .a_depth = steps_,
                             .a_panel = panel * steps_,
                             .b = b + from * panel,
                             .c = c.at + first * c.stride,
                             .c_row = c.stride,
                             .share = share,
                             .b_rows = steps_});
    });
  }

  std::size_t steps_, width_, heads_, each_;  // each: numbers of a head
  bool causal_;
  Real scale_;
  Affine<Real> in_, out_;
  LargeArray<Real> qkv_, slopes_;  // queries, keys and values of each row and step, and their slopes
  LargeArray<Real> shares_;        // P of each row and head
  LargeArray<Real> weighted_;      // o of each row and step, then its slopes
  LargeArray<Real> share_slopes_;  // dP of one row and head
  LargeArray<Real> packed_[2];     // one slice each as products take it, as it is and turned
};

}  // namespace

KELVIN_LAYER_ROW(attention, AttentionLayer, attention_parameters, true, attention_plan,
                 "multi-head self-attention: each step takes from others what its query finds",
                 {{5, 3}, "['dense 6', 'attention 3', 'attention 2 causal 1', 'last_step', 'dense 2']"})

}  // namespace kelvin
