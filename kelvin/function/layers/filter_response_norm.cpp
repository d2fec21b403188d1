// SPDX-License-Identifier: Apache-2.0
// Filter response normalisation (Singh and Krishnan 2019): nu^2 = mean of x^2 over the pixels, of each channel of each
// row by itself; z = x / sqrt(nu^2 + |floor|); y = max(gain z + bias, threshold). Needs no other rows, so it goes well
// with posteriors.
#include <algorithm>
#include <cmath>

#include "kelvin/function/channels.h"
#include "kelvin/function/images.h"

namespace kelvin {
namespace {

constexpr Parameter filter_response_norm_parameters[] = {
    {"floor", "1e-6", "added to the mean square"},
};

LayerPlan filter_response_norm_plan(const Choice& numbers, const Shape& input) {
  if (numbers.number("floor") == 0 || !std::isfinite(numbers.number("floor")))
    throw layer_error(numbers, "has floor {}; give a number above 0", numbers.number("floor"));
  const Shape shape{image_before(numbers, input).channels};
  LayerPlan plan{.numbers = numbers, .input = input, .output = input, .needs_outputs = true};
  plan.blocks.push_back({.name = "gain", .shape = shape, .role = Role::gain, .neutral = 1, .torch = {{"weight"}}});
  plan.blocks.push_back({.name = "bias", .shape = shape, .role = Role::bias});
  plan.blocks.push_back({.name = "threshold", .shape = shape, .role = Role::bias});
  return plan;
}

template <class Real>
class FilterResponseNormLayer final : public Layer<Real> {
 public:
  explicit FilterResponseNormLayer(const LayerPlan& plan)
      : x_(pixels_of(plan.input)), floor_(std::abs(plan.numbers.number("floor"))), no_mean_(x_.channels, Real(0)) {
    for (auto* list : {&scale_, &along_}) list->resize(x_.channels);
    for (auto* list : {&sums_, &products_}) list->resize(x_.channels);
    for (auto& list : slopes_) list.resize(x_.channels);
  }

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    inverse_.resize(std::max(inverse_.size(), pass.rows * x_.channels));
    for (std::size_t row = 0; row < pass.rows; ++row) {
      const Real* x = pass.x + row * x_.size();
      Real* inverse = inverse_.data() + row * x_.channels;
      channel_squares(one_row(), x, no_mean_.data(), sums_.data());
      for (std::size_t c = 0; c < x_.channels; ++c) {
        inverse[c] = Real(1 / std::sqrt(sums_[c] / double(x_.count) + floor_));
        scale_[c] = inverse[c] * w[0][c];
      }
      channel_map(one_row(), x, {.mean = no_mean_.data(), .scale = scale_.data(), .bias = w[1], .threshold = w[2]},
                  pass.y + row * x_.size());
    }
  }

  // Where the threshold holds, the slope is its own; elsewhere, with u = gain dy, dx = (u - z mean(u z)) / nu.
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    for (auto& list : slopes_) std::ranges::fill(list, 0);
    for (std::size_t row = 0; row < pass.rows; ++row) {
      const Real* x = pass.x + row * x_.size();
      Real* dy = pass.dy + row * x_.size();
      const Real* inverse = inverse_.data() + row * x_.channels;
      channel_cut(one_row(), pass.y + row * x_.size(), w[2], dy, sums_.data());
      for (std::size_t c = 0; c < x_.channels; ++c) slopes_[2][c] += sums_[c];
      channel_slope_sums(one_row(), {.dy = dy, .x = x, .mean = no_mean_.data()}, sums_.data(), products_.data());
      for (std::size_t c = 0; c < x_.channels; ++c) {
        const double along = products_[c] * double(inverse[c]);
        slopes_[0][c] += along;
        slopes_[1][c] += sums_[c];
        scale_[c] = inverse[c] * w[0][c];
        along_[c] = Real(double(scale_[c]) * along * double(inverse[c]) / double(x_.count));
      }
      if (pass.dx)
        channel_slopes(
            one_row(), dy, x,
            {.mean = no_mean_.data(), .scale = scale_.data(), .offset = no_mean_.data(), .along = along_.data()},
            pass.dx + row * x_.size());
    }
    for (std::size_t block = 0; block < 3; ++block)
      for (std::size_t c = 0; wants(slopes, block) && c < x_.channels; ++c)
        put_slope(slopes, slopes.g[block][c], Real(slopes_[block][c]));
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<FilterResponseNormLayer>(*this); }

 private:
  ChannelRows one_row() const { return {x_.count, x_.channels, x_.channels}; }

  Pixels x_;
  double floor_;
  std::vector<Real> no_mean_, scale_, along_;
  std::vector<double> sums_, products_, slopes_[3];
  LargeArray<Real> inverse_;  // 1 / nu, rows x channels
};

}  // namespace

KELVIN_LAYER_ROW(
    filter_response_norm, FilterResponseNormLayer, filter_response_norm_parameters, true, filter_response_norm_plan,
    "each channel of each row by itself: mean square 1, a gain, a bias and a threshold that no output falls "
    "below",
    {{2, 3, 3}, "['conv 2 2', 'filter_response_norm', 'flatten', 'dense 2']"})

}  // namespace kelvin
