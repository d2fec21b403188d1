// SPDX-License-Identifier: Apache-2.0
#include "kelvin/model/gemm.h"

#include <cblas.h>

namespace kelvin {
namespace {

// One thread, so that sums are always taken in the same order; walkers and chunks are what runs in parallel.
[[maybe_unused]] const bool one_thread = (openblas_set_num_threads(1), true);

template <class Real, class Blas>
void product(Blas blas, Real alpha, Factor<Real> a, Factor<Real> b, Real beta, Real* c) {
  const auto turn = [](const Factor<Real>& f) { return f.turned ? CblasTrans : CblasNoTrans; };
  const std::size_t m = a.turned ? a.columns : a.rows, k = a.turned ? a.rows : a.columns;
  const std::size_t n = b.turned ? b.rows : b.columns;
  blas(CblasRowMajor, turn(a), turn(b), blasint(m), blasint(n), blasint(k), alpha, a.data, blasint(a.columns), b.data,
       blasint(b.columns), beta, c, blasint(n));
}

}  // namespace

void gemm(float alpha, Factor<float> a, Factor<float> b, float beta, float* c) {
  product(cblas_sgemm, alpha, a, b, beta, c);
}
void gemm(double alpha, Factor<double> a, Factor<double> b, double beta, double* c) {
  product(cblas_dgemm, alpha, a, b, beta, c);
}

}  // namespace kelvin
