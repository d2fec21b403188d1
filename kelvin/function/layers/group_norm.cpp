// SPDX-License-Identifier: Apache-2.0
// z = (x - mean) / sqrt(variance + floor) over the pixels and the channels of a group, each row by itself;
// y = gain z + bias, of each channel.
#include <algorithm>
#include <cmath>

#include "kelvin/function/channels.h"
#include "kelvin/function/images.h"

namespace kelvin {
namespace {

constexpr Parameter group_norm_parameters[] = {
    {"groups", "", "of channels; as many as there are channels make it an instance norm"},
    {"floor", "1e-5", "added to the variance"},
};

LayerPlan group_norm_plan(const Choice& numbers, const Shape& input) {
  if (!(numbers.number("floor") > 0))
    throw layer_error(numbers, "has floor {}; give a number above 0", numbers.number("floor"));
  const Pixels x = pixels_of(input);
  const std::size_t groups = whole_number(numbers, "groups");
  if (x.channels % groups != 0)
    throw layer_error(numbers, "has {} groups for {} channels; give a number that divides them", groups, x.channels);
  if (x.size() == groups)
    throw layer_error(numbers, "has {} groups for {} numbers, of each of which there is no variance; use fewer groups",
                      groups, x.size());
  LayerPlan plan{.numbers = numbers, .input = input, .output = input};
  plan.blocks.push_back(
      {.name = "gain", .shape = {x.channels}, .role = Role::gain, .neutral = 1, .torch = {{"weight"}}});
  plan.blocks.push_back({.name = "bias", .shape = {x.channels}, .role = Role::bias});
  return plan;
}

template <class Real>
class GroupNormLayer final : public Layer<Real> {
 public:
  explicit GroupNormLayer(const LayerPlan& plan)
      : x_(pixels_of(plan.input)),
        each_(x_.channels / whole_number(plan.numbers, "groups")),
        floor_(plan.numbers.number("floor")) {
    for (auto* list : {&scale_, &offset_, &along_}) list->resize(x_.channels);
    for (auto* list : {&sums_, &products_, &gain_slopes_, &bias_slopes_}) list->resize(x_.channels);
  }

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    mean_.resize(std::max(mean_.size(), pass.rows * x_.channels));
    inverse_.resize(mean_.size());
    for (std::size_t row = 0; row < pass.rows; ++row) {
      const Real* x = pass.x + row * x_.size();
      Real *mean = mean_.data() + row * x_.channels, *inverse = inverse_.data() + row * x_.channels;
      channel_sums(one_row(), x, sums_.data());
      average_over_groups(sums_);
      for (std::size_t c = 0; c < x_.channels; ++c) mean[c] = Real(sums_[c]);
      channel_squares(one_row(), x, mean, sums_.data());
      average_over_groups(sums_);
      for (std::size_t c = 0; c < x_.channels; ++c) {
        inverse[c] = Real(1 / std::sqrt(sums_[c] + floor_));
        scale_[c] = inverse[c] * w[0][c];
      }
      channel_map(one_row(), x, {.mean = mean, .scale = scale_.data(), .bias = w[1]}, pass.y + row * x_.size());
    }
  }

  // With u = gain dy:  dx = (u - mean(u) - z mean(u z)) / sqrt(variance + floor), means over the group.
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    std::ranges::fill(gain_slopes_, 0);
    std::ranges::fill(bias_slopes_, 0);
    for (std::size_t row = 0; row < pass.rows; ++row) {
      const Real* x = pass.x + row * x_.size();
      Real* dy = pass.dy + row * x_.size();
      const Real *mean = mean_.data() + row * x_.channels, *inverse = inverse_.data() + row * x_.channels;
      channel_slope_sums(one_row(), {.dy = dy, .x = x, .mean = mean}, sums_.data(), products_.data());
      for (std::size_t c = 0; c < x_.channels; ++c) {
        products_[c] *= double(inverse[c]);
        bias_slopes_[c] += sums_[c];
        gain_slopes_[c] += products_[c];
        sums_[c] *= double(w[0][c]);
        products_[c] *= double(w[0][c]);
      }
      if (!pass.dx) continue;
      average_over_groups(sums_);
      average_over_groups(products_);
      for (std::size_t c = 0; c < x_.channels; ++c) {
        scale_[c] = inverse[c] * w[0][c];
        offset_[c] = Real(sums_[c] * double(inverse[c]));
        along_[c] = Real(products_[c] * double(inverse[c]) * double(inverse[c]));
      }
      channel_slopes(one_row(), dy, x,
                     {.mean = mean, .scale = scale_.data(), .offset = offset_.data(), .along = along_.data()},
                     pass.dx + row * x_.size());
    }
    for (std::size_t c = 0; c < x_.channels; ++c) {
      if (wants(slopes, 0)) put_slope(slopes, slopes.g[0][c], Real(gain_slopes_[c]));
      if (wants(slopes, 1)) put_slope(slopes, slopes.g[1][c], Real(bias_slopes_[c]));
    }
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<GroupNormLayer>(*this); }

 private:
  ChannelRows one_row() const { return {x_.count, x_.channels, x_.channels}; }

  // Of sums over pixels, channel by channel: their mean over the numbers of each group.
  void average_over_groups(std::vector<double>& sums) const {
    for (std::size_t first = 0; first < x_.channels; first += each_) {
      const auto group = std::span(sums).subspan(first, each_);
      double mean = 0;
      for (const double sum : group) mean += sum / double(each_ * x_.count);
      std::ranges::fill(group, mean);
    }
  }

  Pixels x_;
  std::size_t each_;  // channels of a group
  double floor_;
  LargeArray<Real> mean_, inverse_;  // rows x channels
  std::vector<Real> scale_, offset_, along_;
  std::vector<double> sums_, products_, gain_slopes_, bias_slopes_;
};

}  // namespace

KELVIN_LAYER_ROW(group_norm, GroupNormLayer, group_norm_parameters, true, group_norm_plan,
                 "each row by itself, in groups of channels: mean 0 and variance 1, then a gain and a bias for each "
                 "channel",
                 {{3, 3, 2}, "['conv 2 6', 'group_norm 3', 'tanh', 'flatten', 'dense 2']"})

}  // namespace kelvin
