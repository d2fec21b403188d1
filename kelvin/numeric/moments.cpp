// SPDX-License-Identifier: Apache-2.0
#include "kelvin/numeric/moments.h"

#include <limits>

#include "kelvin/numeric/sums.h"

namespace kelvin {

RunningMoments::RunningMoments(std::size_t size) : mean(size), squares(size) {
  if (size <= most_for_covariance) products.resize(size * size);
}

// With W the weights so far, w among them:  mean' = mean + (x - mean) w/W,   sum' = sum + w (x_i - mean_i)(x_j -
// mean'_j)
template <class Real>
void RunningMoments::add(std::span<const Real> x, double w) {
  if (!(w > 0)) return;
  ++count;
  weight += w;
  const double share = w / weight;
  const std::size_t n = mean.size();
  if (!products.empty()) {
    change_.resize(n);
    for (std::size_t i = 0; i < n; ++i) change_[i] = double(x[i]) - mean[i];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) products[i * n + j] += w * change_[i] * change_[j] * (1 - share);
  }
  add_to_moments(x, {share, w}, mean.data(), squares.data());
}

double RunningMoments::variance(std::size_t i) const {
  return count > 1 ? squares[i] / (weight - weight / double(count)) : std::numeric_limits<double>::quiet_NaN();
}

double RunningMoments::covariance(std::size_t i, std::size_t j) const {
  return count > 1 ? products[i * mean.size() + j] / (weight - weight / double(count))
                   : std::numeric_limits<double>::quiet_NaN();
}

template void RunningMoments::add(std::span<const float>, double);
template void RunningMoments::add(std::span<const double>, double);

}  // namespace kelvin
