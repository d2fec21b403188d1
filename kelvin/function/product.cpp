// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/product.h"

namespace kelvin {

#define KELVIN_PRODUCTS_BEST(Real)                                                      \
  void multiply(const Product<Real>& p) { KELVIN_RETURN_BEST(multiply(p)); }            \
  void pack_turned(std::size_t rows, std::size_t columns, const Real* from, Real* to) { \
    KELVIN_RETURN_BEST(pack_turned(rows, columns, from, to));                           \
  }

KELVIN_PRODUCTS_BEST(float)
KELVIN_PRODUCTS_BEST(double)

}  // namespace kelvin
