// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kelvin/core/noise.h"
#include "kelvin/energy/loss.h"

namespace kelvin {
namespace {

// Simpson's rule; the tails that are cut off hold less than 1e-12.
double integral(const std::function<double(double)>& f, double from, double to, int n = 20000) {
  double sum = f(from) + f(to);
  for (int k = 1; k < n; ++k) sum += f(from + (to - from) * k / n) * (k % 2 ? 4 : 2);
  return sum * (to - from) / n / 3;
}

const std::vector<double> centres = {-1.3, 0.2, 0.25, 2.9, 0.21}, scales = {0.5, 0.8, 0.6, 0.5, 1.1};

double density(const Mixture& m, double x) {
  double sum = 0;
  for (std::size_t i = 0; i < m.centres.size(); ++i)
    sum += std::exp(m.law->log_density(x - m.centres[i], m.scales[i])) / double(m.centres.size());
  return sum;
}

class EveryLaw : public testing::TestWithParam<const NoiseLaw*> {
 protected:
  const NoiseLaw& law = *GetParam();
  const Mixture mixture{GetParam(), centres, scales};
};

TEST_P(EveryLaw, IsADensityWithItsDistributionVarianceDistanceAndReach) {
  const double s = 0.7, far = law.reach * s;
  const auto p = [&](double e) { return std::exp(law.log_density(e, s)); };
  EXPECT_NEAR(integral(p, -far, 0) + integral(p, 0, far), 1, 1e-9);
  EXPECT_NEAR(2 * integral([&](double e) { return e * e * p(e); }, 0, far), law.variance * s * s, 1e-8);
  EXPECT_LT(law.distribution(-far, s), 1e-12);
  EXPECT_GT(law.distribution(-far, s), 1e-14) << "a far longer reach only costs time";
  for (const double e : {-1.1, -0.2, 0.0, 0.3, 2.5}) {
    const double left = integral(p, -far, std::min(e, 0.0)) + (e > 0 ? integral(p, 0, e) : 0);
    EXPECT_NEAR(law.distribution(e, s), left, 1e-9) << e;
    const auto away = [&](double z) { return std::abs(z - e) * p(z); };
    const double low = std::min(e, 0.0), high = std::max(e, 0.0);
    EXPECT_NEAR(law.distance(e, s), integral(away, -far, low) + integral(away, low, high) + integral(away, high, far),
                1e-8)
        << e;
  }
}

TEST_P(EveryLaw, MixturesHaveTheMomentsOfQuadrature) {
  const auto moment = [&](int n) {
    return integral([&](double x) { return std::pow(x, n) * density(mixture, x); }, -40, 40, 200000);
  };
  EXPECT_NEAR(mixture.mean(), moment(1), 1e-6);
  EXPECT_NEAR(mixture.within() + mixture.between(), moment(2) - moment(1) * moment(1), 1e-6);
}

TEST_P(EveryLaw, QuantilesInvertTheDistribution) {
  for (const double level : {0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999})
    EXPECT_NEAR(mixture.distribution(mixture.quantile(level)), level, 1e-9) << level;
  const std::vector<double> lonely = {-1000, 1000}, narrow = {1e-3, 1e-3};
  const Mixture apart{&law, lonely, narrow};
  EXPECT_NEAR(apart.quantile(0.25), -1000, 1e-6) << "Newton's steps start where the density vanishes";
}

TEST_P(EveryLaw, TheRankedScoreIsItsIntegral) {
  for (const double y : {-3.0, 0.2, 0.9, 5.0}) {
    const auto squared = [&](double z) {
      const double f = mixture.distribution(z) - double(z >= y);
      return f * f;
    };
    const double exact = integral([&](double z) { return squared(std::min(z, y - 1e-12)); }, -40, y, 100000) +
                         integral(squared, y, 40, 100000);
    EXPECT_NEAR(mixture.ranked_score(y), exact, 1e-4 * exact) << y;
  }
}

TEST_P(EveryLaw, EqualDrawsDisagreeByExactlyNothing) {
  const std::vector<double> same(7, 0.1), wide(7, 0.3);
  const Mixture m{&law, same, wide};
  EXPECT_EQ(m.between(), 0);
  EXPECT_EQ(m.mean(), 0.1);
  EXPECT_EQ(m.within(), law.variance * 0.3 * 0.3);
}

// Scales from a hundredth of the distance of the draws on: too few nodes to see each narrow one.
TEST_P(EveryLaw, SpreadOfDrawsWithUnequalScalesIsItsIntegral) {
  std::vector<double> c(300), s(300);
  normals({stream_key(1, "centres"), 0, 0, 0}, 0, std::span(c));
  normals({stream_key(1, "scales"), 0, 0, 0}, 0, std::span(s));
  for (double& x : s) x = 0.1 * std::exp(x);
  const Mixture m{&law, c, s};
  const auto curve = [&](double z) { return m.distribution(z) * (1 - m.distribution(z)); };
  const double exact = integral(curve, -40, 40, 8000);
  EXPECT_NEAR(m.spread(), exact, 1e-3 * exact);
}

TEST_P(EveryLaw, SpreadOfDrawsFarApartIsThatOfTheDraws) {
  const std::vector<double> c = {-100, 3, 7, 7.5, 250}, s(5, 1e-4);
  EXPECT_NEAR((Mixture{&law, c, s}.spread()), (Mixture{nullptr, c, {}}.spread()), 350.0 / 500);
}

INSTANTIATE_TEST_SUITE_P(Mixture, EveryLaw, testing::Values(&normal_law, &laplace_law),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(Mixture, OfTwoGaussiansHasTheRankedScoreInClosedForm) {
  // mean |Y - y| - mean |Y - Y'| / 2, differences of gaussians being gaussian
  const std::vector<double> c = {-1, 2}, s = {0.5, 1};
  const double y = 0.3;
  double exact = 0;
  for (int i = 0; i < 2; ++i) {
    exact += normal_law.distance(y - c[std::size_t(i)], s[std::size_t(i)]) / 2;
    for (int j = 0; j < 2; ++j)
      exact -=
          normal_law.distance(c[std::size_t(i)] - c[std::size_t(j)], std::hypot(s[std::size_t(i)], s[std::size_t(j)])) /
          8;
  }
  EXPECT_NEAR((Mixture{&normal_law, c, s}.ranked_score(y)), exact, 1e-9);
}

TEST(Mixture, WithoutALawIsItsDraws) {
  const std::vector<double> c = {3, 1, 2, 10};
  const Mixture m{nullptr, c, {}};
  double pairs = 0, near = 0;
  for (const double a : c) {
    near += std::abs(a - 2.5) / 4;
    for (const double b : c) pairs += std::abs(a - b) / 16;
  }
  EXPECT_NEAR(m.ranked_score(2.5), near - pairs / 2, 1e-12);
  EXPECT_DOUBLE_EQ(m.quantile(0.5), 2.5);
  EXPECT_EQ(m.within(), 0);
}

TEST(Mixture, TheLogOfAMeanNeitherOverflowsNorVanishes) {
  const std::vector<double> far = {-2000, -2001}, none = {-INFINITY, -INFINITY};
  EXPECT_NEAR(log_mean_exp(far), -2000 + std::log((1 + std::exp(-1)) / 2), 1e-10);
  EXPECT_EQ(log_mean_exp(none), -INFINITY);
}

// exp(-loss / temperature) and the law of the loss are the same function of the target, but for a factor.
TEST(NoiseLaw, IsWhatTheLossStandsFor) {
  for (const Loss& loss : losses()) {
    if (!loss.noise) continue;
    for (const std::size_t width : {1, 3}) {
      const double temperature = loss.noise_scale ? 0.37 : 1;
      const double s = loss.noise_scale ? loss.noise_scale(temperature, double(width)) : 0.6;
      const std::vector<Scale> scales(width, {std::log(s), 1 / (s * s)});
      std::vector<double> f(width, 0.4), y(width, -0.3), slopes(width);
      const auto difference = [&](double target) {
        y[0] = target;
        return loss.sum<double>()({1, width, f.data(), y.data(), slopes.data(), scales, {}}) / temperature +
               loss.noise->log_density(target - f[0], s);
      };
      for (const double target : {-2.0, 0.1, 0.9, 4.0})
        EXPECT_NEAR(difference(target), difference(0.4), 1e-12) << loss.name << " " << width << " " << target;
    }
  }
}

template <class Real>
void probabilities_match(double tolerance) {
  for (const Loss& loss : losses()) {
    if (!loss.template probabilities<Real>()) continue;
    const std::size_t width = loss.targets == Targets::class_number ? 4 : 1, classes = std::max<std::size_t>(2, width);
    std::vector<Real> f = {Real(0.3), Real(-1), Real(2), Real(0.1)}, p(classes), slopes(width);
    f.resize(width);
    for (const double scale : {1.0, -1.0, 30.0}) {
      if (scale != 1 && !loss.output.starts_with("linear")) continue;  // the output is a probability itself
      std::vector<Real> scaled;
      for (const Real x : f) scaled.push_back(Real(scale) * x);
      loss.template probabilities<Real>()(1, width, scaled.data(), p.data());
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const std::vector<Real> y = {Real(k)};
        const double value = loss.template sum<Real>()({1, width, scaled.data(), y.data(), slopes.data(), {}, {}});
        EXPECT_NEAR(-std::log(double(p[k])), value, tolerance * (1 + value)) << loss.name << " class " << k;
        sum += double(p[k]);
      }
      EXPECT_NEAR(sum, 1, tolerance) << loss.name;
    }
  }
}

TEST(Probabilities, AreThoseWhoseLogarithmTheLossIs) {
  probabilities_match<float>(1e-5);
  probabilities_match<double>(1e-12);
}

}  // namespace
}  // namespace kelvin
