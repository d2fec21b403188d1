// SPDX-License-Identifier: Apache-2.0
#include "kelvin/model/hessian.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "kelvin/core/error.h"

namespace kelvin {

template <class Real>
std::vector<double> hessian(Potential<Real>& potential, std::span<const Real> q, Batch rows) {
  const std::size_t n = q.size();
  if (n > 2000)
    throw Error("the hessian of {} parameters is too large; it is computed for at most 2000, so use a smaller network",
                n);
  std::vector<double> h(n * n);
  std::vector<Real> at(q.begin(), q.end()), above(n), below(n);
  // Rounding error eps / e and truncation error e^2 balance at e = eps^(1/3).
  const Real increment = std::cbrt(std::numeric_limits<Real>::epsilon());
  for (std::size_t i = 0; i < n; ++i) {
    const Real e = increment * std::max(Real(1), std::abs(q[i])), high = q[i] + e, low = q[i] - e;
    at[i] = high;
    potential(at, rows, above);
    at[i] = low;
    potential(at, rows, below);
    at[i] = q[i];
    for (std::size_t j = 0; j < n; ++j) {
      const double slope = (double(above[j]) - double(below[j])) / (double(high) - double(low));
      h[i * n + j] += slope / 2;
      h[j * n + i] += slope / 2;
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

template std::vector<double> hessian(Potential<float>&, std::span<const float>, Batch);
template std::vector<double> hessian(Potential<double>&, std::span<const double>, Batch);

}  // namespace kelvin
