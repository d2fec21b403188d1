// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/layer.h"

namespace kelvin {

#define KELVIN_LAYER_BEST(Real)                                                                                       \
  void few_in_forward(const LayerRows<Real>& l, const Real* w, const Real* b, bool relu) {                            \
    KELVIN_RETURN_BEST(few_in_forward(l, w, b, relu));                                                                \
  }                                                                                                                   \
  void few_in_slopes(const LayerRows<Real>& l, Real share, Real keep, Real* w, Real* b) {                             \
    KELVIN_RETURN_BEST(few_in_slopes(l, share, keep, w, b));                                                          \
  }                                                                                                                   \
  void few_in_below(const LayerRows<Real>& l, Real* x) { KELVIN_RETURN_BEST(few_in_below(l, x)); }                    \
  void few_out_forward(const LayerRows<Real>& l, const Real* w, const Real* b) {                                      \
    KELVIN_RETURN_BEST(few_out_forward(l, w, b));                                                                     \
  }                                                                                                                   \
  void few_out_slopes(const LayerRows<Real>& l, Real share, Real keep, Real* w, Real* b) {                            \
    KELVIN_RETURN_BEST(few_out_slopes(l, share, keep, w, b));                                                         \
  }                                                                                                                   \
  void few_out_below(const LayerRows<Real>& l, Real* x, bool relu) { KELVIN_RETURN_BEST(few_out_below(l, x, relu)); } \
  void hidden_forward(const HiddenRows<Real>& l, const HiddenWeights<const Real>& w) {                                \
    KELVIN_RETURN_BEST(hidden_forward(l, w));                                                                         \
  }                                                                                                                   \
  void hidden_slopes(const HiddenRows<Real>& l, Real share, Real keep, const HiddenWeights<Real>& w) {                \
    KELVIN_RETURN_BEST(hidden_slopes(l, share, keep, w));                                                             \
  }                                                                                                                   \
  void column_sums(const LayerRows<Real>& l, Real share, Real keep, Real* b) {                                        \
    KELVIN_RETURN_BEST(column_sums(l, share, keep, b));                                                               \
  }

KELVIN_LAYER_BEST(float)
KELVIN_LAYER_BEST(double)

}  // namespace kelvin
