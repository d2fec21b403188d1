// SPDX-License-Identifier: Apache-2.0
#include "kelvin/experiment/slope.h"

namespace kelvin {

// With weights w = (|y| / error)^2, the error of log |y| being error / |y|:
// slope = sum w (X - mean X) Y / sum w (X - mean X)^2, and its variance is 1 over that last sum.
MeanOf slope_of(const std::vector<SlopePoint>& points) {
  std::vector<SlopePoint> clear;
  for (const SlopePoint& p : points)
    if (p.x > 0 && std::abs(p.y.value) > 2 * p.y.error) clear.push_back(p);
  if (clear.size() < 3) return {};
  double sum = 0, first = 0, square = 0, mixed = 0;
  const auto weight = [](const SlopePoint& p) { return std::pow(p.y.value / p.y.error, 2); };
  for (const SlopePoint& p : clear) {
    sum += weight(p);
    first += weight(p) * std::log(p.x);
  }
  for (const SlopePoint& p : clear) {
    const double x = std::log(p.x) - first / sum;
    square += weight(p) * x * x;
    mixed += weight(p) * x * std::log(std::abs(p.y.value));
  }
  return square > 0 ? MeanOf{mixed / square, 1 / std::sqrt(square)} : MeanOf{};
}

}  // namespace kelvin
