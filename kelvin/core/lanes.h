// SPDX-License-Identifier: Apache-2.0
// Vectors as wide as the instruction set being compiled for, for *.simd.cpp sources only. Arithmetic is the compiler's
// own on vector types; here are the few things it has no operator for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#if KELVIN_X86
#include <immintrin.h>
#endif

namespace kelvin::KELVIN_ISA {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

typedef std::uint32_t Words __attribute__((vector_size(vector_bytes)));
typedef std::int32_t Integers __attribute__((vector_size(vector_bytes)));
typedef std::uint64_t LongWords __attribute__((vector_size(vector_bytes)));
typedef std::int64_t LongIntegers __attribute__((vector_size(vector_bytes)));
typedef float Floats __attribute__((vector_size(vector_bytes)));
typedef double Doubles __attribute__((vector_size(vector_bytes)));

template <class Real>
struct LanesOf;
template <>
struct LanesOf<float> {
  typedef Floats Vector;
};
template <>
struct LanesOf<double> {
  typedef Doubles Vector;
};
template <class Real>
using Lanes = typename LanesOf<Real>::Vector;
template <class Real>
inline constexpr int lanes = vector_bytes / int(sizeof(Real));

#define KELVIN_INLINE [[gnu::always_inline]] inline

template <class Real>
KELVIN_INLINE Lanes<Real> load(const Real* from) {
  Lanes<Real> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class Real>
KELVIN_INLINE void store(Real* to, Lanes<Real> v) {
  std::memcpy(to, &v, sizeof v);
}
// Past the caches, where `to` is aligned as lanes are: for arrays that would not stay there, and need not be read
// before they are written. What follows may not see it before `streamed`.
template <class Real>
KELVIN_INLINE void stream(Real* to, Lanes<Real> v) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)v);
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), (__m256i)v);
#else
  store<Real>(to, v);
#endif
}
KELVIN_INLINE void streamed() {
#if defined(__AVX2__)
  _mm_sfence();
#endif
}
// The first `count` lanes only, from one to all of them; the others are 0.
template <class Real>
KELVIN_INLINE Lanes<Real> load_some(const Real* from, std::size_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) return (Floats)_mm512_maskz_loadu_ps(__mmask16(0xffff >> (16 - count)), from);
  else return (Doubles)_mm512_maskz_loadu_pd(__mmask8(0xff >> (8 - count)), from);
#else
  if (count == std::size_t(lanes<Real>)) return load(from);
  Lanes<Real> v = {};
  std::memcpy(&v, from, count * sizeof(Real));
  return v;
#endif
}
template <class Real>
KELVIN_INLINE void store_some(Real* to, Lanes<Real> v, std::size_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4) _mm512_mask_storeu_ps(to, __mmask16(0xffff >> (16 - count)), (__m512)v);
  else _mm512_mask_storeu_pd(to, __mmask8(0xff >> (8 - count)), (__m512d)v);
#else
  if (count == std::size_t(lanes<Real>)) return store<Real>(to, v);
  std::memcpy(to, &v, count * sizeof(Real));
#endif
}

// The first `count` lanes, with 0 in the others.
KELVIN_INLINE Floats first_of(Floats v, std::size_t count) {
#if defined(__AVX512F__)
  return (Floats)_mm512_maskz_mov_ps(__mmask16(0xffff >> (16 - count)), (__m512)v);
#else
  Floats out = {};
  std::memcpy(&out, &v, count * sizeof(float));
  return out;
#endif
}
KELVIN_INLINE Doubles first_of(Doubles v, std::size_t count) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_maskz_mov_pd(__mmask8(0xff >> (8 - count)), (__m512d)v);
#else
  Doubles out = {};
  std::memcpy(&out, &v, count * sizeof(double));
  return out;
#endif
}

template <class Real>
KELVIN_INLINE Lanes<Real> all(Real x) {
  return x - Lanes<Real>{};
}

// The 64-bit products of the low halves of a and m.
KELVIN_INLINE LongWords multiply(LongWords a, std::uint32_t m) {
#if defined(__AVX512F__)
  return (LongWords)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(m));
#elif defined(__AVX2__)
  return (LongWords)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(m));
#elif KELVIN_X86
  return (LongWords)_mm_mul_epu32((__m128i)a, _mm_set1_epi64x(m));
#else
  return (a & 0xffffffffu) * m;
#endif
}

// The high halves where the low ones were, as a >> 32 has them; on x86 a shuffle, since shifts wait where products do.
KELVIN_INLINE LongWords high_halves(LongWords a) {
#if defined(__AVX512F__)
  return (LongWords)_mm512_shuffle_epi32((__m512i)a, _MM_PERM_DDBB);
#elif defined(__AVX2__)
  return (LongWords)_mm256_shuffle_epi32((__m256i)a, 0xf5);
#elif KELVIN_X86
  return (LongWords)_mm_shuffle_epi32((__m128i)a, 0xf5);
#else
  return a >> 32;
#endif
}

KELVIN_INLINE float sum(Floats v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps((__m512)v);
#else
  float x[lanes<float>];
  std::memcpy(x, &v, sizeof v);
  for (int half = lanes<float> / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  return x[0];
#endif
}
KELVIN_INLINE double sum(Doubles v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_pd((__m512d)v);
#else
  double x[lanes<double>];
  std::memcpy(x, &v, sizeof v);
  for (int half = lanes<double> / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  return x[0];
#endif
}

// The largest lane.
KELVIN_INLINE float largest(Floats v) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_ps((__m512)v);
#else
  float top = v[0];
  for (int lane = 1; lane < lanes<float>; ++lane) top = v[lane] > top ? v[lane] : top;
  return top;
#endif
}
KELVIN_INLINE double largest(Doubles v) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_pd((__m512d)v);
#else
  double top = v[0];
  for (int lane = 1; lane < lanes<double>; ++lane) top = v[lane] > top ? v[lane] : top;
  return top;
#endif
}
// The largest of n numbers, of which there is one at least.
template <class Real>
KELVIN_INLINE Real largest(const Real* x, std::size_t n) {
  Lanes<Real> tops = all(x[0]);
  std::size_t k = 0;
  for (; k + lanes<Real> <= n; k += lanes<Real>) tops = load(x + k) > tops ? load(x + k) : tops;
  Real top = largest(tops);
  for (; k < n; ++k) top = x[k] > top ? x[k] : top;
  return top;
}

KELVIN_INLINE Floats root(Floats x) {
#if defined(__AVX512F__)
  return (Floats)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX2__)
  return (Floats)_mm256_sqrt_ps((__m256)x);
#elif KELVIN_X86
  return (Floats)_mm_sqrt_ps((__m128)x);
#else
  for (int i = 0; i < lanes<float>; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}
KELVIN_INLINE Doubles root(Doubles x) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX2__)
  return (Doubles)_mm256_sqrt_pd((__m256d)x);
#elif KELVIN_X86
  return (Doubles)_mm_sqrt_pd((__m128d)x);
#else
  for (int i = 0; i < lanes<double>; ++i) x[i] = __builtin_sqrt(x[i]);
  return x;
#endif
}

// max(x, 0), and nan for nan.
KELVIN_INLINE Floats positive(Floats x) {
#if defined(__AVX512F__)
  return (Floats)_mm512_max_ps(_mm512_setzero_ps(), (__m512)x);
#elif defined(__AVX2__)
  return (Floats)_mm256_max_ps(_mm256_setzero_ps(), (__m256)x);
#else
  return x < 0 ? Floats{} : x;
#endif
}
KELVIN_INLINE Doubles positive(Doubles x) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_max_pd(_mm512_setzero_pd(), (__m512d)x);
#elif defined(__AVX2__)
  return (Doubles)_mm256_max_pd(_mm256_setzero_pd(), (__m256d)x);
#else
  return x < 0 ? Doubles{} : x;
#endif
}

// (a0 b0 a1 b1 ...) in two vectors, and back.
#define KELVIN_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
template <class Vector>
KELVIN_INLINE void interleave(Vector a, Vector b, Vector& low, Vector& high) {
  if constexpr (sizeof(Vector) / sizeof(a[0]) == 16) {
    low = KELVIN_SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    high = KELVIN_SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  } else if constexpr (sizeof(Vector) / sizeof(a[0]) == 8) {
    low = KELVIN_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    high = KELVIN_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  } else if constexpr (sizeof(Vector) / sizeof(a[0]) == 4) {
    low = KELVIN_SHUFFLE(a, b, 0, 4, 1, 5);
    high = KELVIN_SHUFFLE(a, b, 2, 6, 3, 7);
  } else {
    low = KELVIN_SHUFFLE(a, b, 0, 2);
    high = KELVIN_SHUFFLE(a, b, 1, 3);
  }
}
template <class Vector>
KELVIN_INLINE void separate(Vector low, Vector high, Vector& a, Vector& b) {
  if constexpr (sizeof(Vector) / sizeof(a[0]) == 16) {
    a = KELVIN_SHUFFLE(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    b = KELVIN_SHUFFLE(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  } else if constexpr (sizeof(Vector) / sizeof(a[0]) == 8) {
    a = KELVIN_SHUFFLE(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    b = KELVIN_SHUFFLE(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
  } else if constexpr (sizeof(Vector) / sizeof(a[0]) == 4) {
    a = KELVIN_SHUFFLE(low, high, 0, 2, 4, 6);
    b = KELVIN_SHUFFLE(low, high, 1, 3, 5, 7);
  } else {
    a = KELVIN_SHUFFLE(low, high, 0, 2);
    b = KELVIN_SHUFFLE(low, high, 1, 3);
  }
}

// As many vectors as a vector has lanes, the rows of a square, turned by interleaving its halves until they are single
// numbers.
template <class Real>
KELVIN_INLINE void turn_square(Lanes<Real> (&square)[lanes<Real>]) {
  constexpr int side = lanes<Real>;
  Lanes<Real> next[side];
  for (int halves = 1; halves < side; halves *= 2) {
    for (int k = 0; k < side / 2; ++k) interleave(square[k], square[k + side / 2], next[2 * k], next[2 * k + 1]);
    std::memcpy(square, next, sizeof next);
  }
}

// log x for positive normal x: x = 2^e m with m between sqrt(1/2) and sqrt(2), and a polynomial in m - 1 (float), or
// the series of 2 atanh(s), s = (m - 1)/(m + 1) (double). Right to about one unit in the last place.
KELVIN_INLINE Floats logarithm(Floats x) {
  const Integers bits = (Integers)x, e = (bits - 0x3f3504f3) >> 23;
  const Floats f = (Floats)(bits - (e << 23)) - 1.0f, n = __builtin_convertvector(e, Floats), z = f * f;
  Floats y = f * 7.0376836292e-2f - 1.1514610310e-1f;
  y = y * f + 1.1676998740e-1f;
  y = y * f - 1.2420140846e-1f;
  y = y * f + 1.4249322787e-1f;
  y = y * f - 1.6668057665e-1f;
  y = y * f + 2.0000714765e-1f;
  y = y * f - 2.4999993993e-1f;
  y = y * f + 3.3333331174e-1f;
  return f + (y * f * z + n * -2.12194440e-4f - 0.5f * z) + n * 0.693359375f;
}
KELVIN_INLINE Doubles logarithm(Doubles x) {
  const LongIntegers bits = (LongIntegers)x, e = (bits - 0x3fe6a09e667f3bcd) >> 52;
  const Doubles f = (Doubles)(bits - (e << 52)) - 1.0, n = __builtin_convertvector(e, Doubles);
  const Doubles s = f / (2.0 + f), z = s * s;
  Doubles y = z * (2.0 / 21) + 2.0 / 19;
  y = y * z + 2.0 / 17;
  y = y * z + 2.0 / 15;
  y = y * z + 2.0 / 13;
  y = y * z + 2.0 / 11;
  y = y * z + 2.0 / 9;
  y = y * z + 2.0 / 7;
  y = y * z + 2.0 / 5;
  y = y * z + 2.0 / 3;
  // 2s = f - s f, so that the large term is exact
  return f - s * (f - z * y) + n * 0x1.62e42fefa39efp-1;
}

// e^x for |x| < 87: x = n log 2 + r, a polynomial in r.
KELVIN_INLINE Floats exponential(Floats x) {
  const Floats shifted = x * 1.44269504f + 12582912.0f,
               n = shifted - 12582912.0f;  // the nearest whole number, in the low bits
  const Floats r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  Floats y = r * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r + 1.0f;
  return (Floats)((Integers)y + ((Integers)shifted << 23));
}

// sin and cos of x quarter turns, |x| <= 1/2.
KELVIN_INLINE void sine_cosine(Floats x, Floats& sine, Floats& cosine) {
  const Floats z = x * x;
  sine = x * (((z * -0.00460165789f + 0.0796800328f) * z - 0.645963460f) * z + 1.57079632f);
  cosine = ((z * -0.0204262504f + 0.253606362f) * z - 1.23369795f) * z + 1.0f;
}
KELVIN_INLINE void sine_cosine(Doubles turns, Doubles& sine, Doubles& cosine) {
  const Doubles x = turns * 1.57079632679489662, z = x * x;
  Doubles s = z * (1.0 / 355687428096000) - 1.0 / 1307674368000;
  s = s * z + 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  sine = s * z * x + x;
  Doubles c = z * (1.0 / 20922789888000) - 1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  cosine = c * z * z - 0.5 * z + 1.0;
}

}  // namespace kelvin::KELVIN_ISA
