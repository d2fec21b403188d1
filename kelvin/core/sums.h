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
  KELVIN_RETURN_BEST(dot(a.size(), a.data(), b.data()))
}

}  // namespace kelvin
