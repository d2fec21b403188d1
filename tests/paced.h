// SPDX-License-Identifier: Apache-2.0
// A walker on a toy with all that a run file can tune.
#pragma once
#include "tests/support.h"

namespace kelvin {

template <class Real>
struct Tuned {
  Noise<Real> noise;
  std::unique_ptr<Chain<Real>> chain;
  Tuned(const Choice& toy, const PartSettings& part, const Tuning& tuning = {}, std::uint64_t seed = 1) {
    const auto u = make_toy<Real>(toy);
    Recipe recipe = recipe_for(*u, part);
    recipe.tuning = tuning;
    chain = std::make_unique<Chain<Real>>(u->clone(), recipe, Batches({}, u->rows(), seed, 0), noise, seed, 0);
    chain->start(std::vector<Real>(recipe.size, Real(0.1)));
  }
  Chain<Real>* operator->() { return chain.get(); }
  Chain<Real>& operator*() { return *chain; }
};

// The same as Tuned after `steps`, continued from a state taken in the midst, and whether they agree bit for bit.
template <class Real>
void expect_goes_on_bit_for_bit(Tuned<Real>& a, Tuned<Real>& b, int steps) {
  for (int n = 0; n < steps; ++n) a->step();
  b->restore(a->state());
  for (int n = 0; n < steps; ++n) a->step_and_read(), b->step_and_read();
  EXPECT_TRUE(std::ranges::equal(a->q(), b->q()));
  EXPECT_TRUE(std::ranges::equal(a->p(), b->p()));
  EXPECT_EQ(a->reading().log_weight, b->reading().log_weight);
  EXPECT_EQ(a->reading().taken, b->reading().taken);
}

// A ratio of means, sum w f / sum w, with its standard error from 50 batches.
inline Estimate weighted(const std::vector<double>& w, const std::vector<double>& f) {
  double all = 0, product = 0;
  for (std::size_t k = 0; k < w.size(); ++k) all += w[k], product += w[k] * f[k];
  const double mean = product / all;
  std::vector<double> apart(w.size());
  for (std::size_t k = 0; k < w.size(); ++k) apart[k] = w[k] * (f[k] - mean) * double(w.size()) / all;
  return {mean, estimate(apart).error};
}

}  // namespace kelvin
