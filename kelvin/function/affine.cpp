// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/affine.h"

#include <algorithm>

#include "kelvin/function/gemm.h"
#include "kelvin/function/sequence_loops.h"

namespace kelvin {
template <class Real>
void sum_rows(std::size_t rows, std::size_t width, const Real* x, Real* sum) {
  sum_over_rows(RowSums<Real>{rows, width, width, x, nullptr, sum});
}

template <class Real>
void write_slopes(std::span<const Real> sums, const Slopes<Real>& slopes, std::size_t block) {
  if (!wants(slopes, block)) return;
  Real* g = slopes.g[block];
  for (std::size_t k = 0; k < sums.size(); ++k)
    g[k] = (slopes.keep == 0 ? Real(0) : slopes.keep * g[k]) + slopes.share * sums[k];
}

template <class Real>
void Affine<Real>::forward(std::size_t rows, const Real* x, const Real* W, const Real* b, Real* y) const {
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
    Real* g = slopes.g[block] + first;
    for (std::size_t k = 0; k < columns; ++k)
      g[k] = (slopes.keep == 0 ? Real(0) : slopes.keep * g[k]) + slopes.share * sum[k];
  }
}

template <class Real>
void Affine<Real>::input_slopes(std::size_t rows, const Real* dy, const Real* W, Real* dx) const {
  gemm(Real(1), {dy, rows, out, out}, {W, out, in, in}, Real(0), dx, in);
}

template struct Affine<float>;
template struct Affine<double>;
template void sum_rows(std::size_t, std::size_t, const float*, float*);
template void sum_rows(std::size_t, std::size_t, const double*, double*);
template void write_slopes(std::span<const float>, const Slopes<float>&, std::size_t);
template void write_slopes(std::span<const double>, const Slopes<double>&, std::size_t);

}  // namespace kelvin
