// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/stiffness.h"

#include <cmath>

#include "kelvin/numeric/eigen.h"

namespace kelvin {
namespace {

// The longest time between two gradients that a part's string has, over its step.
double between_gradients(const Scheme& scheme) {
  int gradients = 0;
  bool moved = false;
  for (int pass = 0; pass < 2; ++pass)
    for (const Move& move : scheme.moves) {
      if (move.letter->joint == Joint::gradient) gradients += moved && pass == 1, moved = false;
      moved |= move.letter->moves_q;
    }
  return 1.0 / std::max(1, gradients);
}

}  // namespace

template <class Real>
double stiffness(Chain<Real>& chain, int gradients) {
  const Recipe& recipe = chain.recipe();
  const auto x = chain.x();
  std::vector<double> reach(recipe.size, 0);  // h / sqrt(m): what a unit of momentum moves in a step
  for (std::size_t k = 0; k < recipe.parts.size(); ++k) {
    const PartRecipe& part = recipe.parts[k];
    const double h = chain.step_of(k) * between_gradients(part.scheme), m = chain.part(k).m;
    std::fill_n(reach.begin() + long(part.offset), part.size,
                part.scheme.has_momentum ? h / std::sqrt(m) : std::sqrt(2 * h / m));
    for (const std::uint32_t i : part.frozen) reach[part.offset + i] = 0;
  }
  using Vector = Eigen::VectorXd;
  const auto n = Eigen::Index(recipe.size);
  const Eigen::Map<const Vector> scale(reach.data(), n);
  Vector v(n), before = Vector::Zero(n), Hv(n);
  normals({stream_key(0, "stiffness"), chain.walker(), chain.steps(), 0}, 0, std::span<double>(v.data(), reach.size()));
  v = v.cwiseProduct(scale.cwiseSign());
  v.normalize();
  double size = 1;
  for (const Real q : x) size += double(q) * double(q);
  const double increment = std::sqrt(size) * (sizeof(Real) == 4 ? 1e-3 : 1e-6);
  std::vector<Real> at(x.begin(), x.end()), here(at.size()), there(at.size());
  const std::vector<Real> centre = at;
  chain.gradient_at(centre, here);
  Vector diagonal(gradients), beside(gradients);
  int made = 0;
  double length = 0;
  while (made < gradients) {
    const double step = increment / std::max(1e-300, v.cwiseProduct(scale).norm());
    for (Eigen::Index i = 0; i < n; ++i)
      at[std::size_t(i)] = Real(double(centre[std::size_t(i)]) + step * scale[i] * v[i]);
    chain.gradient_at(at, there);
    for (Eigen::Index i = 0; i < n; ++i)
      Hv[i] = scale[i] * (double(there[std::size_t(i)]) - double(here[std::size_t(i)])) / step;
    diagonal[made] = v.dot(Hv);
    Hv -= diagonal[made] * v + length * before;
    length = Hv.norm();
    beside[made] = length;
    ++made;
    if (!(length > 1e-8 * std::abs(diagonal[0]))) break;
    before = v;
    v = Hv / length;
  }
  if (!diagonal.head(made).allFinite()) return INFINITY;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved;
  solved.computeFromTridiagonal(diagonal.head(made), beside.head(made - 1), Eigen::EigenvaluesOnly);
  return solved.eigenvalues().cwiseAbs().maxCoeff();
}

template double stiffness(Chain<float>&, int);
template double stiffness(Chain<double>&, int);

}  // namespace kelvin
