// SPDX-License-Identifier: Apache-2.0
// Loops of constraints, one version for each instruction set (constraint.simd.cpp).
#pragma once
#include <cstddef>

#include "kelvin/core/isa.h"

namespace kelvin {

// n points (q, s) of a plane with momenta (p, v).
template <class Real>
struct Planes {
  std::size_t n;
  Real *q, *s, *p, *v;
};

#define KELVIN_PLANE_LOOPS(Real)                                                          \
  KELVIN_FOR_EACH_ISA(void circle_drift(const Planes<Real>&, double radius, double time)) \
  KELVIN_FOR_EACH_ISA(void circle_project(const Planes<Real>&, double radius))            \
  KELVIN_FOR_EACH_ISA(void circle_tangent(const Planes<Real>&, double radius))            \
  KELVIN_FOR_EACH_ISA(double largest(std::size_t n, const Real* x))                       \
  KELVIN_FOR_EACH_ISA(void combine(std::size_t n, const double* k, Real* q, Real* p))
KELVIN_PLANE_LOOPS(float)
KELVIN_PLANE_LOOPS(double)
#undef KELVIN_PLANE_LOOPS

}  // namespace kelvin
