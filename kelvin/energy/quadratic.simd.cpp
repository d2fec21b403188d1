// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/quadratic.h"

#include "kelvin/core/lanes.h"

namespace kelvin::KELVIN_ISA {
namespace {

// Sums of a thousand numbers at a time in Real, of those in double. The first stretch may be shorter, so that the
// others begin where lanes are aligned.
template <class Real, bool streaming>
KELVIN_INLINE double energy(std::size_t n, const Wells<Real>& w, const Real* q, Real* g) {
  constexpr std::size_t stretch = 1024;
  double total = 0;
  std::size_t last = 0;
  for (std::size_t first = 0; first < n; first = last) {
    const std::size_t unaligned = streaming ? std::size_t(g + first) / sizeof(Real) % lanes<Real> : 0;
    last = first + (unaligned ? lanes<Real> - unaligned : stretch);
    if (last > n) last = n;
    Lanes<Real> sums = {};
    std::size_t i = first;
    for (; i + lanes<Real> <= last; i += lanes<Real>) {
      const Lanes<Real> k = w.stiffness_step ? load(w.stiffness + i) : all(*w.stiffness);
      const Lanes<Real> d = load(q + i) - (w.mean_step ? load(w.mean + i) : all(*w.mean)), slope = k * d;
      if constexpr (streaming) stream<Real>(g + i, slope);
      else store<Real>(g + i, slope);
      sums += slope * d;
    }
    Real rest = 0;
    for (; i < last; ++i) {
      const Real d = q[i] - w.mean[i * w.mean_step];
      g[i] = w.stiffness[i * w.stiffness_step] * d;
      rest += g[i] * d;
    }
    total += double(sum(sums) + rest);
  }
  if constexpr (streaming) streamed();
  return total / 2;
}

constexpr std::size_t beyond_caches = std::size_t(1) << 25;  // bytes

template <class Real>
KELVIN_INLINE double energy(std::size_t n, const Wells<Real>& w, const Real* q, Real* g) {
  return n * sizeof(Real) > beyond_caches ? energy<Real, true>(n, w, q, g) : energy<Real, false>(n, w, q, g);
}

// Sixteen sums that do not wait for each other.
template <class Real>
KELVIN_INLINE double springs(std::size_t n, double stiffness, double mean, const Real* q, Real* __restrict g) {
  constexpr std::size_t apart = 16;
  const Real k = Real(stiffness), m = Real(mean);
  double sums[apart] = {}, total = 0;
  const auto pull = [&](std::size_t i) {
    const Real d = q[i] - m;
    g[i] += k * d;
    return double(d) * double(d);
  };
  std::size_t i = 0;
  for (; i + apart <= n; i += apart)
    for (std::size_t s = 0; s < apart; ++s) sums[s] += pull(i + s);
  for (; i < n; ++i) total += pull(i);
  for (const double s : sums) total += s;
  return total;
}

}  // namespace

double add_springs(std::size_t n, double k, double m, const float* q, float* g) { return springs(n, k, m, q, g); }
double add_springs(std::size_t n, double k, double m, const double* q, double* g) { return springs(n, k, m, q, g); }
double quadratic(std::size_t n, const Wells<float>& w, const float* q, float* g) { return energy(n, w, q, g); }
double quadratic(std::size_t n, const Wells<double>& w, const double* q, double* g) { return energy(n, w, q, g); }

}  // namespace kelvin::KELVIN_ISA
