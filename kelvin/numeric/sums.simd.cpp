// SPDX-License-Identifier: Apache-2.0
#include "kelvin/numeric/sums.h"

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

// work<K>(k, first, last) for arrays k to k + K - 1 and numbers first to last - 1, until all have been met: up to eight
// arrays at once, for whose sums there are registers, and a thousand numbers, which stay in L1 for the next eight.
template <int K = 1, class Work>
KELVIN_INLINE void with(std::size_t count, const Work& work, std::size_t k, std::size_t first, std::size_t last) {
  if constexpr (K < 8)
    if (count > K) return with<K + 1>(count, work, k, first, last);
  work.template operator()<K>(k, first, last);
}
template <class Work>
KELVIN_INLINE void by_eights(std::size_t count, std::size_t size, const Work& work) {
  constexpr std::size_t stretch = 1024;
  for (std::size_t first = 0; first < size; first += stretch)
    for (std::size_t k = 0; k < count; k += 8)
      with(count - k, work, k, first, first + stretch < size ? first + stretch : size);
}

KELVIN_INLINE Floats numbers(const Coarse* from) {
#if defined(__AVX512F__)
  return (Floats)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)from)), 16);
#elif defined(__AVX2__)
  return (Floats)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)from)), 16);
#else
  Floats x;
  for (int i = 0; i < lanes<float>; ++i) x[i] = __builtin_bit_cast(float, std::uint32_t(from[i]) << 16);
  return x;
#endif
}
KELVIN_INLINE Doubles numbers(const double* from) { return load(from); }
KELVIN_INLINE float one(const Coarse* from) { return __builtin_bit_cast(float, std::uint32_t(*from) << 16); }
KELVIN_INLINE double one(const double* from) { return *from; }

// Over a stretch in Real, over all of them in double.
template <class Stored, class Real>
KELVIN_INLINE void dots_(const Arrays<Stored>& x, const Real* v, double* out) {
  for (std::size_t k = 0; k < x.count; ++k) out[k] = 0;
  by_eights(x.count, x.size, [&]<int K>(std::size_t at, std::size_t first, std::size_t last) {
    const Stored* const* mine = x.first + at;
    Lanes<Real> sums[K] = {};
    std::size_t i = first;
    for (; i + lanes<Real> <= last; i += lanes<Real>)
      for (int k = 0; k < K; ++k) sums[k] += numbers(mine[k] + i) * load(v + i);
    for (int k = 0; k < K; ++k) {
      Real rest = 0;
      for (std::size_t j = i; j < last; ++j) rest += one(mine[k] + j) * v[j];
      out[at + std::size_t(k)] += double(sum(sums[k]) + rest);
    }
  });
}

template <class Stored, class Real>
KELVIN_INLINE void add_multiples_(const Arrays<Stored>& x, const double* c, Real* v) {
  by_eights(x.count, x.size, [&]<int K>(std::size_t at, std::size_t first, std::size_t last) {
    const Stored* const* mine = x.first + at;
    Real share[K];
    for (int k = 0; k < K; ++k) share[k] = Real(c[at + std::size_t(k)]);
    std::size_t i = first;
    for (; i + lanes<Real> <= last; i += lanes<Real>) {
      Lanes<Real> y = load(v + i);
      for (int k = 0; k < K; ++k) y += share[k] * numbers(mine[k] + i);
      store<Real>(v + i, y);
    }
    for (; i < last; ++i)
      for (int k = 0; k < K; ++k) v[i] += share[k] * one(mine[k] + i);
  });
}

}  // namespace

double dot(std::size_t n, const float* a, const float* b) { return sum_of_products(n, a, b); }
double dot(std::size_t n, const double* a, const double* b) { return sum_of_products(n, a, b); }
void dots(const Arrays<Coarse>& x, const float* v, double* out) { dots_(x, v, out); }
void dots(const Arrays<double>& x, const double* v, double* out) { dots_(x, v, out); }
void add_multiples(const Arrays<Coarse>& x, const double* c, float* v) { add_multiples_(x, c, v); }
void add_multiples(const Arrays<double>& x, const double* c, double* v) { add_multiples_(x, c, v); }
void add_to_moments(std::size_t n, const float* x, Weighed by, double* mean, double* squares) {
  add(n, x, by, mean, squares);
}
void add_to_moments(std::size_t n, const double* x, Weighed by, double* mean, double* squares) {
  add(n, x, by, mean, squares);
}

}  // namespace kelvin::KELVIN_ISA
