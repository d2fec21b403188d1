// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/eigenpairs.h"

#include <Spectra/SymEigsSolver.h>

#include <Eigen/Dense>
#include <algorithm>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

struct Applied {
  using Scalar = double;
  const Operator& apply;
  std::size_t size;
  Eigen::Index rows() const { return Eigen::Index(size); }
  Eigen::Index cols() const { return Eigen::Index(size); }
  void perform_op(const double* x, double* y) const { apply({x, size}, {y, size}); }
};

std::vector<double> signed_vector(const Eigen::VectorXd& v) {
  Eigen::Index largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  const Eigen::VectorXd out = (v[largest] < 0 ? -1 : 1) * v.normalized();
  return {out.begin(), out.end()};
}

}  // namespace

Eigenpairs all_eigenpairs(std::span<const double> matrix, std::size_t size, std::size_t vectors) {
  const auto n = Eigen::Index(size);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(Eigen::Map<const Eigen::MatrixXd>(matrix.data(), n, n));
  Eigenpairs out;
  for (Eigen::Index k = n; k-- > 0;) {
    out.values.push_back(solved.eigenvalues()[k]);
    if (out.vectors.size() < vectors) out.vectors.push_back(signed_vector(solved.eigenvectors().col(k)));
  }
  return out;
}

Eigenpairs leading_eigenpairs(const Operator& apply, std::size_t size, std::size_t count) {
  constexpr Eigen::Index most_restarts = 1000;
  constexpr double tolerance = 1e-10;
  if (count < 1 || count >= size)
    throw Error("{} leading eigenvalues of {} cannot be found; ask for 1 to {}", count, size, size - 1);
  Applied applied{apply, size};
  const std::size_t subspace = std::min(size, std::max<std::size_t>(2 * count + 1, 30));
  Spectra::SymEigsSolver<Applied> solver(applied, Eigen::Index(count), Eigen::Index(subspace));
  solver.init();
  solver.compute(Spectra::SortRule::LargestAlge, most_restarts, tolerance);
  if (solver.info() != Spectra::CompInfo::Successful)
    throw Error("the {} leading eigenvalues did not converge; ask for fewer with --count", count);
  Eigenpairs out;
  const Eigen::MatrixXd vectors = solver.eigenvectors();
  for (Eigen::Index k = 0; k < Eigen::Index(count); ++k) {
    out.values.push_back(solver.eigenvalues()[k]);
    out.vectors.push_back(signed_vector(vectors.col(k)));
  }
  return out;
}

Eigenpairs leading_eigenpairs(std::span<const double> matrix, std::size_t size, std::size_t count) {
  const auto n = Eigen::Index(size);
  const Eigen::Map<const Eigen::MatrixXd> A(matrix.data(), n, n);
  return leading_eigenpairs(
      [&](std::span<const double> x, std::span<double> y) {
        Eigen::Map<Eigen::VectorXd>(y.data(), n).noalias() = A * Eigen::Map<const Eigen::VectorXd>(x.data(), n);
      },
      size, count);
}

}  // namespace kelvin
