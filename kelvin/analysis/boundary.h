// SPDX-License-Identifier: Apache-2.0
// The geometry of classifiers with two inputs: regions, probabilities, where draws disagree, how much the boundary
// bends, and how steep predictions are along the axes. All in the original units of the inputs.
#pragma once
#include <functional>
#include <optional>

#include "kelvin/analysis/class_map.h"
#include "kelvin/analysis/contour.h"

namespace kelvin {

struct BoundaryOptions {
  std::size_t grid = 400;        // nodes along each input
  std::optional<Extent> extent;  // default: the training rows and 10 % around
  std::optional<double> level;   // of the probability of the second of two classes; default 0.5
  DrawChoice draws;
  std::function<void(std::size_t run, double share)> progress = [](std::size_t, double) {};
};

// Over the points of all pieces, which are as far apart as `cells_apart` cells: marching squares puts points up to
// kappa cell^2 / 8 off the line, which changes a curvature by kappa / (2 cells_apart^2) at most, and less on average.
inline constexpr double cells_apart = 4;
struct Bend {
  std::size_t pieces = 0, points = 0;
  double length = 0, mean = NAN, deviation = NAN, largest = NAN;
  double level_set_mean = NAN;  // the same by the level-set formula, as a check
};
Bend bend_of(const std::vector<Piece>& evenly_spaced, const Map* field);

// One finding for each run, to be kept with it; with several runs one more that compares and averages them.
std::vector<Finding> boundary(const std::vector<Samples>&, const BoundaryOptions&);

}  // namespace kelvin
