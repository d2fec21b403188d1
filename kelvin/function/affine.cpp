// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/affine.h"

#include <algorithm>

#include "kelvin/function/additions.h"
#include "kelvin/function/gemm.h"
#include "kelvin/function/product.h"
#include "kelvin/function/sequence_loops.h"

namespace kelvin {
namespace {

// Weights that stay in the cache, where our own products need no copies of the rows.
template <class Real>
bool is_small(std::size_t numbers) {
  constexpr std::size_t cache = std::size_t(1) << 19;
  return numbers * sizeof(Real) <= cache;
}

}  // namespace

template <class Real>
void sum_rows(std::size_t rows, std::size_t width, const Real* x, Real* sum) {
  sum_over_rows(RowSums<Real>{rows, width, width, x, nullptr, sum});
}

template <class Real>
void write_slopes(std::span<const Real> sums, const Slopes<Real>& slopes, std::size_t block) {
  if (!wants(slopes, block)) return;
  put_shares(sums.size(), sums.data(), slopes.share, slopes.keep, slopes.g[block]);
}

template <class Real>
void multiply_packed(const StridedRows<Real>& r, std::size_t depth, std::size_t columns, const Real* packed,
                     const Real* bias, Real keep) {
  multiply(Product<Real>{.rows = r.rows,
                         .columns = columns,
                         .depth = depth,
                         .a = r.a,
                         .a_row = r.a_row,
                         .a_depth = 1,
                         .a_panel = panel,
                         .b = packed,
                         .c = r.c,
                         .c_row = r.c_row,
                         .keep = keep,
                         .bias = bias});
}

template <class Real>
void Affine<Real>::forward(std::size_t rows, const Real* x, const Real* W, const Real* b, Real* y) {
  if (is_small<Real>(packed_size(in, out))) {
    grow(packed, packed_size(in, out));
    pack_turned(Unpacked<Real>{out, in, in, W}, packed.data());
    return multiply_packed<Real>({rows, x, in, y, out}, in, out, packed.data(), b, 0);
  }
  if (b)
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(b, out, y + i * out);
  gemm(Real(1), {x, rows, in, in}, {W, out, in, in, true}, Real(b != nullptr), y, out);
}

template <class Real>
void Affine<Real>::weight_slopes(std::size_t rows, const Real* x, const Real* dy, const Slopes<Real>& slopes,
                                 std::size_t block) const {
  if (!wants(slopes, block)) return;
  gemm(slopes.share, {dy, rows, out, out, true}, {x, rows, in, in}, slopes.keep, slopes.g[block], in);
}

template <class Real>
void Affine<Real>::bias_slopes(std::size_t rows, const Real* dy, const Slopes<Real>& slopes, std::size_t block) const {
  if (!wants(slopes, block)) return;
  constexpr std::size_t columns_at_once = 64;
  for (std::size_t first = 0; first < out; first += columns_at_once) {
    Real sum[columns_at_once];
    const std::size_t columns = std::min(columns_at_once, out - first);
    sum_over_rows(RowSums<Real>{rows, out, columns, dy + first, nullptr, sum});
    put_shares(columns, sum, slopes.share, slopes.keep, slopes.g[block] + first);
  }
}

template <class Real>
void Affine<Real>::input_slopes(std::size_t rows, const Real* dy, const Real* W, Real* dx) {
  if (is_small<Real>(packed_size(out, in))) {
    grow(packed, packed_size(out, in));
    pack(Unpacked<Real>{out, in, in, W}, packed.data());
    return multiply_packed<Real>({rows, dy, out, dx, in}, out, in, packed.data(), nullptr, 0);
  }
  gemm(Real(1), {dy, rows, out, out}, {W, out, in, in}, Real(0), dx, in);
}

template void multiply_packed(const StridedRows<float>&, std::size_t, std::size_t, const float*, const float*, float);
template void multiply_packed(const StridedRows<double>&, std::size_t, std::size_t, const double*, const double*,
                              double);
template struct Affine<float>;
template struct Affine<double>;
template void sum_rows(std::size_t, std::size_t, const float*, float*);
template void sum_rows(std::size_t, std::size_t, const double*, double*);
template void write_slopes(std::span<const float>, const Slopes<float>&, std::size_t);
template void write_slopes(std::span<const double>, const Slopes<double>&, std::size_t);

}  // namespace kelvin
