// SPDX-License-Identifier: Apache-2.0
// z = (x - mean) / sqrt(variance + floor) over the numbers of each row by itself, or of each step of a sequence;
// y = gain z + bias.
#include <algorithm>
#include <cmath>

#include "kelvin/function/affine.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

constexpr Parameter layer_norm_parameters[] = {
    {"floor", "1e-5", "added to the variance"},
};

LayerPlan layer_norm_plan(const Choice& numbers, const Shape& input) {
  if (!(numbers.number("floor") > 0))
    throw Error("layer \"layer_norm\": floor must be above 0, not {}", numbers.number("floor"));
  LayerPlan plan{.numbers = numbers, .input = input, .output = input};
  const std::size_t n = input.size() / steps_of(input);
  plan.blocks.push_back({.name = "gain", .shape = {n}, .role = Role::gain, .neutral = 1});
  plan.blocks.push_back({.name = "bias", .shape = {n}, .role = Role::bias});
  return plan;
}

template <class Real>
class LayerNorm final : public Layer<Real> {
 public:
  explicit LayerNorm(const LayerPlan& plan)
      : steps_(steps_of(plan.input)), size_(plan.input.size() / steps_), floor_(plan.numbers.number("floor")) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    const std::size_t rows = pass.rows * steps_;
    grow(normalised_, rows * size_);
    grow(inverse_, rows);
    for (std::size_t i = 0; i < rows; ++i) {
      const Real* x = pass.x + i * size_;
      Real* z = normalised_.data() + i * size_;
      double mean = 0, square = 0;
      for (std::size_t k = 0; k < size_; ++k) mean += double(x[k]) / double(size_);
      for (std::size_t k = 0; k < size_; ++k) square += (double(x[k]) - mean) * (double(x[k]) - mean) / double(size_);
      inverse_[i] = Real(1 / std::sqrt(square + floor_));
      for (std::size_t k = 0; k < size_; ++k) {
        z[k] = Real(double(x[k]) - mean) * inverse_[i];
        pass.y[i * size_ + k] = w[0][k] * z[k] + w[1][k];
      }
    }
  }

  // With u = gain dy:  dx = (u - mean(u) - z mean(u z)) / sqrt(variance + floor)
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const std::size_t rows = pass.rows * steps_;
    if (wants(slopes, 0)) {
      std::ranges::fill(sums_, Real(0));
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < size_; ++k) sums_[k] += pass.dy[i * size_ + k] * normalised_[i * size_ + k];
      write_slopes<Real>(sums_, slopes, 0);
    }
    if (wants(slopes, 1)) {
      sum_rows(rows, size_, pass.dy, sums_.data());
      write_slopes<Real>(sums_, slopes, 1);
    }
    if (!pass.dx) return;
    for (std::size_t i = 0; i < rows; ++i) {
      const Real *dy = pass.dy + i * size_, *z = normalised_.data() + i * size_;
      double mean = 0, along = 0;
      for (std::size_t k = 0; k < size_; ++k) {
        const double u = double(w[0][k]) * double(dy[k]);
        mean += u / double(size_);
        along += u * double(z[k]) / double(size_);
      }
      for (std::size_t k = 0; k < size_; ++k)
        pass.dx[i * size_ + k] = inverse_[i] * Real(double(w[0][k]) * double(dy[k]) - mean - double(z[k]) * along);
    }
  }

  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<LayerNorm>(*this); }

 private:
  std::size_t steps_, size_;  // size: numbers that are normalised together
  double floor_;
  std::vector<Real> sums_ = std::vector<Real>(size_);
  LargeArray<Real> normalised_, inverse_;  // z of each number, 1 / sqrt(variance + floor) of each row or step
};

}  // namespace

KELVIN_LAYER_ROW(
    layer_norm, LayerNorm, layer_norm_parameters, true, layer_norm_plan,
    "each row, or step of a sequence, by itself: mean 0 and variance 1, then a gain and a bias for each number",
    {{3}, "['dense 5', 'layer_norm', 'dense 2']"})

}  // namespace kelvin
