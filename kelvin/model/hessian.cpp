// SPDX-License-Identifier: Apache-2.0
#include "kelvin/model/hessian.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "kelvin/core/error.h"

namespace kelvin {

// (g(q + e v) - g(q - e v)) / 2e
void hessian_times(Potential<double>& potential, std::span<const double> q, Batch rows, std::span<const double> v,
                   std::span<double> Hv) {
  double square = 0, along = 0, largest = 1;
  for (std::size_t i = 0; i < q.size(); ++i) {
    square += v[i] * v[i];
    largest = std::max(largest, std::abs(q[i]));
  }
  if (square == 0) return std::fill(Hv.begin(), Hv.end(), 0.0);
  // For a smooth U, rounding eps / e and truncation e^2 balance at e = eps^(1/3). Between that and sqrt(eps) some
  // digits are lost that no eigenvalue needs, but far fewer kinks of relu networks are within reach: one alone adds its
  // jump of the gradient over 2e.
  const double e = std::sqrt(std::numeric_limits<double>::epsilon()) * largest / std::sqrt(square);
  std::vector<double> high(q.size()), low(q.size()), above(q.size()), below(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) {
    high[i] = q[i] + e * v[i], low[i] = q[i] - e * v[i];
    along += (high[i] - low[i]) * v[i];  // 2 e |v|^2, but for rounding
  }
  potential(high, rows, above);
  potential(low, rows, below);
  for (std::size_t i = 0; i < q.size(); ++i) Hv[i] = (above[i] - below[i]) * square / along;
}

std::vector<double> hessian(Potential<double>& potential, std::span<const double> q, Batch rows) {
  const std::size_t n = q.size();
  if (n > 2000)
    throw Error("the hessian of {} parameters is too large; it is computed for at most 2000, so use a smaller network",
                n);
  std::vector<double> h(n * n), column(n);
  std::vector<double> unit(n);
  for (std::size_t i = 0; i < n; ++i) {
    unit[i] = 1;
    hessian_times(potential, q, rows, unit, column);
    unit[i] = 0;
    for (std::size_t j = 0; j < n; ++j) {
      h[i * n + j] += column[j] / 2;
      h[j * n + i] += column[j] / 2;
    }
  }
  return h;
}

std::vector<double> eigenvalues(std::span<const double> symmetric) {
  const auto n = Eigen::Index(std::lround(std::sqrt(double(symmetric.size()))));
  if (std::size_t(n * n) != symmetric.size())
    throw Error("{} numbers are not a square matrix; give n x n", symmetric.size());
  const Eigen::Map<const Eigen::MatrixXd> matrix(symmetric.data(), n, n);
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
  return {values.begin(), values.end()};
}

}  // namespace kelvin
