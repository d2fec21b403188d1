// SPDX-License-Identifier: Apache-2.0
// Level sets of numbers on an evenly spaced grid, and how much they bend.
#pragma once
#include "kelvin/analysis/finding.h"

namespace kelvin {

struct Piece {
  std::vector<double> x, y;
  bool closed = false;  // the last point is followed by the first
  double length() const;
};

// Where z crosses `level`, by marching squares with linear interpolation along the sides of the cells. Pieces are kept
// apart, their points in order and no two neighbours the same; a cell that is crossed twice is resolved by its centre,
// the mean of its corners. A piece that is not closed ends at the border of the grid.
std::vector<Piece> contours(const Map&, double level);

// The same line through points at equal distances close to `spacing`.
Piece evenly_spaced(const Piece&, double spacing);

// |x'' y' - x' y''| / (x'^2 + y'^2)^(3/2) with derivatives by index, from central differences: at every point, the ends
// of an open piece excepted. Exact to second order if the points are evenly spaced; with distances a and b to the
// neighbours it is too small by the factor 4 a b / (a + b)^2.
std::vector<double> curvature(const Piece&);

// |z_xx z_y^2 - 2 z_x z_y z_xy + z_yy z_x^2| / (z_x^2 + z_y^2)^(3/2) from central differences on the grid, interpolated
// at the points of a piece; nan within a cell of the border.
std::vector<double> level_set_curvature(const Map&, const Piece&);

}  // namespace kelvin
