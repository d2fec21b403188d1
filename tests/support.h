// SPDX-License-Identifier: Apache-2.0
// What several tests need: a chain on a toy, and statistics with their standard errors.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kelvin/chain/chain.h"
#include "kelvin/energy/toys.h"

namespace kelvin {

inline Choice number(double x) { return Choice::number_of("constant", "value", x); }

inline PartSettings moving(const std::string& scheme, double step, double friction = 1, double temperature = 1) {
  PartSettings part;
  part.scheme = scheme;
  part.step = number(step), part.friction = number(friction), part.temperature = number(temperature);
  // A thermostat without coupling is a bath of that friction and temperature: adaptive schemes are linear maps too.
  part.eps = number(0), part.xi = friction,
  part.sigma = number(std::isinf(friction) ? 0 : std::sqrt(2 * friction * temperature));
  return part;
}

inline Choice gaussian(const std::vector<double>& stiffness) { return Choice("gaussian", {{"stiffness", stiffness}}); }

template <class Real>
Recipe recipe_for(const Potential<Real>& potential, const PartSettings& part) {
  return make_recipe({{"all", part}}, {}, potential.blocks(), {});
}

// One walker on a toy, started at zero.
template <class Real>
struct Walker {
  Noise<Real> noise;
  Chain<Real> chain;
  Walker(const Choice& toy, const PartSettings& part, std::uint64_t seed = 1, std::uint32_t walker = 0)
      : chain(make_toy<Real>(toy), recipe_for(*make_toy<Real>(toy), part), Batches({}, 0, seed, walker), noise, seed,
              walker) {
    chain.start(std::vector<Real>(chain.q().size(), 0));
  }
};

// Mean of a correlated series with its standard error from 50 batch means.
struct Estimate {
  double mean = 0, error = 0;
  double deviation(double exact) const { return (mean - exact) / error; }
};
inline Estimate estimate(const std::vector<double>& x) {
  constexpr std::size_t batches = 50;
  const std::size_t each = x.size() / batches;
  std::vector<double> means(batches, 0.0);
  for (std::size_t b = 0; b < batches; ++b)
    for (std::size_t i = 0; i < each; ++i) means[b] += x[b * each + i] / double(each);
  Estimate e;
  for (const double m : means) e.mean += m / batches;
  double square = 0;
  for (const double m : means) square += (m - e.mean) * (m - e.mean);
  e.error = std::sqrt(square / (batches - 1) / batches);
  return e;
}

}  // namespace kelvin
