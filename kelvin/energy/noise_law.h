// SPDX-License-Identifier: Apache-2.0
// The distribution of targets about an output: the noise model that a numeric loss stands for. To add one, write its
// functions and name it in the loss's row (loss.cpp).
#pragma once
#include <string_view>

namespace kelvin {

// Of e = target - output, for a scale s.
struct NoiseLaw {
  std::string_view name;
  double (*log_density)(double e, double s);
  double (*distribution)(double e, double s);  // probability of less than e
  double (*distance)(double e, double s);      // mean of |noise - e|
  double variance;                             // in units of s^2
  double reach;                                // less than 1e-12 lies beyond so many s, on either side
  double spacing;                              // in s, of sums that stand for integrals over its curves
};

extern const NoiseLaw normal_law;   // exp(-e^2 / 2 s^2)
extern const NoiseLaw laplace_law;  // exp(-|e| / s)

}  // namespace kelvin
