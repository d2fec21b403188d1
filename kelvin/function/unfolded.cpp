// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/unfolded.h"

#include <algorithm>

#include "kelvin/function/gemm.h"

namespace kelvin {
namespace {

std::size_t taps_in(const ConvolutionPlan& plan) { return plan.windows[0].size * plan.windows[1].size; }

// A kernel of one pixel that goes over all of them: x is unfolded as it lies.
bool lies_unfolded(const ConvolutionPlan& plan) {
  return std::ranges::all_of(plan.windows, [](const Window& window) {
    return window.size == 1 && window.stride == 1 && window.before == 0 && window.after == 0;
  });
}

// Calls each(pixel of x, place among the unfolded numbers) for the taps that lie in the image, and outside(place) for
// the others.
template <class Each, class Outside>
void for_each_unfolded(const ConvolutionPlan& plan, Each&& each, Outside&& outside) {
  const auto& [down, along] = plan.windows;
  std::size_t at = 0;
  for (std::size_t v = 0; v < plan.y.height; ++v)
    for (std::size_t h = 0; h < plan.y.width; ++h)
      for (std::size_t i = 0; i < down.size; ++i) {
        const std::size_t line = v * down.stride + i * down.dilation - down.before;  // wraps where it is below 0
        for (std::size_t j = 0; j < along.size; ++j, at += plan.x.channels) {
          const std::size_t place = h * along.stride + j * along.dilation - along.before;
          if (line < plan.x.height && place < plan.x.width) each(line * plan.x.width + place, at);
          else outside(at);
        }
      }
}

}  // namespace

// Below this many products a row the plain loops are done before BLAS has begun.
template <class Real>
bool UnfoldedConvolution<Real>::pays(const ConvolutionPlan& plan) {
  constexpr double least = 20000;
  return plan.groups == 1 && plan.multiply_adds() >= least;
}

template <class Real>
const Real* UnfoldedConvolution<Real>::unfold(const ConvolutionPlan& plan, const Real* x) {
  if (lies_unfolded(plan)) return x;
  const std::size_t n = plan.x.channels;
  unfolded_.resize(plan.y.pixels() * taps_in(plan) * n);
  for_each_unfolded(
      plan, [&](std::size_t pixel, std::size_t at) { std::copy_n(x + pixel * n, n, unfolded_.data() + at); },
      [&](std::size_t at) { std::fill_n(unfolded_.data() + at, n, Real(0)); });
  return unfolded_.data();
}

// y += unfolded x taps
template <class Real>
void UnfoldedConvolution<Real>::forward(const ConvolutionPlan& plan, const Real* taps, std::size_t rows, const Real* x,
                                        Real* y) {
  const std::size_t depth = taps_in(plan) * plan.x.channels, out = plan.y.channels;
  for (std::size_t row = 0; row < rows; ++row)
    gemm(Real(1), {unfold(plan, x + row * plan.x.size()), plan.y.pixels(), depth, depth}, {taps, depth, out, out},
         Real(1), y + row * plan.y.size(), out);
}

// dx += folded (dy taps^T)
template <class Real>
void UnfoldedConvolution<Real>::back(const ConvolutionPlan& plan, const Real* taps, std::size_t rows, const Real* dy,
                                     Real* dx) {
  const std::size_t n = plan.x.channels, depth = taps_in(plan) * n, out = plan.y.channels;
  unfolded_.resize(plan.y.pixels() * depth);
  for (std::size_t row = 0; row < rows; ++row) {
    gemm(Real(1), {dy + row * plan.y.size(), plan.y.pixels(), out, out}, {taps, depth, out, out, true}, Real(0),
         unfolded_.data(), depth);
    Real* to = dx + row * plan.x.size();
    for_each_unfolded(
        plan,
        [&](std::size_t pixel, std::size_t at) {
          for (std::size_t c = 0; c < n; ++c) to[pixel * n + c] += unfolded_[at + c];
        },
        [](std::size_t) {});
  }
}

// dW += unfolded x^T dy
template <class Real>
void UnfoldedConvolution<Real>::slopes(const ConvolutionPlan& plan, std::size_t rows, const Real* x, const Real* dy,
                                       Real* taps) {
  const std::size_t depth = taps_in(plan) * plan.x.channels, out = plan.y.channels;
  for (std::size_t row = 0; row < rows; ++row)
    gemm(Real(1), {unfold(plan, x + row * plan.x.size()), plan.y.pixels(), depth, depth, true},
         {dy + row * plan.y.size(), plan.y.pixels(), out, out}, Real(1), taps, out);
}

template class UnfoldedConvolution<float>;
template class UnfoldedConvolution<double>;

}  // namespace kelvin
