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

std::vector<double> sorted_centres(std::span<const NoiseAt> at) {
  std::vector<double> out;
  for (const NoiseAt& n : at) out.push_back(n.centre);
  std::sort(out.begin(), out.end());
  return out;
}

// The integral of f from 0 to `end`, of a function that falls to 0 there, by the trapezoid rule in v with
// x = scale exp(v - exp(-v)): halving the spacing squares the error where f is smooth.
template <class F>
double half_line(F&& f, double scale, double end) {
  if (!(end > 0)) return 0;
  constexpr double first = -3.25, enough = 3e-4;
  constexpr int most_halvings = 8;
  const auto x_at = [&](double v) { return scale * std::exp(v - std::exp(-v)); };
  const auto term = [&](double v) { return f(x_at(v)) * x_at(v) * (1 + std::exp(-v)); };
  const double last = std::max(1.0, std::log(end / scale) + 1);
  double spacing = 0.5, sum = 0;
  for (double v = first; v < last; v += spacing) sum += term(v);
  double value = sum * spacing;
  for (int halving = 0; halving < most_halvings; ++halving) {
    for (double v = first + spacing / 2; v < last; v += spacing) sum += term(v);
    spacing /= 2;
    const double before = value;
    value = sum * spacing;
    if (std::abs(value - before) <= enough * value) break;
  }
  return value;
}

// The sum of f(1), f(2), ... f(end), which falls slowly far out: one by one at first, then the sums of parabolas
// through three of 2 m + 1 neighbours, exact for cubics.
template <class F>
double sum_of_falling(F&& f, double end) {
  constexpr double near = 32, share = 12;  // neighbours span a sixth of their distance
  double sum = 0, k = 1;
  for (; k <= std::min(end, near); ++k) sum += f(k);
  while (k <= end) {
    const double m = std::min(std::floor(k / share), std::floor((end - k) / 2));
    if (m < 1) {
      sum += f(k++);
      continue;
    }
    const double n = 2 * m + 1, ends = (m + 1) * n / (6 * m);
    sum += ends * (f(k) + f(k + 2 * m)) + (n - 2 * ends) * f(k + m);
    k += n;
  }
  return sum;
}

// One of the numbers, without the outliers among them.
double median(std::vector<double> of) {
  const auto middle = of.begin() + long(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

}  // namespace

double Mixture::mean() const {
  return mean_over(at.size(), [&](std::size_t i) { return at[i].centre; });
}

double Mixture::between() const {
  const double middle = mean();
  return mean_over(at.size(), [&](std::size_t i) { return (at[i].centre - middle) * (at[i].centre - middle); });
}

double Mixture::within() const {
  if (!law) return 0;
  return mean_over(at.size(), [&](std::size_t i) { return law->variance(at[i]); });
}

double Mixture::distribution(double x) const {
  double sum = 0;
  for (const NoiseAt& n : at) sum += law ? law->distribution(x, n) : double(x >= n.centre);
  return sum / double(at.size());
}

double Mixture::low() const {
  double least = at[0].centre;
  for (const NoiseAt& n : at) least = std::min(least, n.centre - (law ? law->reach(n) : 0));
  return least;
}

double Mixture::high() const {
  double most = at[0].centre;
  for (const NoiseAt& n : at) most = std::max(most, n.centre + (law ? law->reach(n) : 0));
  return most;
}

// distribution(x) = level by Newton's steps, halving the bracket where they would leave it or do not halve the error.
// The bracket may be huge, by a single wide draw, so that it says nothing of how exact x has to be: a share does.
double Mixture::quantile(double level) const {
  if (!law) {
    const auto sorted = sorted_centres(at);
    const double place = level * double(sorted.size() - 1);
    const auto below = std::size_t(place), above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
  }
  if (law->counts) return quantile_of_counts(level);
  constexpr double enough = 1e-12, rounding = 4 * std::numeric_limits<double>::epsilon();
  double left = low(), right = high(), x = std::clamp(mean(), left, right);
  double before = std::numeric_limits<double>::infinity();
  while (right - left > rounding * (std::abs(left) + std::abs(right))) {
    double above = 0, slope = 0;
    for (const NoiseAt& n : at) {
      above += law->distribution(x, n);
      slope += std::exp(law->log_density(x, n));
    }
    const double draws = double(at.size()), error = above / draws - level;
    if (std::abs(error) < enough * std::min(level, 1 - level)) return x;
    (error > 0 ? right : left) = x;
    const double next = x - error * draws / slope;
    const bool helps = next > left && next < right && std::abs(error) < before / 2;
    before = std::abs(error);
    x = helps ? next : (left + right) / 2;
  }
  return (left + right) / 2;
}

double Mixture::quantile_of_counts(double level) const {
  double below = -1, enough = std::ceil(high());
  while (enough - below > 1) {
    const double middle = std::floor((below + enough) / 2);
    if (middle <= below || middle >= enough) break;  // numbers beyond 2^53
    (distribution(middle) < level ? below : enough) = middle;
  }
  return enough;
}

// With m amid the draws, the integral of (F - [z >= m])^2, which does not know x, and what is different between m and
// x, the integral of 2 F - 1: mean |Y - x| - mean |Y - m|, in closed form.
double Mixture::ranked_score(double x) const {
  std::vector<double> centres;
  for (const NoiseAt& n : at) centres.push_back(n.centre);
  const double middle = median(std::move(centres)), m = law && law->counts ? std::round(middle) : middle;
  return width_about(m) + distance(x) - distance(m);
}

double Mixture::distance(double x) const {
  return mean_over(at.size(),
                   [&](std::size_t i) { return law ? law->distance(x, at[i]) : std::abs(x - at[i].centre); });
}

// On either side of m the square falls from its value there to 0.
double Mixture::width_about(double m) const {
  if (!law) {
    const auto sorted = sorted_centres(at);
    const double n = double(sorted.size());
    double spread = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) spread += (2 * double(i) + 1 - n) * sorted[i];
    return distance(m) - spread / (n * n);
  }
  const auto square = [](double x) { return x * x; };
  const auto below = [&](double away) { return square(distribution(m - away)); };
  if (law->counts) {
    const auto above = [&](double away) { return square(1 - distribution(m + away - 1)); };
    return sum_of_falling(below, std::min(m, std::ceil(m - low()))) + sum_of_falling(above, std::ceil(high() - m) + 1);
  }
  const auto above = [&](double away) { return square(1 - distribution(m + away)); };
  std::vector<double> scales;
  for (const NoiseAt& n : at) scales.push_back(n.scale);
  const double scale = median(std::move(scales));
  return half_line(below, scale, m - low()) + half_line(above, scale, high() - m);
}

double Mixture::place(double x, double within_jump) const {
  const double upper = distribution(x);
  if (!law || !law->counts) return upper;
  const double lower = distribution(x - 1);
  return lower + within_jump * (upper - lower);
}

double log_mean_exp(std::span<const double> x) {
  const double top = *std::max_element(x.begin(), x.end());
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double value : x) sum += std::exp(value - top);
  return top + std::log(sum / double(x.size()));
}

}  // namespace kelvin
