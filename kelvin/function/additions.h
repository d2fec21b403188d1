// SPDX-License-Identifier: Apache-2.0
// Sums of arrays of numbers, as shortcuts past layers need them: one version for each instruction set.
#pragma once
#include <cstddef>

#include "kelvin/core/isa.h"

namespace kelvin {

#define KELVIN_ADDITIONS(Real)                                                        \
  /* y = a + b, or its positive part if `relu` */                                     \
  void put_sum(std::size_t n, const Real* a, const Real* b, bool relu, Real* y);      \
  /* y += x */                                                                        \
  void add_numbers(std::size_t n, const Real* x, Real* y);                            \
  /* dy becomes 0 where y is not above 0; a copy of it goes to `copy` */              \
  void cut_and_copy(std::size_t n, const Real* y, Real* dy, Real* copy);              \
  /* to becomes keep times itself plus share times x; with keep = 0 it is not read */ \
  void put_shares(std::size_t n, const Real* x, Real share, Real keep, Real* to)

KELVIN_FOR_EACH_ISA(KELVIN_ADDITIONS(float))
KELVIN_FOR_EACH_ISA(KELVIN_ADDITIONS(double))
KELVIN_ADDITIONS(float);
KELVIN_ADDITIONS(double);

}  // namespace kelvin
