// SPDX-License-Identifier: Apache-2.0
// y = W x + b of many rows at once, as several layers have it: W of out x in; b may be null.
#pragma once
#include "kelvin/function/function.h"

namespace kelvin {

template <class Real>
struct Affine {
  std::size_t in, out;
  LargeArray<Real> packed = {};  // W as products of our own take it, where it is small
  void forward(std::size_t rows, const Real* x, const Real* W, const Real* b, Real* y);
  // dW = dy' x, written where that block is wanted.
  void weight_slopes(std::size_t rows, const Real* x, const Real* dy, const Slopes<Real>&, std::size_t block) const;
  // db = sum of dy over the rows, likewise.
  void bias_slopes(std::size_t rows, const Real* dy, const Slopes<Real>&, std::size_t block) const;
  // dx = dy W
  void input_slopes(std::size_t rows, const Real* dy, const Real* W, Real* dx);
};

// Rows of c, `c_row` numbers apart, become a b + keep c + bias, b of depth x columns being packed.
template <class Real>
struct StridedRows {
  std::size_t rows;
  const Real* a;
  std::size_t a_row;
  Real* c;
  std::size_t c_row;
};
template <class Real>
void multiply_packed(const StridedRows<Real>&, std::size_t depth, std::size_t columns, const Real* packed,
                     const Real* bias, Real keep);

// Writes keep g + share sums where that block is wanted.
template <class Real>
void write_slopes(std::span<const Real> sums, const Slopes<Real>&, std::size_t block);

// The sum of rows of `width` numbers.
template <class Real>
void sum_rows(std::size_t rows, std::size_t width, const Real* x, Real* sum);

}  // namespace kelvin
