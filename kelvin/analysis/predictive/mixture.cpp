// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kelvin {
namespace {

// Counted from the first, so that equal numbers have themselves as mean.
template <class Of>
double mean_over(std::size_t n, Of&& of) {
  const double first = of(0);
  double sum = 0;
  for (std::size_t i = 1; i < n; ++i) sum += of(i) - first;
  return first + sum / double(n);
}

std::vector<double> sorted_copy(std::span<const double> from) {
  std::vector<double> out(from.begin(), from.end());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

double Mixture::mean() const {
  return mean_over(centres.size(), [&](std::size_t i) { return centres[i]; });
}

double Mixture::between() const {
  const double middle = mean();
  return mean_over(centres.size(), [&](std::size_t i) { return (centres[i] - middle) * (centres[i] - middle); });
}

double Mixture::within() const {
  if (!law) return 0;
  return law->variance * mean_over(scales.size(), [&](std::size_t i) { return scales[i] * scales[i]; });
}

double Mixture::distribution(double x) const {
  double sum = 0;
  for (std::size_t i = 0; i < centres.size(); ++i) {
    const double e = x - centres[i];
    if (!law || std::abs(e) > law->reach * scales[i]) sum += double(e >= 0);  // most draws, far from x
    else sum += law->distribution(e, scales[i]);
  }
  return sum / double(centres.size());
}

double Mixture::low() const {
  double least = centres[0];
  for (std::size_t i = 0; i < centres.size(); ++i)
    least = std::min(least, centres[i] - (law ? law->reach * scales[i] : 0));
  return least;
}

double Mixture::high() const {
  double most = centres[0];
  for (std::size_t i = 0; i < centres.size(); ++i)
    most = std::max(most, centres[i] + (law ? law->reach * scales[i] : 0));
  return most;
}

// distribution(x) = level by Newton's steps, halving the bracket where they would leave it.
double Mixture::quantile(double level) const {
  if (!law) {
    const auto sorted = sorted_copy(centres);
    const double place = level * double(sorted.size() - 1);
    const auto below = std::size_t(place), above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
  }
  double left = low(), right = high(), x = std::clamp(mean(), left, right);
  const double enough = 1e-10 * (right - left);
  while (right - left > enough) {
    double above = 0, slope = 0;
    for (std::size_t i = 0; i < centres.size(); ++i) {
      above += law->distribution(x - centres[i], scales[i]);
      slope += std::exp(law->log_density(x - centres[i], scales[i]));
    }
    const double n = double(centres.size()), error = above / n - level;
    (error > 0 ? right : left) = x;
    const double step = slope > 0 ? error * n / slope : std::numeric_limits<double>::infinity(), next = x - step;
    if (std::abs(step) < enough) return next;
    x = next > left && next < right ? next : (left + right) / 2;
  }
  return (left + right) / 2;
}

double Mixture::ranked_score(double x) const {
  double near = 0;
  for (std::size_t i = 0; i < centres.size(); ++i)
    near += law ? law->distance(x - centres[i], scales[i]) : std::abs(x - centres[i]);
  return near / double(centres.size()) - spread();
}

// The trapezoid rule with a spacing that suits the narrowest law; without a law the sum over pairs of sorted draws.
double Mixture::spread() const {
  double sum = 0;
  if (!law) {
    const auto sorted = sorted_copy(centres);
    const double n = double(sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sum += (2 * double(i) + 1 - n) * sorted[i];
    return sum / (n * n);
  }
  constexpr double most_nodes = 512;
  const double from = low(), range = high() - from, narrowest = *std::min_element(scales.begin(), scales.end());
  const double nodes = std::min(most_nodes, std::ceil(range / (law->spacing * narrowest)));
  for (double k = 1; k < nodes; ++k) {
    const double below = distribution(from + k * range / nodes);
    sum += below * (1 - below);
  }
  return sum * range / nodes;
}

double log_mean_exp(std::span<const double> x) {
  const double top = *std::max_element(x.begin(), x.end());
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double value : x) sum += std::exp(value - top);
  return top + std::log(sum / double(x.size()));
}

}  // namespace kelvin
