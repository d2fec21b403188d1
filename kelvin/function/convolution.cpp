// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/convolution.h"

#include <algorithm>

#include "kelvin/function/additions.h"
#include "kelvin/function/channels.h"
#include "kelvin/function/convolution_loops.h"
#include "kelvin/function/onednn.h"
#include "kelvin/function/unfolded.h"

namespace kelvin {

#define KELVIN_CONVOLUTIONS_BEST(Real)                                                              \
  void convolve(const ConvolutionLoops& loops, const Real* taps, const Real* x, Real* y) {          \
    KELVIN_RETURN_BEST(convolve(loops, taps, x, y));                                                \
  }                                                                                                 \
  void convolve_back(const ConvolutionLoops& loops, const Real* turned, const Real* dy, Real* dx) { \
    KELVIN_RETURN_BEST(convolve_back(loops, turned, dy, dx));                                       \
  }                                                                                                 \
  void convolve_slopes(const ConvolutionLoops& loops, const Real* x, const Real* dy, Real* taps) {  \
    KELVIN_RETURN_BEST(convolve_slopes(loops, x, dy, taps));                                        \
  }
KELVIN_CONVOLUTIONS_BEST(float)
KELVIN_CONVOLUTIONS_BEST(double)

namespace {

ConvolutionAxis axis_of(const Window& window, std::size_t x, std::size_t y) {
  return {.x = x,
          .y = y,
          .taps = window.size,
          .stride = window.stride,
          .dilation = window.dilation,
          .before = window.before};
}

ConvolutionLoops loops_of(const ConvolutionPlan& plan, std::size_t rows) {
  return {.down = axis_of(plan.windows[0], plan.x.height, plan.y.height),
          .along = axis_of(plan.windows[1], plan.x.width, plan.y.width),
          .groups = plan.groups,
          .x_channels = plan.x.channels / plan.groups,
          .y_channels = plan.y.channels / plan.groups,
          .rows = rows};
}

// Calls each(place in the block, place among taps) for each weight, in the order of the block.
template <class Each>
void for_each_weight(const ConvolutionPlan& plan, bool turned, Each&& each) {
  const std::size_t in = plan.x.channels / plan.groups, out = plan.y.channels / plan.groups;
  const std::size_t taps = plan.windows[0].size * plan.windows[1].size;
  std::size_t at = 0;
  for (std::size_t group = 0; group < plan.groups; ++group)
    for (std::size_t o = 0; o < out; ++o)
      for (std::size_t c = 0; c < in; ++c)
        for (std::size_t tap = 0; tap < taps; ++tap, ++at)
          each(at, (tap * plan.groups + group) * in * out + (turned ? o * in + c : c * out + o));
}

template <class Real>
void fill_pixels(std::size_t pixels, std::size_t channels, const Real* bias, Real* to) {
  if (!bias) {
    std::fill_n(to, pixels * channels, Real(0));
    return;
  }
  for (std::size_t p = 0; p < pixels; ++p) std::copy_n(bias, channels, to + p * channels);
}

template <class Real>
void add_to_pixels(std::size_t pixels, std::size_t channels, const Real* bias, Real* to) {
  for (std::size_t p = 0; p < pixels; ++p)
    for (std::size_t c = 0; c < channels; ++c) to[p * channels + c] += bias[c];
}

}  // namespace

template <class Real>
Convolution<Real>::Convolution(const ConvolutionPlan& plan, Loops loops) : plan_(plan), loops_(loops) {
  if (loops == Loops::plain) return;
  if constexpr (std::is_same_v<Real, float>) fast_ = OneDnnConvolution::make(plan);
  if (UnfoldedConvolution<Real>::pays(plan)) unfolded_ = std::make_unique<UnfoldedConvolution<Real>>();
}
template <class Real>
Convolution<Real>::Convolution(const Convolution& other) : Convolution(other.plan_, other.loops_) {}
template <class Real>
Convolution<Real>::~Convolution() = default;

template <class Real>
void Convolution<Real>::forward(const Real* weight, const Real* bias, std::size_t rows, const Real* x, Real* y) {
  if constexpr (std::is_same_v<Real, float>)
    if (fast_ && fast_->forward(weight, bias, rows, x, y)) return;
  taps_.resize(plan_.weight().size());
  for_each_weight(plan_, false, [&](std::size_t from, std::size_t to) { taps_[to] = weight[from]; });
  fill_pixels(rows * plan_.y.pixels(), plan_.y.channels, bias, y);
  if (unfolded_) unfolded_->forward(plan_, taps_.data(), rows, x, y);
  else convolve(loops_of(plan_, rows), taps_.data(), x, y);
}

template <class Real>
void Convolution<Real>::back(const Real* weight, const Real* bias, std::size_t rows, const Real* dy, Real* dx) {
  if constexpr (std::is_same_v<Real, float>)
    if (fast_ && fast_->back(weight, rows, dy, dx)) {
      if (bias) add_to_pixels(rows * plan_.x.pixels(), plan_.x.channels, bias, dx);
      return;
    }
  taps_.resize(plan_.weight().size());
  for_each_weight(plan_, !unfolded_, [&](std::size_t from, std::size_t to) { taps_[to] = weight[from]; });
  fill_pixels(rows * plan_.x.pixels(), plan_.x.channels, bias, dx);
  if (unfolded_) unfolded_->back(plan_, taps_.data(), rows, dy, dx);
  else convolve_back(loops_of(plan_, rows), taps_.data(), dy, dx);
}

template <class Real>
void Convolution<Real>::slopes(std::size_t rows, const Real* x, const Real* dy, const Slopes<Real>& to,
                               std::size_t block) {
  taps_.resize(plan_.weight().size());
  Real* g = to.g[block];
  if constexpr (std::is_same_v<Real, float>)
    if (fast_ && fast_->slopes(rows, x, dy, taps_.data())) {
      put_shares(taps_.size(), taps_.data(), to.share, to.keep, g);
      return;
    }
  std::ranges::fill(taps_, Real(0));
  if (unfolded_) unfolded_->slopes(plan_, rows, x, dy, taps_.data());
  else convolve_slopes(loops_of(plan_, rows), x, dy, taps_.data());
  for_each_weight(plan_, false,
                  [&](std::size_t of_block, std::size_t of_taps) { put_slope(to, g[of_block], taps_[of_taps]); });
}

template class Convolution<float>;
template class Convolution<double>;

template <class Real>
void put_bias_slopes(std::size_t pixels, std::size_t channels, const Real* dy, const Slopes<Real>& to,
                     std::size_t block) {
  constexpr std::size_t at_once = 64;
  double sums[at_once];
  for (std::size_t first = 0; first < channels; first += at_once) {
    const std::size_t count = std::min(at_once, channels - first);
    channel_sums({pixels, count, channels}, dy + first, sums);
    for (std::size_t k = 0; k < count; ++k) put_slope(to, to.g[block][first + k], Real(sums[k]));
  }
}

template void put_bias_slopes(std::size_t, std::size_t, const float*, const Slopes<float>&, std::size_t);
template void put_bias_slopes(std::size_t, std::size_t, const double*, const Slopes<double>&, std::size_t);

Windows windows_of(const Choice& layer, bool allows_same) {
  const auto size = height_and_width(layer, "kernel"), stride = height_and_width(layer, "stride");
  const auto dilation = height_and_width(layer, "dilation");
  const auto padding = layer.values.find("padding");
  const auto* word = padding == layer.values.end() ? nullptr : std::get_if<std::string>(&padding->second.is);
  const bool same = allows_same && word && *word == "same";
  Windows windows;
  for (std::size_t k = 0; k < 2; ++k) {
    windows[k] = {.size = size[k], .stride = stride[k], .dilation = dilation[k]};
    const std::size_t both = same ? windows[k].extent() - 1 : 2 * height_and_width(layer, "padding", 0)[k];
    windows[k].before = both / 2;
    windows[k].after = both - windows[k].before;
  }
  return windows;
}

std::size_t groups_of(const Choice& layer, std::size_t from_channels, std::size_t to_channels) {
  const std::size_t groups = whole_number(layer, "groups");
  if (from_channels % groups != 0 || to_channels % groups != 0)
    throw layer_error(layer, "has {} groups between {} and {} channels; give a number that divides both", groups,
                      from_channels, to_channels);
  return groups;
}

std::vector<Block> convolution_blocks(const Choice& layer, const Shape& weight, std::size_t biases, std::size_t fan_in,
                                      std::size_t fan_out) {
  double count = 1;
  for (const std::size_t extent : weight.extents()) count *= double(extent);
  if (count > 2147483648.0)
    throw layer_error(layer, "has {} weights, more than 2^31; use a smaller one", weight.text());
  std::vector<Block> blocks = {
      {.name = "weight", .shape = weight, .role = Role::weight, .fan_in = fan_in, .fan_out = fan_out}};
  if (layer.number("bias") != 0)
    blocks.push_back({.name = "bias", .shape = {biases}, .role = Role::bias, .fan_in = fan_in, .fan_out = fan_out});
  return blocks;
}

}  // namespace kelvin
