// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/product.h"

namespace kelvin {

#define KELVIN_PRODUCTS_BEST(Real)                                                  \
  void multiply(const Product<Real>& p) { KELVIN_RETURN_BEST(multiply(p)); }        \
  void pack(const Unpacked<Real>& m, Real* to) { KELVIN_RETURN_BEST(pack(m, to)); } \
  void pack_turned(const Unpacked<Real>& m, Real* to) { KELVIN_RETURN_BEST(pack_turned(m, to)); }

KELVIN_PRODUCTS_BEST(float)
KELVIN_PRODUCTS_BEST(double)

}  // namespace kelvin
