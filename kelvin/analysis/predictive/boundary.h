// SPDX-License-Identifier: Apache-2.0
// The geometry of classifiers with two inputs: regions, probabilities, where draws disagree, how much the boundary
// bends, and how steep predictions are along the axes. All in the original units of the inputs.
#pragma once
#include <cmath>

#include "kelvin/analysis/predictive/contour.h"

namespace kelvin {

// Over the points of all pieces, which are as far apart as `cells_apart` cells: marching squares puts points up to
// kappa cell^2 / 8 off the line, which changes a curvature by kappa / (2 cells_apart^2) at most, and less on average.
inline constexpr double cells_apart = 4;
struct Bend {
  std::size_t pieces = 0, points = 0;
  double length = 0, mean = NAN, deviation = NAN, largest = NAN;
  double level_set_mean = NAN;  // the same by the level-set formula, as a check
};
Bend bend_of(const std::vector<Piece>& evenly_spaced, const Map* field);

}  // namespace kelvin
