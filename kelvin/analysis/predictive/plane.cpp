// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/plane.h"

#include <cmath>

namespace kelvin {

Plane::Plane(const Extent& e, std::size_t nodes) {
  for (std::size_t i = 0; i < nodes; ++i) {
    const double share = double(i) / double(nodes - 1);
    x.push_back(std::lerp(e[0], e[1], share));
    y.push_back(std::lerp(e[2], e[3], share));
  }
  if (e[0] > 0 || e[1] < 0) across_x = (e[0] + e[1]) / 2;
  if (e[2] > 0 || e[3] < 0) across_y = (e[2] + e[3]) / 2;
}

PlanePoints Plane::points() const {
  PlanePoints out;
  for (const double v : y)
    for (const double u : x) {
      out.x.push_back(u);
      out.y.push_back(v);
    }
  for (const int side : {-1, 0, 1})
    for (const double u : x) {
      out.x.push_back(u);
      out.y.push_back(across_y + side * dy());
    }
  for (const int side : {-1, 0, 1})
    for (const double v : y) {
      out.x.push_back(across_x + side * dx());
      out.y.push_back(v);
    }
  return out;
}

Map Plane::map(const std::vector<double>& z, std::string style, std::string label) const {
  return {x, y, {z.begin(), z.begin() + long(x.size() * y.size())}, std::move(style), {}, std::move(label)};
}

std::array<std::vector<double>, 2> Plane::steepness(const std::vector<double>& z) const {
  std::array<std::vector<double>, 2> out;
  const std::size_t n = x.size();
  const double along[] = {dx(), dy()}, aside[] = {dy(), dx()};
  for (std::size_t line = 0; line < 2; ++line) {
    const double* at = z.data() + n * n + 3 * n * line;
    for (std::size_t i = 1; i + 1 < n; ++i)
      out[line].push_back(
          std::hypot((at[n + i + 1] - at[n + i - 1]) / (2 * along[line]), (at[2 * n + i] - at[i]) / (2 * aside[line])));
  }
  return out;
}

}  // namespace kelvin
