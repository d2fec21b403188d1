// SPDX-License-Identifier: Apache-2.0
// Sums over many numbers, taken in double, one version for each instruction set.
#pragma once
#include <cstddef>
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

KELVIN_FOR_EACH_ISA(void add_multiple(std::size_t n, double c, const float* x, float* y))
KELVIN_FOR_EACH_ISA(void add_multiple(std::size_t n, double c, const double* x, double* y))

// y += c x
template <class Real>
void add_multiple(double c, std::span<const Real> x, std::span<Real> y) {
  KELVIN_RETURN_BEST(add_multiple(x.size(), c, x.data(), y.data()));
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
