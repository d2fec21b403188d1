// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/gemm.h"

#include <cblas.h>
#include <dlfcn.h>

#include "kelvin/core/error.h"
#include "kelvin/core/isa.h"

namespace kelvin {

const char* openblas_core() {
  constexpr const char* cores[] = {nullptr, "Haswell", "SkylakeX"};
  return cores[int(best_isa())];
}

namespace {

struct Blas {
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_dgemm) dgemm;
  decltype(&cblas_ssyrk) ssyrk;
  decltype(&cblas_dsyrk) dsyrk;
};

// Loaded at the first product, so that a program can say before what openblas_core tells.
Blas load() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error("cannot load OpenBLAS ({}); install Debian's libopenblas0", dlerror());
  const auto named = [&]<class F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    if (!function) throw Error("OpenBLAS has no {}; install Debian's libopenblas0", name);
  };
  Blas blas{};
  decltype(&openblas_set_num_threads) threads = nullptr;
  named(blas.sgemm, "cblas_sgemm");
  named(blas.dgemm, "cblas_dgemm");
  named(blas.ssyrk, "cblas_ssyrk");
  named(blas.dsyrk, "cblas_dsyrk");
  named(threads, "openblas_set_num_threads");
  threads(1);  // so that sums are always taken in the same order; walkers are what runs in parallel
  return blas;
}

const Blas& blas() {
  static const Blas loaded = load();
  return loaded;
}

template <class Real>
CBLAS_TRANSPOSE turn(const Factor<Real>& f) {
  return f.turned ? CblasTrans : CblasNoTrans;
}

template <class Real, class Gemm>
void product(Gemm gemm, Real alpha, Factor<Real> a, Factor<Real> b, Real beta, Real* c, std::size_t stride) {
  const std::size_t m = a.turned ? a.columns : a.rows, k = a.turned ? a.rows : a.columns;
  const std::size_t n = b.turned ? b.rows : b.columns;
  gemm(CblasRowMajor, turn(a), turn(b), blasint(m), blasint(n), blasint(k), alpha, a.data, blasint(a.stride), b.data,
       blasint(b.stride), beta, c, blasint(stride));
}

template <class Real, class Syrk>
void upper_square(Syrk syrk, Factor<Real> a, Real* c, std::size_t stride) {
  const std::size_t n = a.turned ? a.columns : a.rows, k = a.turned ? a.rows : a.columns;
  syrk(CblasRowMajor, CblasUpper, turn(a), blasint(n), blasint(k), Real(1), a.data, blasint(a.stride), Real(0), c,
       blasint(stride));
}

}  // namespace

void gemm(float alpha, Factor<float> a, Factor<float> b, float beta, float* c, std::size_t stride) {
  product(blas().sgemm, alpha, a, b, beta, c, stride);
}
void gemm(double alpha, Factor<double> a, Factor<double> b, double beta, double* c, std::size_t stride) {
  product(blas().dgemm, alpha, a, b, beta, c, stride);
}
void gram(Factor<float> a, float* c, std::size_t stride) { upper_square(blas().ssyrk, a, c, stride); }
void gram(Factor<double> a, double* c, std::size_t stride) { upper_square(blas().dsyrk, a, c, stride); }

}  // namespace kelvin
