// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/additions.h"

namespace kelvin {

#define KELVIN_ADDITIONS_BEST(Real)                                                                     \
  void put_sum(std::size_t n, const Real* a, const Real* b, bool relu, Real* y) {                       \
    KELVIN_RETURN_BEST(put_sum(n, a, b, relu, y));                                                      \
  }                                                                                                     \
  void add_numbers(std::size_t n, const Real* x, Real* y) { KELVIN_RETURN_BEST(add_numbers(n, x, y)); } \
  void cut_and_copy(std::size_t n, const Real* y, Real* dy, Real* copy) {                               \
    KELVIN_RETURN_BEST(cut_and_copy(n, y, dy, copy));                                                   \
  }                                                                                                     \
  void put_shares(std::size_t n, const Real* x, Real share, Real keep, Real* to) {                      \
    KELVIN_RETURN_BEST(put_shares(n, x, share, keep, to));                                              \
  }
KELVIN_ADDITIONS_BEST(float)
KELVIN_ADDITIONS_BEST(double)

}  // namespace kelvin
