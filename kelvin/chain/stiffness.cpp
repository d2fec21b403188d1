// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/stiffness.h"

#include <cmath>

#include "kelvin/numeric/spectrum.h"

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
  const std::size_t n = recipe.size;
  std::vector<double> start(n), along(n);
  normals({stream_key(0, "stiffness"), chain.walker(), chain.steps(), 0}, 0, std::span<double>(start));
  for (std::size_t i = 0; i < n; ++i)
    if (reach[i] == 0) start[i] = 0;
  double size = 1;
  for (const Real q : x) size += double(q) * double(q);
  const double increment = std::sqrt(size) * (sizeof(Real) == 4 ? 1e-3 : 1e-6);
  std::vector<Real> at(x.begin(), x.end()), here(n), there(n);
  const std::vector<Real> centre = at;
  chain.gradient_at(centre, here);
  const auto times = [&](std::span<const double> v, std::span<double> Hv) {
    for (std::size_t i = 0; i < n; ++i) along[i] = v[i] * reach[i];
    const double step = increment / std::max(1e-300, std::sqrt(square_norm(along)));
    for (std::size_t i = 0; i < n; ++i) at[i] = Real(double(centre[i]) + step * reach[i] * v[i]);
    chain.gradient_at(at, there);
    for (std::size_t i = 0; i < n; ++i) Hv[i] = reach[i] * (double(there[i]) - double(here[i])) / step;
  };
  return largest_in_size({n, times}, start, std::size_t(gradients));
}

template double stiffness(Chain<float>&, int);
template double stiffness(Chain<double>&, int);

}  // namespace kelvin
