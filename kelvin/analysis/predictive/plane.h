// SPDX-License-Identifier: Apache-2.0
// Where a function of two inputs is looked at: a grid of nodes, and lines along both axes for its slopes.
#pragma once
#include <array>

#include "kelvin/analysis/finding.h"

namespace kelvin {

using Extent = std::array<double, 4>;  // x min, x max, y min, y max

struct PlanePoints {
  std::vector<double> x, y;
};

struct Plane {
  std::vector<double> x, y;
  double across_x = 0, across_y = 0;  // where the lines are: at 0, or in the middle of an extent that leaves 0 out

  Plane(const Extent&, std::size_t nodes);  // along each axis
  double dx() const { return x[1] - x[0]; }
  double dy() const { return y[1] - y[0]; }

  PlanePoints points() const;  // all nodes, row by row, then those of the lines and of their neighbours
  // Of numbers at those points: the grid, and |gradient| along both lines, at all nodes but the ends, by central
  // differences.
  Map map(const std::vector<double>& z, std::string style, std::string label) const;
  std::array<std::vector<double>, 2> steepness(const std::vector<double>& z) const;
};

}  // namespace kelvin
