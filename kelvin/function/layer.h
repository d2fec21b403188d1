// SPDX-License-Identifier: Apache-2.0
// Products of a layer that is narrow on one side, too small for BLAS to be worth its call: one version for each
// instruction set. Values of hidden layers are stored in rows of `padded` length, so that vectors may run over the end
// of a row.
#pragma once
#include <cstddef>

#include "kelvin/core/isa.h"

namespace kelvin {

inline constexpr std::size_t narrow = 8;          // inputs or outputs, at most
inline constexpr std::size_t widest_vector = 16;  // numbers that may be read beyond the end of a row
inline constexpr std::size_t padded(std::size_t n) { return (n + widest_vector - 1) / widest_vector * widest_vector; }
// A row length for which a column of rows does not fall into few sets of the cache.
inline constexpr std::size_t stride_for(std::size_t n) { return padded(n) + (padded(n) % 64 == 0 ? widest_vector : 0); }

// Rows of a layer's inputs x and outputs y (or their slopes), `in` and `out` of each `x_stride` and `y_stride`
// counting.
template <class Real>
struct LayerRows {
  std::size_t rows, in, out;
  const Real* x;
  std::size_t x_stride;
  Real* y;
  std::size_t y_stride;
  Real* packed;  // the weights as the loops want them: (narrow + 1) x padded(wide) numbers, filled by forward
};

// In `few_in` the inputs are narrow and y has padded rows; in `few_out` the outputs are, and x may be read beyond its
// end. Forward: y = weight x + bias, and its positive part if `relu`. Slopes: weight_slope and bias_slope become keep
// times themselves plus share times the sum over rows of y x and of y. Below: x_slope (rows of x_stride) = weight^T y.
//
// A hidden layer of relu or tanh units between narrow inputs and narrow outputs is done in one go. Values of relu are
// not stored but computed again on the way back, which takes less time than memory does; those of tanh are kept.
inline constexpr std::size_t very_narrow = 4;
template <class Real>
struct HiddenRows {
  std::size_t rows, in, hidden, out;
  const Real* x;  // rows x in
  Real* y;        // rows x out: outputs, then their slopes
  Real* packed;   // (in + 1 + out) x padded(hidden)
  Real* values;   // rows x padded(hidden), of tanh; null means relu
};
template <class Real>
struct HiddenWeights {
  Real *in, *in_bias, *out, *out_bias;
};

#define KELVIN_LAYER_LOOPS(Real)                                                                                  \
  void few_in_forward(const LayerRows<Real>&, const Real* weight, const Real* bias, bool relu);                   \
  void few_in_slopes(const LayerRows<Real>&, Real share, Real keep, Real* weight_slope, Real* bias_slope);        \
  void few_in_below(const LayerRows<Real>&, Real* x_slope);                                                       \
  void few_out_forward(const LayerRows<Real>&, const Real* weight, const Real* bias);                             \
  void few_out_slopes(const LayerRows<Real>&, Real share, Real keep, Real* weight_slope, Real* bias_slope);       \
  void few_out_below(const LayerRows<Real>&, Real* x_slope, bool relu); /* times the slope of relu at x, if so */ \
  void hidden_forward(const HiddenRows<Real>&, const HiddenWeights<const Real>&);                                 \
  void hidden_slopes(const HiddenRows<Real>&, Real share, Real keep, const HiddenWeights<Real>&);                 \
  void column_sums(const LayerRows<Real>&, Real share, Real keep, Real* bias_slope)

KELVIN_FOR_EACH_ISA(KELVIN_LAYER_LOOPS(float))
KELVIN_FOR_EACH_ISA(KELVIN_LAYER_LOOPS(double))
KELVIN_LAYER_LOOPS(float);
KELVIN_LAYER_LOOPS(double);

}  // namespace kelvin
