// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/affine_map.h"

#include <Eigen/Eigenvalues>

#include "kelvin/chain/chain.h"

namespace kelvin {
namespace {

// Zero everywhere, or 1 for the normal that is asked for as number `one` within a step.
struct Probe : Noise<double> {
  static constexpr std::size_t none = ~std::size_t(0);
  mutable std::size_t asked = 0;
  std::size_t one = none;
  void normals(const Stream&, std::size_t, std::span<double> out) const override {
    for (double& z : out) z = asked++ == one ? 1 : 0;
  }
};

// What the string moves: q only, if p never acts on q.
Eigen::Index acting(const AffineMap& a) {
  const Eigen::Index n = a.map.rows() / 2;
  return a.map.topRightCorner(n, n).isZero(0) ? n : 2 * n;
}

}  // namespace

AffineMap affine_map(const Energy<double>& energy, const Recipe& recipe) {
  const Eigen::Index n = Eigen::Index(recipe.size);
  Probe probe;
  Chain<double> chain(energy, recipe, Batches({}, 0, 0, 0), probe, 0, 0);
  chain.start(std::vector<double>(recipe.size, 0.0));
  const auto image = [&](const Eigen::VectorXd& x, std::size_t one) {
    probe.asked = 0;
    probe.one = one;
    chain.place({x.data(), std::size_t(n)}, {x.data() + n, std::size_t(n)});
    chain.step();
    Eigen::VectorXd y(2 * n);
    std::copy(chain.q().begin(), chain.q().end(), y.data());
    std::copy(chain.p().begin(), chain.p().end(), y.data() + n);
    return y;
  };
  AffineMap a;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(2 * n);
  a.shift = image(zero, Probe::none);
  const std::size_t normals = probe.asked;
  a.map.resize(2 * n, 2 * n);
  for (Eigen::Index i = 0; i < 2 * n; ++i) a.map.col(i) = image(Eigen::VectorXd::Unit(2 * n, i), Probe::none) - a.shift;
  a.noise.resize(2 * n, Eigen::Index(normals));
  for (std::size_t k = 0; k < normals; ++k) a.noise.col(Eigen::Index(k)) = image(zero, k) - a.shift;
  return a;
}

double spectral_radius(const Eigen::MatrixXd& m) {
  return Eigen::EigenSolver<Eigen::MatrixXd>(m).eigenvalues().cwiseAbs().maxCoeff();
}

// Doubling: with C = S + M S M' + ..., S <- S + M S M', M <- M M covers twice as many terms each time.
Eigen::MatrixXd stationary_covariance(const AffineMap& a) {
  const Eigen::Index n = acting(a);
  Eigen::MatrixXd M = a.map.topLeftCorner(n, n), S = a.noise.topRows(n) * a.noise.topRows(n).transpose();
  if (const double radius = spectral_radius(M); !(radius < 1))
    throw Error(
        "the scheme does not settle: an error grows by a factor {:.6g} each step; try a smaller step or some friction",
        radius);
  for (int k = 0; k < 60; ++k) {
    const Eigen::MatrixXd next = S + M * S * M.transpose();
    if (next == S) break;
    S = next;
    M = M * M;
  }
  return S;
}

Eigen::VectorXd stationary_mean(const AffineMap& a) {
  const Eigen::Index n = acting(a);
  return (Eigen::MatrixXd::Identity(n, n) - a.map.topLeftCorner(n, n)).fullPivLu().solve(a.shift.head(n));
}

}  // namespace kelvin
