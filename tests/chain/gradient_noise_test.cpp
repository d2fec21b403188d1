// SPDX-License-Identifier: Apache-2.0
// Noise of minibatch gradients: the covariance that letter V goes by, what CCAdL, adaptive Langevin and BAOAB make of
// it, and control variates that take most of it away.
#include "kelvin/chain/companions/gradient_noise.h"

#include "kelvin/core/toml.h"
#include "tests/allocations.h"
#include "tests/evaluated.h"
#include "tests/support.h"

namespace kelvin {
namespace {

Choice with(const std::string& toml) {
  Value v = parse_toml("it = " + toml, "test");
  Choice c;
  assign(c, std::get<Value::Group>(v.is).at("it"), "toy");
  return c;
}

PartSettings adaptive(const std::string& scheme) {
  PartSettings part = moving(scheme, 0.1);
  part.sigma = number(std::sqrt(2)), part.eps = number(0.1), part.xi = 1;
  return part;
}

BatchSettings one_row() {
  BatchSettings batch;
  batch.size.text = "1", batch.order = "with_replacement";
  return batch;
}

const char* const anisotropic =
    "{ name = 'noisy', dimension = 2, stiffness = [1.0, 4.0], noise = [20.0, 0.0], rows = 2000 }";
const char* const isotropic = "{ name = 'noisy', dimension = 2, stiffness = [1.0, 4.0], noise = 20.0, rows = 2000 }";

struct Law {
  Estimate q[2], xi;  // stiffness q^2
};
Law law_of(const char* toy, const PartSettings& part, const CovarianceSettings& covariance = {}, int steps = 200000) {
  const auto u = make_toy<double>(with(toy));
  Recipe recipe = recipe_for(*u, part);
  recipe.tuning.covariance = covariance;
  const Noise<double> noise;
  Chain<double> chain(u->clone(), recipe, Batches(one_row(), u->rows(), 3, 0), noise, 3, 0);
  chain.start(std::vector<double>(2, 0.0));
  for (int n = 0; n < steps / 20; ++n) chain.step();
  std::vector<double> squares[2], xi;
  for (int n = 0; n < steps; ++n) {
    chain.step();
    for (std::size_t i = 0; i < 2; ++i) squares[i].push_back((i ? 4 : 1) * chain.q()[i] * chain.q()[i]);
    if (part.scheme != "BAOAB" && n % 10 == 0) xi.push_back(chain.state().xi[0]);
  }
  return {{estimate(squares[0]), estimate(squares[1])}, xi.empty() ? Estimate() : estimate(xi)};
}

CovarianceSettings form(const std::string& name, long examples) {
  CovarianceSettings c;
  c.form = name, c.examples = examples;
  return c;
}

// The bias O(h^2) of these words at h = 0.1, omega = 2 is below 0.01; a variance from few examples is itself noisy,
// which makes the friction too weak on average by its square: below 0.01 with a memory of ten estimates.
TEST(GradientNoise, CovarianceControlCuresItInEveryDirection) {
  for (const char* toy : {anisotropic, isotropic}) {
    const Law law = law_of(toy, adaptive("ccadl"), form("diagonal", 4));
    for (const Estimate& q : law.q)
      EXPECT_LT(std::abs(q.mean - 1), 4 * q.error + 0.02) << toy << q.mean << "+-" << q.error;
    EXPECT_LT(law.q[0].error, 0.03) << "too few steps to tell";
    // what is left to the thermostat is its own noise: <xi> = sigma^2/2T
    EXPECT_LT(std::abs(law.xi.mean - 1), 4 * law.xi.error + 0.02) << toy << law.xi.mean << "+-" << law.xi.error;
  }
}

TEST(GradientNoise, TheLowRankFormDoesTheSame) {
  const Law law = law_of(anisotropic, adaptive("ccadl"), form("low_rank", 8), 60000);
  for (const Estimate& q : law.q) EXPECT_LT(std::abs(q.mean - 1), 4 * q.error + 0.02) << q.mean << "+-" << q.error;
}

TEST(GradientNoise, OneFrictionForAllCuresOnlyWhatIsTheSameForAll) {
  const Law cured = law_of(isotropic, adaptive("bafefab"));
  for (const Estimate& q : cured.q) EXPECT_LT(std::abs(q.mean - 1), 4 * q.error + 0.02) << q.mean << "+-" << q.error;
  EXPECT_LT(std::abs(cured.xi.mean - 2), 4 * cured.xi.error + 0.02) << cured.xi.mean;  // (h s + sigma^2)/2T
  const Law uncured = law_of(anisotropic, adaptive("bafefab"));  // known from elsewhere: 1.325, 0.679
  EXPECT_NEAR(uncured.q[0].mean, 1.325, 4 * uncured.q[0].error + 0.005);
  EXPECT_NEAR(uncured.q[1].mean, 0.679, 4 * uncured.q[1].error + 0.005);
  EXPECT_GT(uncured.q[0].deviation(1), 8);
  EXPECT_LT(uncured.q[1].deviation(1), -8);
}

TEST(GradientNoise, LangevinHeatsAsTheClosedFormSays) {
  // omega^2 <q^2> = 1 + (h^2 s/4) coth(gamma h/2)/(1 - h^2 omega^2/4), in each direction by itself
  const auto heated = [](double s, double omega2) {
    return 1 + 0.01 * s / 4 / std::tanh(0.05) / (1 - 0.01 * omega2 / 4);
  };
  EXPECT_NEAR(heated(20, 1), 2.003342, 1e-6);
  const Law law = law_of(anisotropic, moving("BAOAB", 0.1));
  EXPECT_LT(std::abs(law.q[0].deviation(heated(20, 1))), 4) << law.q[0].mean;
  EXPECT_LT(std::abs(law.q[1].deviation(1)), 4) << law.q[1].mean;
}

// ---- letter V by itself

template <class Real>
void apply(std::span<Real> p, const GradientNoise<Real>& noise, double h, double share) {
  std::vector<Real> q(p.size()), g(p.size());
  Part<Real> part;
  part.q = q, part.p = p, part.g = g, part.h = h, part.T = 0.5, part.noise = &noise;
  for (const Letter& l : letters())
    if (l.symbol == 'V') l.flow(part, share * h, {});
}

TEST(GradientNoise, TheLetterIsTheExponentialOfTheCovariance) {
  // Y = (1, 2)', (0.5, -1)' as columns: covariance Y Y' = [1.25 1.5; 1.5 5]; s = h^2 share/2T = 0.08
  const std::vector<double> columns{1, 2, 0.5, -1};
  const double a = 5, b = -1.5, c = 1.25;  // Y'Y
  const double root = std::hypot((a - c) / 2, b), low = (a + c) / 2 - root, high = (a + c) / 2 + root;
  const double angle = std::atan2(high - a, b);
  const std::vector<double> values{low, high},
      vectors{-std::sin(angle), std::cos(angle), std::cos(angle), std::sin(angle)};
  std::vector<double> p{0.3, -0.7};
  apply<double>(p, {{}, columns, values, vectors}, 0.4, 0.5);
  // exp(-s C) by its series
  const double C[2][2] = {{1.25, 1.5}, {1.5, 5}}, s = 0.08;
  double term[2] = {0.3, -0.7}, sum[2] = {0.3, -0.7};
  for (int k = 1; k < 30; ++k) {
    const double x = term[0], y = term[1];
    for (int i = 0; i < 2; ++i) sum[i] += term[i] = -s / k * (C[i][0] * x + C[i][1] * y);
  }
  EXPECT_NEAR(p[0], sum[0], 1e-14);
  EXPECT_NEAR(p[1], sum[1], 1e-14);
  std::vector<double> d{0.3, -0.7};
  const std::vector<double> variance{2, 5};
  apply<double>(d, {variance, {}, {}, {}}, 0.4, 0.5);
  EXPECT_NEAR(d[0], 0.3 * std::exp(-0.08 * 2), 1e-15);
  EXPECT_NEAR(d[1], -0.7 * std::exp(-0.08 * 5), 1e-15);
}

// Two rows of many: half of the squared difference of two gradients has the variance as its mean.
TEST(GradientNoise, TheEstimateHasTheVarianceAsItsMean) {
  const auto u = make_toy<double>(with(anisotropic));
  Recipe recipe = recipe_for(*u, adaptive("ccadl"));
  const std::vector<double> q{0.3, -0.2};
  for (const char* kind : {"diagonal", "low_rank"}) {
    recipe.tuning.covariance = form(kind, 5);
    recipe.tuning.covariance.keep = 0;
    NoiseEstimate<double> estimator(recipe, u->rows(), 0.5);
    std::vector<double> found[2];
    Energy<double> energy(u->clone());
    for (std::uint64_t n = 0; n < 4000; ++n) {
      estimator.see(energy, q, {7, 0, n, 0});
      const GradientNoise<double>& noise = *estimator.of(0);
      for (std::size_t i = 0; i < 2; ++i) {
        double sum = noise.variance.empty() ? 0 : noise.variance[i];
        for (std::size_t j = 0; j < noise.values.size(); ++j) sum += std::pow(noise.columns[2 * j + i], 2);
        found[i].push_back(sum);
      }
    }
    EXPECT_LT(std::abs(estimate(found[0]).deviation(10)), 4) << kind << " " << estimate(found[0]).mean;
    EXPECT_NEAR(estimate(found[1]).mean, 0, 1e-25) << kind;
  }
}

TEST(GradientNoise, GoesOnBitForBitAndNeverAllocates) {
  for (const char* kind : {"diagonal", "low_rank"}) {
    const auto u = make_toy<float>(with(anisotropic));
    Recipe recipe = recipe_for(*u, adaptive("ccadl"));
    recipe.tuning.covariance = form(kind, 5);
    recipe.tuning.covariance.every = 3;
    const Noise<float> noise;
    const auto chain = [&] {
      return Chain<float>(u->clone(), recipe, Batches(one_row(), u->rows(), 3, 0), noise, 3, 0);
    };
    Chain<float> a = chain(), b = chain();
    a.start(std::vector<float>(2, 1.0F)), b.start(std::vector<float>(2, 0.0F));
    for (int n = 0; n < 32; ++n) a.step();
    b.restore(a.state());
    for (int n = 0; n < 3; ++n) a.step();
    const std::size_t before = allocations;
    for (int n = 0; n < 20; ++n) a.step();
    EXPECT_EQ(allocations, before) << kind;
    for (int n = 0; n < 23; ++n) b.step_and_read();
    EXPECT_TRUE(std::ranges::equal(a.q(), b.q())) << kind;
    EXPECT_TRUE(std::ranges::equal(a.p(), b.p())) << kind;
  }
}

// ---- control variates

TEST(ControlVariates, AreUnbiasedAndTakeAwayTheNoise) {
  const char* toy = "{ name = 'noisy', dimension = 3, stiffness = 2.0, noise = 20.0, rows = 6 }";
  const auto plain = make_toy<double>(with(toy));
  Energy<double> anchored(plain->clone());
  anchored.estimate.anchor(4);
  anchored.arrange(anchored.blocks());
  const std::vector<double> anchor{0.3, -1, 2}, q{1, 1, 1};
  std::vector<double> g(3), exact(3), mean(3, 0.0);
  const std::uint32_t first = 0;
  anchored.estimate.prepare({1, 0, 0, 0});
  anchored(anchor, {.rows = Batch(&first, 1)}, g);
  const double U = evaluated(*plain, q, {}, exact);
  for (std::uint32_t row = 0; row < 6; ++row) {
    anchored.estimate.prepare({1, 0, 1 + row % 3, 0});
    EXPECT_NEAR(anchored(q, {.rows = Batch(&row, 1)}, g), U, 1e-12);
    for (std::size_t i = 0; i < 3; ++i) {
      mean[i] += g[i] / 6;
      EXPECT_NEAR(g[i], exact[i], 1e-12) << "pulls that do not depend on q go out altogether";
    }
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(mean[i], exact[i], 1e-12);
}

TEST(ControlVariates, AChainWithThemIsNotHeatedAndGoesOnBitForBit) {
  const auto plain = make_toy<double>(with(anisotropic));
  Energy<double> u(plain->clone());
  u.estimate.anchor(10);
  const Recipe recipe = recipe_for(*plain, moving("BAOAB", 0.1));
  const Noise<double> noise;
  const auto chain = [&] { return Chain<double>(u, recipe, Batches(one_row(), u.rows(), 3, 0), noise, 3, 0); };
  Chain<double> a = chain(), b = chain();
  a.start(std::vector<double>(2, 0.0)), b.start(std::vector<double>(2, 1.0));
  for (int n = 0; n < 27; ++n) a.step();
  b.restore(a.state());
  std::vector<double> square;
  for (int n = 0; n < 40000; ++n) {
    a.step();
    square.push_back(a.q()[0] * a.q()[0]);
    if (n < 50) b.step_and_read();
    if (n == 49) {
      EXPECT_TRUE(std::ranges::equal(a.q(), b.q()));
    }
  }
  EXPECT_LT(std::abs(estimate(square).deviation(1)), 4) << estimate(square).mean << ", without them 2";
}

// ---- sweeps

// <q^2> - 1 of a unit oscillator whose four rows pull it about, a row at a time.
Estimate excess(const char* scheme, const std::string& order, double h) {
  const auto u = make_toy<double>(with("{ name = 'noisy', dimension = 20, noise = 400.0, rows = 4 }"));
  BatchSettings batch = one_row();
  batch.order = order;
  const Noise<double> noise;
  Chain<double> chain(u->clone(), recipe_for(*u, moving(scheme, h)), Batches(batch, u->rows(), 3, 0), noise, 3, 0);
  chain.start(std::vector<double>(20, 0.0));
  std::vector<double> square;
  for (int n = 0; n < int(12000 / h); ++n) {
    chain.step();
    double sum = 0;
    for (const double q : chain.q()) sum += q * q / 20;
    if (n > 100) square.push_back(sum - 1);
  }
  return estimate(square);
}

// Rows drawn at random leave a bias of first order, the heat h s / 2 gamma; forwards and then backwards through a
// permutation one of at least second order (here more: pulls that do not depend on q cancel twice over).
TEST(SymmetricSweeps, RaiseTheOrderOfMinibatchesToTwo) {
  for (const char* scheme : {"UBU", "BAOAB"}) {
    const Estimate wide = excess(scheme, "symmetric", 0.2), narrow = excess(scheme, "symmetric", 0.1);
    const Estimate wide_random = excess(scheme, "with_replacement", 0.2),
                   narrow_random = excess(scheme, "with_replacement", 0.1);
    const auto slope = [](const Estimate& a, const Estimate& b) { return std::log2(a.mean / b.mean); };
    const auto error = [](const Estimate& a, const Estimate& b) {
      return std::hypot(a.error / a.mean, b.error / b.mean) / std::log(2);
    };
    EXPECT_NEAR(slope(wide_random, narrow_random), 1, 0.1 + 4 * error(wide_random, narrow_random)) << scheme;
    EXPECT_GT(slope(wide, narrow) - 4 * error(wide, narrow), 2)
        << scheme << ": " << wide.mean << "+-" << wide.error << ", " << narrow.mean << "+-" << narrow.error;
    EXPECT_LT(error(wide, narrow), 0.15) << scheme << ": " << wide.mean << "+-" << wide.error << ", " << narrow.mean
                                         << "+-" << narrow.error;
  }
}

}  // namespace
}  // namespace kelvin
