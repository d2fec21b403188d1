// SPDX-License-Identifier: Apache-2.0
// z = (x - mean) / sqrt(variance + floor) for each channel, over all rows and pixels; y = gain z + bias. A training
// pass takes mean and variance of the rows at hand, and has the running ones follow:
//   running += momentum (that of the rows - running), the variance of the rows as m / (m - 1) times its mean square.
// Any other pass uses the running ones.
#include <algorithm>
#include <cmath>

#include "kelvin/function/channels.h"
#include "kelvin/function/images.h"

namespace kelvin {
namespace {

constexpr Parameter batch_norm_parameters[] = {
    {"momentum", "0.1", "how far the running mean and variance move towards those of the rows, each evaluation"},
    {"floor", "1e-5", "added to the variance"},
};

enum BatchNormBlock : std::size_t { batch_gain, batch_bias, running_mean, running_variance };

LayerPlan batch_norm_plan(const Choice& numbers, const Shape& input) {
  if (!(numbers.number("floor") > 0))
    throw layer_error(numbers, "has floor {}; give a number above 0", numbers.number("floor"));
  if (const double momentum = numbers.number("momentum"); !(momentum >= 0 && momentum <= 1))
    throw layer_error(numbers, "has momentum {}; give a number from 0 to 1", momentum);
  const Shape shape{pixels_of(input).channels};
  LayerPlan plan{.numbers = numbers, .input = input, .output = input, .takes_relu = true};
  plan.blocks.push_back({.name = "gain", .shape = shape, .role = Role::gain, .neutral = 1, .torch = {{"weight"}}});
  plan.blocks.push_back({.name = "bias", .shape = shape, .role = Role::bias});
  plan.blocks.push_back({.name = "running_mean", .shape = shape, .role = Role::buffer});
  plan.blocks.push_back(
      {.name = "running_variance", .shape = shape, .role = Role::buffer, .neutral = 1, .torch = {{"running_var"}}});
  return plan;
}

template <class Real>
class BatchNormLayer final : public Layer<Real> {
 public:
  explicit BatchNormLayer(const LayerPlan& plan)
      : x_(pixels_of(plan.input)),
        numbers_(plan.numbers),
        momentum_(plan.numbers.number("momentum")),
        floor_(plan.numbers.number("floor")),
        relu_(plan.relu),
        zeros_(x_.channels, Real(0)) {
    for (auto* list : {&mean_, &inverse_, &scale_, &offset_, &along_}) list->resize(x_.channels);
    sums_.resize(x_.channels);
    products_.resize(x_.channels);
  }

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>& how) override {
    const ChannelRows all = pixels(pass);
    of_rows_ = how.training;
    if (of_rows_) take_statistics(w, all, pass.x, how);
    for (std::size_t c = 0; c < x_.channels; ++c) {
      if (!of_rows_) {
        mean_[c] = w[running_mean][c];
        inverse_[c] = Real(1 / std::sqrt(double(w[running_variance][c]) + floor_));
      }
      scale_[c] = inverse_[c] * w[batch_gain][c];
    }
    channel_map(all, pass.x,
                {.mean = mean_.data(),
                 .scale = scale_.data(),
                 .bias = w[batch_bias],
                 .threshold = relu_ ? zeros_.data() : nullptr},
                pass.y);
  }

  // d(bias) = sum of dy, d(gain) = sum of dy z, dx = gain (dy - mean(dy) - z mean(dy z)) / sqrt(variance + floor);
  // without the means where the statistics are not of these rows.
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const ChannelRows all = pixels(pass);
    channel_slope_sums(all, {.dy = pass.dy, .x = pass.x, .mean = mean_.data(), .y = relu_ ? pass.y : nullptr},
                       sums_.data(), products_.data());
    for (std::size_t c = 0; c < x_.channels; ++c) {
      const double along = products_[c] * double(inverse_[c]);
      if (wants(slopes, batch_gain)) put_slope(slopes, slopes.g[batch_gain][c], Real(along));
      if (wants(slopes, batch_bias)) put_slope(slopes, slopes.g[batch_bias][c], Real(sums_[c]));
      scale_[c] = inverse_[c] * w[batch_gain][c];
      const double share = of_rows_ ? double(scale_[c]) / double(all.pixels) : 0;
      offset_[c] = Real(share * sums_[c]);
      along_[c] = Real(share * along * double(inverse_[c]));
    }
    if (pass.dx)
      channel_slopes(all, pass.dy, pass.x,
                     {.mean = mean_.data(), .scale = scale_.data(), .offset = offset_.data(), .along = along_.data()},
                     pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<BatchNormLayer>(*this); }

 private:
  ChannelRows pixels(const LayerPass<Real>& pass) const { return {pass.rows * x_.count, x_.channels, x_.channels}; }

  void take_statistics(Weights<const Real> w, const ChannelRows& all, const Real* x, const Pass<Real>& how) {
    const Slopes<Real>* buffers = how.buffers;
    const double m = double(all.pixels), momentum = how.anew ? 1 : momentum_;
    if (all.pixels < 2)
      throw layer_error(numbers_,
                        "has one row of one pixel, of which there is no variance; give it at least two rows at a time "
                        "or use \"layer_norm\"");
    channel_statistics(all, x, sums_.data(), products_.data());
    for (std::size_t c = 0; c < x_.channels; ++c) {
      mean_[c] = Real(sums_[c] / m);
      inverse_[c] = Real(1 / std::sqrt(products_[c] / m + floor_));
      if (!buffers) continue;
      const double mean = double(w[running_mean][c]), variance = double(w[running_variance][c]);
      put_slope(*buffers, buffers->g[running_mean][c], Real(momentum * (mean - sums_[c] / m)));
      put_slope(*buffers, buffers->g[running_variance][c], Real(momentum * (variance - products_[c] / (m - 1))));
    }
  }

  Pixels x_;
  Choice numbers_;
  double momentum_, floor_;
  bool relu_;
  std::vector<Real> zeros_;
  bool of_rows_ = true;  // whether the last forward pass took the statistics of its rows
  std::vector<Real> mean_, inverse_, scale_, offset_, along_;
  std::vector<double> sums_, products_;
};

}  // namespace

KELVIN_LAYER_ROW(batch_norm, BatchNormLayer, batch_norm_parameters, true, batch_norm_plan,
                 "each channel over all rows and pixels: mean 0 and variance 1, then a gain and a bias; keeps running "
                 "statistics for predictions",
                 {{3, 3, 2}, "['conv 2 5', 'batch_norm', 'tanh', 'flatten', 'dense 2']"}, false, true)

}  // namespace kelvin
