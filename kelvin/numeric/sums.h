// SPDX-License-Identifier: Apache-2.0
// Sums over many numbers, taken in double, one version for each instruction set.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kelvin/core/isa.h"

namespace kelvin {

KELVIN_FOR_EACH_ISA(double dot(std::size_t n, const float* a, const float* b))
KELVIN_FOR_EACH_ISA(double dot(std::size_t n, const double* a, const double* b))

// Sum of a_i b_i; its order is a function of the length alone.
template <class Real>
double dot(std::span<const Real> a, std::span<const Real> b) {
  KELVIN_RETURN_BEST(dot(a.size(), a.data(), b.data()));
}

// Numbers kept in little memory: of floats the upper half, eight binary digits. Doubles are kept as they are.
using Coarse = std::uint16_t;
inline Coarse coarse(float x) { return Coarse((std::bit_cast<std::uint32_t>(x) + 0x8000) >> 16); }
inline double coarse(double x) { return x; }
inline float whole(Coarse x) { return std::bit_cast<float>(std::uint32_t(x) << 16); }
inline double whole(double x) { return x; }

// Some arrays of `size` numbers each.
template <class Stored>
struct Arrays {
  const Stored* const* first;
  std::size_t count, size;
};

KELVIN_FOR_EACH_ISA(void dots(const Arrays<Coarse>& x, const float* v, double* out))
KELVIN_FOR_EACH_ISA(void dots(const Arrays<double>& x, const double* v, double* out))

// The sum of x_i v_i for each array x; all in one pass, v being read once.
template <class Stored, class Real>
void dots(const Arrays<Stored>& x, const Real* v, double* out) {
  KELVIN_RETURN_BEST(dots(x, v, out));
}

KELVIN_FOR_EACH_ISA(void add_multiples(const Arrays<Coarse>& x, const double* c, float* v))
KELVIN_FOR_EACH_ISA(void add_multiples(const Arrays<double>& x, const double* c, double* v))

// v += the sum of c x over the arrays x; likewise.
template <class Stored, class Real>
void add_multiples(const Arrays<Stored>& x, const double* c, Real* v) {
  KELVIN_RETURN_BEST(add_multiples(x, c, v));
}

struct Weighed {
  double share, weight;  // share: the weight over the sum of all so far
};
KELVIN_FOR_EACH_ISA(void add_to_moments(std::size_t n, const float* x, Weighed by, double* mean, double* squares))
KELVIN_FOR_EACH_ISA(void add_to_moments(std::size_t n, const double* x, Weighed by, double* mean, double* squares))

// The next x of n running moments:  mean' = mean + share (x - mean),   squares' = squares + weight (x - mean)(x -
// mean').
template <class Real>
void add_to_moments(std::span<const Real> x, Weighed by, double* mean, double* squares) {
  KELVIN_RETURN_BEST(add_to_moments(x.size(), x.data(), by, mean, squares));
}

}  // namespace kelvin
