// SPDX-License-Identifier: Apache-2.0
// The order of a quantity in the step: the power with which it grows along an axis of a grid.
#pragma once
#include <vector>

#include "kelvin/numeric/mean.h"

namespace kelvin {

// |y| = C x^slope through points whose y exceeds two of its errors: weighted least squares of log |y| over log x, with
// the standard error that those of the y, taken as independent, leave. No answer (nan) from fewer than three points.
struct SlopePoint {
  double x;
  MeanOf y;
};
MeanOf slope_of(const std::vector<SlopePoint>&);

}  // namespace kelvin
