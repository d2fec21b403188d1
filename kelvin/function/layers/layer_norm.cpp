// SPDX-License-Identifier: Apache-2.0
// z = (x - mean) / sqrt(variance + floor) over the numbers of each row by itself, or of each step of a sequence;
// y = gain z + bias.
#include "kelvin/function/affine.h"
#include "kelvin/function/layers/sequence.h"
#include "kelvin/function/sequence_loops.h"

namespace kelvin {
namespace {

constexpr Parameter layer_norm_parameters[] = {
    {"floor", "1e-5", "added to the variance"},
};

LayerPlan layer_norm_plan(const Choice& numbers, const Shape& input) {
  if (!(numbers.number("floor") > 0))
    throw Error("layer \"layer_norm\": floor must be above 0, not {}", numbers.number("floor"));
  LayerPlan plan{.numbers = numbers, .input = input, .output = input, .kept = input.size()};
  const std::size_t n = input.size() / steps_of(input);
  plan.blocks.push_back({.name = "gain", .shape = {n}, .role = Role::gain, .neutral = 1, .torch = {{"weight"}}});
  plan.blocks.push_back({.name = "bias", .shape = {n}, .role = Role::bias});
  return plan;
}

template <class Real>
class LayerNorm final : public Layer<Real> {
 public:
  explicit LayerNorm(const LayerPlan& plan)
      : steps_(steps_of(plan.input)), size_(plan.input.size() / steps_), floor_(Real(plan.numbers.number("floor"))) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    const std::size_t rows = pass.rows * steps_;
    grow(normalised_, rows * size_);
    grow(inverse_, rows);
    normalise(NormalisedRows<Real>{.rows = rows,
                                   .width = size_,
                                   .z = normalised_.data(),
                                   .inverse = inverse_.data(),
                                   .gain = w[0],
                                   .x = pass.x,
                                   .bias = w[1],
                                   .y = pass.y,
                                   .floor = floor_});
  }

  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const std::size_t rows = pass.rows * steps_;
    if (wants(slopes, 0)) {
      sum_over_rows(RowSums<Real>{rows, size_, size_, pass.dy, normalised_.data(), sums_.data()});
      write_slopes<Real>(sums_, slopes, 0);
    }
    if (wants(slopes, 1)) {
      sum_rows(rows, size_, pass.dy, sums_.data());
      write_slopes<Real>(sums_, slopes, 1);
    }
    if (pass.dx)
      normalised_slopes(NormalisedRows<Real>{.rows = rows,
                                             .width = size_,
                                             .z = normalised_.data(),
                                             .inverse = inverse_.data(),
                                             .gain = w[0],
                                             .dy = pass.dy,
                                             .dx = pass.dx});
  }

  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<LayerNorm>(*this); }

 private:
  std::size_t steps_, size_;  // size: numbers that are normalised together
  Real floor_;
  std::vector<Real> sums_ = std::vector<Real>(size_);
  LargeArray<Real> normalised_, inverse_;  // z of each number, 1 / sqrt(variance + floor) of each row or step
};

}  // namespace

KELVIN_LAYER_ROW(
    layer_norm, LayerNorm, layer_norm_parameters, true, layer_norm_plan,
    "each row, or step of a sequence, by itself: mean 0 and variance 1, then a gain and a bias for each number",
    {{3}, "['dense 5', 'layer_norm', 'dense 2']"})

}  // namespace kelvin
