// SPDX-License-Identifier: Apache-2.0
// The covariance of the minibatch noise in the gradient, estimated from gradients of single rows, for letter V.
#pragma once
#include "kelvin/dynamics/recipe.h"
#include "kelvin/energy/energy.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {

template <class Real>
class NoiseEstimate {
 public:
  // `share` is the variance of a batch's mean in units of that of one row.
  NoiseEstimate(const Recipe&, std::size_t rows, double share);
  NoiseEstimate(const NoiseEstimate&) = delete;

  const GradientNoise<Real>* of(std::size_t part) const { return &parts_[part]; }

  // After the gradient has been taken at q: every so many evaluations (stream.step counts them) single rows are drawn
  // from the stream, and their gradients at q make an estimate.
  void see(Energy<Real>&, std::span<const Real> q, const Stream& stream);

  std::vector<Real> state() const { return numbers_; }
  void restore(std::span<const Real>);

 private:
  void solve();  // eigenpairs of Y'Y

  CovarianceSettings settings_;
  bool low_rank_;
  std::size_t rows_, size_;
  double share_;
  std::vector<PartRecipe> recipes_;
  std::vector<GradientNoise<Real>> parts_;
  std::vector<Real> numbers_;  // variances, or the columns of each part; then how many estimates there were
  std::vector<Real> gradient_, mean_;
  std::vector<std::vector<double>> values_, vectors_;
  std::vector<double> products_;
  SymmetricSolver solver_;
};

}  // namespace kelvin
