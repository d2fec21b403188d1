// SPDX-License-Identifier: Apache-2.0
// Powers of a step: how a number that each cell of a grid has grows along an axis.
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
