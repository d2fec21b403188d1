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

// Of a matrix; not finite if some entry is not.
struct Size {
  double entry, row;  // its largest entry, the length of its longest row
};

#define KELVIN_CONSTRAINT_LOOPS(Real)                                                                          \
  KELVIN_FOR_EACH_ISA(void circle_drift(const Planes<Real>&, double radius, double time))                      \
  KELVIN_FOR_EACH_ISA(void circle_project(const Planes<Real>&, double radius))                                 \
  KELVIN_FOR_EACH_ISA(void circle_tangent(const Planes<Real>&, double radius))                                 \
  KELVIN_FOR_EACH_ISA(void combine(std::size_t n, const double* k, Real* q, Real* p))                          \
  KELVIN_FOR_EACH_ISA(void move_along(std::size_t n, double time, const Real* from, const Real* p, Real* q))   \
  KELVIN_FOR_EACH_ISA(void mirror_upper(std::size_t n, Real* square))                                          \
  KELVIN_FOR_EACH_ISA(void make_symmetric(std::size_t n, Real* square))                                        \
  KELVIN_FOR_EACH_ISA(Size size_less_one(std::size_t n, Real* square))                                         \
  KELVIN_FOR_EACH_ISA(double longest_row(std::size_t rows, std::size_t columns, const Real* a, const Real* b)) \
  KELVIN_FOR_EACH_ISA(double longest_column(std::size_t rows, std::size_t columns, const Real* a, const Real* b))
KELVIN_CONSTRAINT_LOOPS(float)
KELVIN_CONSTRAINT_LOOPS(double)
#undef KELVIN_CONSTRAINT_LOOPS

}  // namespace kelvin
