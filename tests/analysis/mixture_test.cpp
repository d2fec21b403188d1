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

std::vector<NoiseAt> laws_at(const std::vector<double>& centres, const std::vector<double>& scales, double shape = 5) {
  std::vector<NoiseAt> out;
  for (std::size_t i = 0; i < centres.size(); ++i) out.push_back({centres[i], scales[i], shape});
  return out;
}

const std::vector<NoiseAt> five_draws = laws_at({-1.3, 0.2, 0.25, 2.9, 0.21}, {0.5, 0.8, 0.6, 0.5, 1.1});

double density(const Mixture& m, double x) {
  double sum = 0;
  for (const NoiseAt& n : m.at) sum += std::exp(m.law->log_density(x, n)) / double(m.at.size());
  return sum;
}

// Laws of real numbers.
class EveryLaw : public testing::TestWithParam<const NoiseLaw*> {
 protected:
  const NoiseLaw& law = *GetParam();
  const Mixture mixture{GetParam(), five_draws};
  // Beyond it lies less than 1e-6 of second moments.
  const double far = GetParam() == &student_law ? 4000 : 40;
};

TEST_P(EveryLaw, IsADensityWithItsDistributionVarianceDistanceAndReach) {
  const NoiseAt n{0.4, 0.7, 5};
  const double reach = law.reach(n);
  const auto p = [&](double e) { return std::exp(law.log_density(n.centre + e, n)); };
  const auto both = [&](const std::function<double(double)>& f) {  // e = sinh(v): tails may be long
    const auto g = [&](double v) { return f(std::sinh(v)) * std::cosh(v); };
    const double end = std::asinh(reach);
    return integral(g, -end, 0) + integral(g, 0, end);
  };
  EXPECT_NEAR(both(p), 1, 1e-9);
  // Of Student's t with 5 degrees of freedom, 1e-7 of the second moment lies beyond the reach.
  EXPECT_NEAR(both([&](double e) { return e * e * p(e); }), law.variance(n), 1e-6);
  EXPECT_LT(law.distribution(n.centre - reach, n), 1e-12);
  EXPECT_GT(law.distribution(n.centre - reach, n), 1e-14) << "a far longer reach only costs time";
  EXPECT_NEAR(1 - law.distribution(n.centre + reach, n), 0, 1e-12);
  for (const double e : {-1.1, -0.2, 0.0, 0.3, 2.5}) {
    const double y = n.centre + e, before = std::min(e, 0.0);
    const double left = integral(p, -40, before, 200000) + (e > 0 ? integral(p, 0, e) : 0);
    // 40 scales hold all but 2e-7 of Student's t with 5 degrees of freedom
    EXPECT_NEAR(law.distribution(y, n), left, &law == &student_law ? 3e-7 : 1e-9) << e;
    // d/dy mean |Y - y| = 2 F(y) - 1, from the centre, where it is the mean of |Y - centre|
    const double grown = integral([&](double x) { return 2 * law.distribution(x, n) - 1; }, n.centre, y);
    EXPECT_NEAR(law.distance(y, n), both([&](double z) { return std::abs(z) * p(z); }) + grown, 1e-8) << e;
  }
}

TEST_P(EveryLaw, MixturesHaveTheMomentsOfQuadrature) {
  const auto moment = [&](int n) {
    return integral([&](double v) { return std::pow(std::sinh(v), n) * density(mixture, std::sinh(v)) * std::cosh(v); },
                    -std::asinh(far), std::asinh(far), 200000);
  };
  EXPECT_NEAR(mixture.mean(), moment(1), 1e-6);
  EXPECT_NEAR(mixture.within() + mixture.between(), moment(2) - moment(1) * moment(1), 1e-6);
}

TEST_P(EveryLaw, QuantilesInvertTheDistribution) {
  for (const double level : {0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999})
    EXPECT_NEAR(mixture.distribution(mixture.quantile(level)), level, 1e-9) << level;
  const auto lonely = laws_at({-1000, 1000}, {1e-3, 1e-3});
  const Mixture apart{&law, lonely};
  EXPECT_NEAR(apart.quantile(0.25), -1000, 1e-6) << "Newton's steps start where the density vanishes";
}

TEST_P(EveryLaw, TheRankedScoreIsItsIntegral) {
  for (const double y : {-3.0, 0.2, 0.9, 5.0, 300.0}) {
    const auto squared = [&](double z) {
      const double f = mixture.distribution(z) - double(z >= y);
      return f * f;
    };
    const double exact = integral([&](double z) { return squared(std::min(z, y - 1e-12)); }, -60, y, 100000) +
                         integral(squared, y, 400, 100000);
    EXPECT_NEAR(mixture.ranked_score(y), exact, 1e-4 * exact) << y;
  }
}

// One draw of n says next to nothing. In mean |Y - y| - mean |Y - Y'| / 2 its distance to all others cancels; what is
// left is its own score over n^2, and what the others say of themselves.
TEST_P(EveryLaw, ADrawOfHugeWidthNeitherHidesTheOthersNorMakesScoresNegative) {
  constexpr double n = 100, y = 0.1;
  for (const double huge : {1e3, 1e6, 1e9, 1e12}) {
    std::vector<NoiseAt> draws(std::size_t(n), {0, 0.5, 5});
    draws[17].scale = huge;
    const Mixture m{&law, draws}, wide{&law, std::span(draws).subspan(17, 1)}, narrow{&law, std::span(draws).first(1)};
    for (const double level : {0.1, 0.25, 0.5, 0.75})
      EXPECT_NEAR(narrow.distribution(m.quantile(level)), (level - 0.5 / n) / (1 - 1 / n), 2e-4) << huge;
    const double distance = law.distance(y, draws[0]), spread = distance - narrow.ranked_score(y);
    const double exact = wide.ranked_score(0) / (n * n) + (1 - 1 / n) * distance - (1 - 1 / n) * (1 - 1 / n) * spread;
    EXPECT_NEAR(m.ranked_score(y), exact, 1e-3 * exact) << huge;
    EXPECT_GT(exact, 0);
  }
}

TEST_P(EveryLaw, EqualDrawsDisagreeByExactlyNothing) {
  const auto same = laws_at(std::vector<double>(7, 0.1), std::vector<double>(7, 0.3));
  const Mixture m{&law, same};
  EXPECT_EQ(m.between(), 0);
  EXPECT_EQ(m.mean(), 0.1);
  EXPECT_EQ(m.within(), law.variance(same[0]));
}

// Scales from a hundredth of the distance of the draws on: too few nodes to see each narrow one.
TEST_P(EveryLaw, TheScoreOfDrawsWithUnequalScalesIsItsIntegral) {
  std::vector<double> c(300), s(300);
  normals({stream_key(1, "centres"), 0, 0, 0}, 0, std::span(c));
  normals({stream_key(1, "scales"), 0, 0, 0}, 0, std::span(s));
  for (double& x : s) x = 0.1 * std::exp(x);
  const auto draws = laws_at(c, s);
  const Mixture m{&law, draws};
  const auto squared = [&](double z) { return std::pow(m.distribution(z) - double(z >= 0), 2); };
  const double exact =
      integral([&](double z) { return squared(std::min(z, -1e-12)); }, -40, 0, 8000) + integral(squared, 0, 40, 8000);
  EXPECT_NEAR(m.ranked_score(0), exact, 1e-3 * exact);
}

TEST_P(EveryLaw, TheScoreOfDrawsFarApartIsThatOfTheDraws) {
  const auto draws = laws_at({-100, 3, 7, 7.5, 250}, std::vector<double>(5, 1e-4));
  const double exact = Mixture{nullptr, draws}.ranked_score(20);
  EXPECT_NEAR((Mixture{&law, draws}.ranked_score(20)), exact, 0.02 * exact);
}

INSTANTIATE_TEST_SUITE_P(Mixture, EveryLaw, testing::Values(&normal_law, &laplace_law, &student_law),
                         [](const auto& info) { return std::string(info.param->name); });

// Laws of counts.
class EveryLawOfCounts : public testing::TestWithParam<const NoiseLaw*> {
 protected:
  const NoiseLaw& law = *GetParam();
};

TEST_P(EveryLawOfCounts, IsALawWithItsDistributionMeanVarianceDistanceAndReach) {
  for (const NoiseAt& n : {NoiseAt{0.3, 1, 0.5}, NoiseAt{7.5, 1, 0.5}, NoiseAt{400, 1, 0.02}}) {
    const double end = std::ceil(n.centre + law.reach(n));
    double sum = 0, mean = 0, square = 0;
    std::vector<double> p;
    for (double k = 0; k <= end; ++k) {
      p.push_back(std::exp(law.log_density(k, n)));
      sum += p.back();
      mean += k * p.back();
      square += k * k * p.back();
      ASSERT_NEAR(law.distribution(k, n), sum, 1e-10) << k;
    }
    EXPECT_NEAR(sum, 1, 1e-11);
    EXPECT_NEAR(mean, n.centre, 1e-9 * n.centre);
    EXPECT_NEAR(square - mean * mean, law.variance(n), 1e-7 * law.variance(n));
    EXPECT_EQ(law.distribution(-1, n), 0);
    for (const double y : {0.0, 1.0, 9.0, std::floor(n.centre)}) {
      double away = 0;
      for (std::size_t k = 0; k < p.size(); ++k) away += std::abs(double(k) - y) * p[k];
      EXPECT_NEAR(law.distance(y, n), away, 1e-8 * (1 + away)) << y;
    }
  }
}

TEST_P(EveryLawOfCounts, MixturesHaveTheSumAsRankedScoreAndTheLeastCountAsQuantile) {
  for (const double size : {1.0, 30.0, 1000.0}) {
    const auto draws = laws_at({0.7 * size, 2 * size, 2.5 * size, 9 * size}, std::vector<double>(4, 1.0), 0.1);
    const Mixture m{&law, draws};
    for (const double y : {0.0, 3.0, std::floor(2.2 * size), 40 * size}) {
      double exact = 0;
      for (double k = 0; k < 200 * size; ++k) exact += std::pow(m.distribution(k) - double(k >= y), 2);
      // draws that lie dozens of widths apart: neighbours that are summed as one span a sixth of their distance
      EXPECT_NEAR(m.ranked_score(y), exact, (size > 100 ? 5e-3 : 1e-3) * exact) << size << " " << y;
    }
    for (const double level : {0.05, 0.5, 0.95}) {
      const double k = m.quantile(level);
      EXPECT_EQ(k, std::floor(k));
      EXPECT_GE(m.distribution(k), level);
      EXPECT_LT(m.distribution(k - 1), level);
    }
  }
}

// Counts drawn from the law have places that are evenly distributed: 16 equal bins, chi-square with 15 degrees of
// freedom, of which 37.7 has the probability 0.001. Without the part within the jump they are not.
TEST_P(EveryLawOfCounts, PlacesAreEvenWithinTheJumps) {
  const auto draws = laws_at({1.3}, {1.0}, 0.5);
  const Mixture m{&law, draws};
  std::vector<double> even(16), control(16);
  constexpr int n = 4000;
  const std::uint64_t key = stream_key(1, "counts");
  for (int i = 0; i < n; ++i) {
    const double u = uniform({key, 0, std::uint64_t(i), 0}, 0), v = uniform({key, 0, std::uint64_t(i), 1}, 0);
    const double y = m.quantile(u);
    ++even[std::size_t(16 * m.place(y, v))];
    ++control[std::min<std::size_t>(15, std::size_t(16 * m.place(y, 1)))];
  }
  const auto chi_square = [](const std::vector<double>& bins) {
    double sum = 0;
    for (const double b : bins) sum += (b - n / 16.0) * (b - n / 16.0) / (n / 16.0);
    return sum;
  };
  EXPECT_LT(chi_square(even), 37.7);
  EXPECT_GT(chi_square(control), 37.7);
}

INSTANTIATE_TEST_SUITE_P(Mixture, EveryLawOfCounts, testing::Values(&poisson_law, &negative_binomial_law),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(NoiseLaw, LimitsOfShapes) {
  const NoiseAt gaussian{0.4, 0.7}, nearly{0.4, 0.7, 1e7}, rate{3.2}, tight{3.2, 1, 1e-6};
  for (const double y : {-1.0, 0.5, 2.0}) {
    EXPECT_NEAR(student_law.log_density(y, nearly), normal_law.log_density(y, gaussian), 1e-6);
    EXPECT_NEAR(student_law.distribution(y, nearly), normal_law.distribution(y, gaussian), 1e-6);
  }
  for (const double y : {0.0, 3.0, 8.0})
    EXPECT_NEAR(negative_binomial_law.log_density(y, tight), poisson_law.log_density(y, rate), 1e-5);
}

TEST(Mixture, OfTwoGaussiansHasTheRankedScoreInClosedForm) {
  // mean |Y - y| - mean |Y - Y'| / 2, differences of gaussians being gaussian
  const std::vector<NoiseAt> draws = {{-1, 0.5}, {2, 1}};
  const double y = 0.3;
  double exact = 0;
  for (const NoiseAt& a : draws) {
    exact += normal_law.distance(y, a) / 2;
    for (const NoiseAt& b : draws) exact -= normal_law.distance(a.centre, {b.centre, std::hypot(a.scale, b.scale)}) / 8;
  }
  EXPECT_NEAR((Mixture{&normal_law, draws}.ranked_score(y)), exact, 1e-8);
}

TEST(Mixture, WithoutALawIsItsDraws) {
  const std::vector<double> c = {3, 1, 2, 10};
  const auto draws = laws_at(c, std::vector<double>(4, 1.0));
  const Mixture m{nullptr, draws};
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

// exp(-loss / temperature) and the law of the loss are the same function of the target, but for a factor; of losses
// that know their noise, the same without one.
TEST(NoiseLaw, IsWhatTheLossStandsFor) {
  for (const Loss& loss : losses()) {
    if (!loss.noise) continue;
    for (const std::size_t targets : {1, 3}) {
      const std::size_t width = targets * loss.outputs_each();
      const double temperature = loss.noise_scale ? 0.37 : 1;
      const double s = loss.noise_scale ? loss.noise_scale(temperature, double(width)) : 0.6;
      const std::vector<Scale> scales(targets, {std::log(s), 1 / (s * s), 3.5});
      std::vector<double> f(width, 0.4), y(targets, loss.counts ? 2 : -0.3), slopes(width);
      const auto difference = [&](double target) {
        y[0] = target;
        NoiseAt n = noise_at(loss, {}, f, 0, scales[0]);
        if (loss.noise_scale) n.scale = s;
        return loss.sum<double>()({1, width, f.data(), y.data(), slopes.data(), scales, {}}) / temperature +
               loss.noise->log_density(target, n);
      };
      const std::vector<double> places =
          loss.counts ? std::vector<double>{0, 1, 4, 30} : std::vector<double>{-2.0, 0.1, 0.9, 4.0};
      for (const double target : places)
        EXPECT_NEAR(difference(target), difference(loss.counts ? 7 : 0.4), 1e-12)
            << loss.name << " " << width << " " << target;
      if (targets == 1 && !loss.noise_scale) {
        EXPECT_NEAR(difference(places[0]), 0, 1e-12) << loss.name;
      }
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
