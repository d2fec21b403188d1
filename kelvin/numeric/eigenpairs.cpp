// SPDX-License-Identifier: Apache-2.0
#include "kelvin/numeric/eigenpairs.h"

#include <Spectra/SymEigsSolver.h>

#include <algorithm>

#include "kelvin/core/error.h"
#include "kelvin/numeric/eigen.h"

namespace kelvin {
namespace {

struct Applied {
  using Scalar = double;
  const Operator& H;
  Eigen::Index rows() const { return Eigen::Index(H.size); }
  Eigen::Index cols() const { return Eigen::Index(H.size); }
  void perform_op(const double* v, double* Hv) const { H.times({v, H.size}, {Hv, H.size}); }
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
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(
      Eigen::MatrixXd(Eigen::Map<const Eigen::MatrixXd>(matrix.data(), n, n)));
  Eigenpairs out;
  for (Eigen::Index k = n; k-- > 0;) {
    out.values.push_back(solved.eigenvalues()[k]);
    if (out.vectors.size() < vectors) out.vectors.push_back(signed_vector(solved.eigenvectors().col(k)));
  }
  return out;
}

Eigenpairs leading_eigenpairs(const Operator& H, std::size_t count) {
  constexpr Eigen::Index most_restarts = 1000;
  constexpr double tolerance = 1e-10;
  if (count < 1 || count >= H.size)
    throw Error("{} leading eigenvalues of {} cannot be found; ask for 1 to {}", count, H.size, H.size - 1);
  Applied applied{H};
  const std::size_t subspace = std::min(H.size, std::max<std::size_t>(2 * count + 1, 30));
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
  const auto times = [&](std::span<const double> v, std::span<double> Av) {
    Eigen::Map<Eigen::VectorXd>(Av.data(), n).noalias() = A * Eigen::Map<const Eigen::VectorXd>(v.data(), n);
  };
  return leading_eigenpairs({size, times}, count);
}

}  // namespace kelvin
