// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/sums.h"

#include "kelvin/core/lanes.h"

namespace kelvin::KELVIN_ISA {
namespace {

// Sixteen sums that do not wait for each other.
template <class Real>
KELVIN_INLINE double sum_of_products(std::size_t n, const Real* a, const Real* b) {
  constexpr std::size_t apart = 16;
  double sums[apart] = {}, total = 0;
  std::size_t i = 0;
  for (; i + apart <= n; i += apart)
    for (std::size_t k = 0; k < apart; ++k) sums[k] += double(a[i + k]) * double(b[i + k]);
  for (; i < n; ++i) total += double(a[i]) * double(b[i]);
  for (const double s : sums) total += s;
  return total;
}

template <class Real>
KELVIN_INLINE void add(std::size_t n, const Real* x, Weighed by, double* __restrict mean, double* __restrict squares) {
  for (std::size_t i = 0; i < n; ++i) {
    const double change = double(x[i]) - mean[i];
    mean[i] += change * by.share;
    squares[i] += by.weight * change * (double(x[i]) - mean[i]);
  }
}

template <class Real>
KELVIN_INLINE void multiple(std::size_t n, Real c, const Real* x, Real* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += c * x[i];
}

}  // namespace

double dot(std::size_t n, const float* a, const float* b) { return sum_of_products(n, a, b); }
double dot(std::size_t n, const double* a, const double* b) { return sum_of_products(n, a, b); }
void add_multiple(std::size_t n, double c, const float* x, float* y) { multiple(n, float(c), x, y); }
void add_multiple(std::size_t n, double c, const double* x, double* y) { multiple(n, c, x, y); }
void add_to_moments(std::size_t n, const float* x, Weighed by, double* mean, double* squares) {
  add(n, x, by, mean, squares);
}
void add_to_moments(std::size_t n, const double* x, Weighed by, double* mean, double* squares) {
  add(n, x, by, mean, squares);
}

}  // namespace kelvin::KELVIN_ISA
