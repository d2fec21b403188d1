// SPDX-License-Identifier: Apache-2.0
// Functions of whole vectors, for *.simd.cpp sources only: right to 3 units in the last place wherever the result is a
// normal number, and nan for nan. Our own rather than a library's, so that their bits are ours on every machine: with
// fused multiply-add they do not depend on the width of vectors, and no package has to be there.
#pragma once
#include "kelvin/core/lanes.h"

namespace kelvin::KELVIN_ISA {

// How numbers are written in bits, and where functions end: e^x is 0 below `lowest` and infinite above `highest`, and
// 1 - e^-x is 1 from `flat` on; e^(-x^2 / 2) is 0 beyond `bell_ends`.
template <class Vector>
struct NumberFormat;
template <>
struct NumberFormat<Floats> {
  typedef float Real;
  typedef Integers Bits;
  static constexpr int fraction = 23;
  static constexpr std::int32_t sign = INT32_MIN, one = 0x3f800000, upper_half = ~0xfff;
  static constexpr float to_whole = 0x1.8p23f, log2_e = 0x1.715476p0f, log_2 = 0.693359375f,
                         log_2_rest = -2.12194440e-4f;
  static constexpr float lowest = -104, highest = 89, flat = 20, bell_ends = 14.4f;
};
template <>
struct NumberFormat<Doubles> {
  typedef double Real;
  typedef LongIntegers Bits;
  static constexpr int fraction = 52;
  static constexpr std::int64_t sign = INT64_MIN, one = 0x3ff0000000000000, upper_half = ~0x7ffffff;
  static constexpr double to_whole = 0x1.8p52, log2_e = 0x1.71547652b82fep0, log_2 = 0x1.62e42feep-1,
                          log_2_rest = 0x1.a39ef35793c76p-33;
  static constexpr double lowest = -746, highest = 710, flat = 40, bell_ends = 38.6;
};

// Limits that let nan through.
template <class Vector>
KELVIN_INLINE Vector at_most(Vector x, typename NumberFormat<Vector>::Real top) {
  return x > top ? top - Vector{} : x;
}
template <class Vector>
KELVIN_INLINE Vector at_least(Vector x, typename NumberFormat<Vector>::Real bottom) {
  return x < bottom ? bottom - Vector{} : x;
}
template <class Vector>
KELVIN_INLINE Vector magnitude(Vector x) {
  typedef NumberFormat<Vector> F;
  return (Vector)((typename F::Bits)x & ~F::sign);
}
template <class Vector>
KELVIN_INLINE Vector with_sign_of(Vector x, Vector size) {
  typedef NumberFormat<Vector> F;
  return (Vector)((typename F::Bits)size | ((typename F::Bits)x & F::sign));
}

// c0 + c1 x + c2 x^2 + ...
template <class Vector, class Real>
KELVIN_INLINE Vector polynomial(Vector, Real c) {
  return c - Vector{};
}
template <class Vector, class Real, class... Reals>
KELVIN_INLINE Vector polynomial(Vector x, Real first, Reals... others) {
  return x * polynomial(x, others...) + first;
}

// x = n log 2 + r with |r| <= log(2) / 2; the bits of `shifted` count n from those of `to_whole`.
template <class Vector>
struct Reduced {
  Vector shifted, n, r;
};
template <class Vector>
KELVIN_INLINE Reduced<Vector> reduced(Vector x) {
  typedef NumberFormat<Vector> F;
  const Vector shifted = x * F::log2_e + F::to_whole, n = shifted - F::to_whole;
  return {shifted, n, (x - n * F::log_2) - n * F::log_2_rest};
}

// e^r - 1 for |r| <= log(2) / 2: r + r^2 times the polynomial of least relative error.
KELVIN_INLINE Floats expm1_near_zero(Floats r) {
  return r + r * r * polynomial(r, 0.49999998132f, 0.16666542677f, 0.041667204351f, 0.0083666477568f, 0.0013882467768f);
}
KELVIN_INLINE Doubles expm1_near_zero(Doubles r) {
  return r + r * r *
                 polynomial(r, 0.500000000000000528, 0.166666666666665877, 0.041666666666575401, 0.00833333333339045,
                            0.00138888889320473994, 0.000198412697175141787, 0.0000248015046554561258,
                            2.75574083084039007e-6, 2.76262968412616007e-7, 2.50537491143068676e-8);
}

// 2^k for k that leaves a normal number.
template <class Vector, class Bits>
KELVIN_INLINE Vector power_of_two(Bits k) {
  typedef NumberFormat<Vector> F;
  return (Vector)((k << F::fraction) + F::one);
}

// y 2^n, rounded once, for any n that `reduced` finds.
template <class Vector>
KELVIN_INLINE Vector scaled(Vector y, const Reduced<Vector>& x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(y[0]) == 4) return (Floats)_mm512_scalef_ps((__m512)y, (__m512)x.n);
  else return (Doubles)_mm512_scalef_pd((__m512d)y, (__m512d)x.n);
#else
  typedef NumberFormat<Vector> F;
  typedef typename F::Bits Bits;
  const Bits k = (Bits)x.shifted - (Bits)(F::to_whole - Vector{}), half = k >> 1;  // 2^k itself may be out of range
  return y * power_of_two<Vector>(half) * power_of_two<Vector>(k - half);
#endif
}

// e^x.
template <class Vector>
KELVIN_INLINE Vector exp(Vector x) {
  typedef NumberFormat<Vector> F;
  const Reduced<Vector> part = reduced(at_most(at_least(x, F::lowest), F::highest));
  return scaled(1 + expm1_near_zero(part.r), part);
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1) while 2^n is a normal number: |x| <= 87 in float, 708 in double.
template <class Vector>
KELVIN_INLINE Vector expm1(Vector x) {
  typedef NumberFormat<Vector> F;
  typedef typename F::Bits Bits;
  const Reduced<Vector> part = reduced(x);
  const Vector s = power_of_two<Vector>((Bits)part.shifted);
  return s * expm1_near_zero(part.r) + (s - 1);
}

// tanh |x| = E / (E + 2), E = e^(2 |x|) - 1.
template <class Vector>
KELVIN_INLINE Vector tanh(Vector x) {
  const Vector size = magnitude(x), e = expm1(at_most(size + size, NumberFormat<Vector>::flat));
  return with_sign_of(x, e / (e + 2));
}

// log(1 + u) for u from 0 to 1: 2 atanh(w/2) = w + w^3/12 + w^5/80 + ..., w = 2u / (2 + u).
KELVIN_INLINE Floats log1p(Floats u) {
  const Floats w = (u + u) / (2 + u), z = w * w;
  return w + w * z * polynomial(z, 0.0833330163f, 0.0125067827f, 0.00218742389f, 0.000547365587f);
}
KELVIN_INLINE Doubles log1p(Doubles u) {
  const Doubles w = (u + u) / (2 + u), z = w * w;
  return w + w * z *
                 polynomial(z, 0.0833333333333390501, 0.0124999999992142767, 0.00223214288586160684,
                            0.000434027302889173727, 0.0000887826857307977374, 0.000018757335354931112,
                            4.1418181462293879e-6, 7.60547793477898895e-7, 3.35952361382323763e-7);
}

// The probability of a normal number beyond a >= 0, (1 - erf(a / sqrt 2)) / 2, is its density times a smooth function:
// a polynomial in (a - 4) / (a + 4), divided by 1 + a/4. This is the quotient of that probability and e^(-a^2 / 2).
KELVIN_INLINE Floats tail_over_bell(Floats a) {
  const Floats t = 1 / (a + 4);
  return 4 * t *
         polynomial((a - 4) * t, 0.1888212838f, -0.151974145f, 0.09678422913f, -0.04663091413f, 0.01510087239f,
                    -0.001881000823f, -0.0008775527333f, 0.0003921016317f, 4.366470258e-5f, -3.354895601e-5f);
}
KELVIN_INLINE Doubles tail_over_bell(Doubles a) {
  const Doubles t = 1 / (a + 4);
  return 4 * t *
         polynomial((a - 4) * t, 0.188821282603937828, -0.1519741604929725478, 0.09678435018556629572,
                    -0.04663046448996499447, 0.01509914372214794753, -0.001885047240182929613,
                    -0.0008699230811890139024, 0.0004077045948729777247, 0.00003333597779304615802,
                    -0.00005777359893289591468, -4.765085726338124997e-7, 8.785633109425679491e-6,
                    1.772275585511384341e-7, -1.478766564173017193e-6, -1.530507481865099799e-7,
                    2.536527325211682026e-7, 6.158900605442191864e-8, -3.762580737425204134e-8,
                    -1.560625618669721504e-8, 3.38213848011021064e-9, 1.989184917259978702e-9);
}

// e^(-a^2 / 2) for a up to where it ends. Half of a^2 is taken in two pieces of which the first is exact: what rounding
// took from it, the exponential would make a relative error.
template <class Vector>
KELVIN_INLINE Vector bell(Vector a) {
  typedef NumberFormat<Vector> F;
  const typename F::Real half = 0.5;
  const Vector first = (Vector)((typename F::Bits)a & F::upper_half);
  const Vector large = -half * first * first, small = -half * (a - first) * (a + first);
  Reduced<Vector> part = reduced(large + small);
  part.r = ((large - part.n * F::log_2) - part.n * F::log_2_rest) + small;
  return scaled(1 + expm1_near_zero(part.r), part);
}

}  // namespace kelvin::KELVIN_ISA
