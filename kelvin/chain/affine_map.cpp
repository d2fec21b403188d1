// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/affine_map.h"

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
std::size_t acting(const Matrix& map) {
  const std::size_t n = map.rows / 2;
  for (std::size_t j = n; j < 2 * n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      if (map(i, j) != 0) return 2 * n;
  return n;
}

}  // namespace

AffineMap affine_map(const Energy<double>& energy, const Recipe& recipe) {
  const std::size_t n = recipe.size;
  Probe probe;
  Chain<double> chain(energy, recipe, Batches({}, 0, 0, 0), probe, 0, 0);
  chain.start(std::vector<double>(n, 0.0));
  const auto image = [&](std::span<const double> x, std::size_t one) {
    probe.asked = 0;
    probe.one = one;
    chain.place(x.first(n), x.last(n));
    chain.step();
    std::vector<double> y(chain.q().begin(), chain.q().end());
    y.insert(y.end(), chain.p().begin(), chain.p().end());
    return y;
  };
  AffineMap a;
  std::vector<double> x(2 * n, 0.0);
  a.shift = image(x, Probe::none);
  const std::size_t normals = probe.asked;
  const auto put = [&](Matrix& to, std::size_t column, const std::vector<double>& y) {
    for (std::size_t i = 0; i < 2 * n; ++i) to(i, column) = y[i] - a.shift[i];
  };
  a.map = Matrix(2 * n, 2 * n);
  for (std::size_t i = 0; i < 2 * n; ++i) {
    x[i] = 1;
    put(a.map, i, image(x, Probe::none));
    x[i] = 0;
  }
  a.noise = Matrix(2 * n, normals);
  for (std::size_t k = 0; k < normals; ++k) put(a.noise, k, image(x, k));
  return a;
}

Matrix stationary_covariance(const AffineMap& a) {
  const std::size_t n = acting(a.map);
  const Matrix M = corner(a.map, n, n);
  if (const double radius = spectral_radius(M); !(radius < 1))
    throw Error(
        "the scheme does not settle: an error grows by a factor {:.6g} each step; try a smaller step or some friction",
        radius);
  return lasting_covariance(M, corner(a.noise, n, a.noise.columns));
}

}  // namespace kelvin
