// SPDX-License-Identifier: Apache-2.0
// The energy of independent harmonic coordinates, one version for each instruction set: toys, gaussian priors, weight
// decay.
#pragma once
#include <cstddef>
#include <span>

#include "kelvin/core/isa.h"

namespace kelvin {

// U = sum of k (q - m)^2 / 2; writes its slopes. A step of 0 uses the one stiffness (the one mean) for all.
template <class Real>
struct Wells {
  const Real *stiffness, *mean;
  std::size_t stiffness_step, mean_step;
};

KELVIN_FOR_EACH_ISA(double quadratic(std::size_t n, const Wells<float>&, const float* q, float* g))
KELVIN_FOR_EACH_ISA(double quadratic(std::size_t n, const Wells<double>&, const double* q, double* g))

// g += k (q - m); returns the sum of (q - m)^2.
KELVIN_FOR_EACH_ISA(double add_springs(std::size_t n, double k, double m, const float* q, float* g))
KELVIN_FOR_EACH_ISA(double add_springs(std::size_t n, double k, double m, const double* q, double* g))
template <class Real>
double add_springs(double k, double m, std::span<const Real> q, std::span<Real> g) {
  KELVIN_RETURN_BEST(add_springs(q.size(), k, m, q.data(), g.data()));
}

}  // namespace kelvin
