// SPDX-License-Identifier: Apache-2.0
// The numbers of a block at one time: their histogram, their largest size and the share near zero.
#pragma once
#include <span>
#include <vector>

namespace kelvin {

struct WeightStatistics {
  double mean = 0, rms = 0, largest = 0;  // largest |w|
  double near_zero = 0;                   // share of |w| < threshold rms
};
WeightStatistics weight_statistics(std::span<const double>, double threshold);

// Density in bins of equal width from low to high; what lies outside is counted in the total only.
std::vector<double> density(std::span<const double>, double low, double high, std::size_t bins);

}  // namespace kelvin
