// SPDX-License-Identifier: Apache-2.0
// Running mean, variance and, for few numbers, covariance of points, each with its weight; by Welford's recurrence.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace kelvin {

struct RunningMoments {
  static constexpr std::size_t most_for_covariance = 200;
  std::uint64_t count = 0;            // points of a weight above 0
  double weight = 0;                  // of all of them
  std::vector<double> mean, squares;  // squares: sum of (x - mean)^2
  std::vector<double> products;       // sums of (x_i - mean_i)(x_j - mean_j), row by row; empty for many numbers
  template <class Visit>
  void fields(Visit&& field) {
    field(count);
    field(weight);
    field(mean);
    field(squares);
    field(products);
  }

  RunningMoments() = default;
  explicit RunningMoments(std::size_t size);
  template <class Real>
  void add(std::span<const Real> x, double weight = 1);
  double variance(std::size_t i) const;  // nan below two points
  double covariance(std::size_t i, std::size_t j) const;

 private:
  std::vector<double> change_;
};

}  // namespace kelvin
