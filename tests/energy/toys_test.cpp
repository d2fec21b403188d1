// SPDX-License-Identifier: Apache-2.0
// Toys: gradients, and their exact moments against sums over a grid.
#include "kelvin/energy/toys.h"

#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "tests/finite_difference.h"

namespace kelvin {
namespace {

Choice with(std::string_view toml) {
  Value v = parse_toml(fmt::format("it = {}", toml), "test");
  Choice c;
  assign(c, std::get<Value::Group>(v.is).at("it"), "toy");
  return c;
}

// A rectangle that holds all but 1e-12 of each law at temperatures up to 1.5.
struct Case {
  Choice toy;
  std::vector<double> lower, upper;
};
const std::vector<Case> cases = {
    {with("{ name = 'gaussian', stiffness = [0.5, 4.0], mean = [1.0, -2.0] }"), {-14, -9}, {16, 5}},
    {with("{ name = 'gaussian', covariance = [2.0, 0.6, 0.6, 0.5], mean = 1.0 }"), {-13, -6}, {15, 8}},
    {with("{ name = 'noisy', dimension = 2, stiffness = 0.7, rows = 5 }"), {-13, -13}, {13, 13}},
    {with("{ name = 'two_scales', slow = 0.3, fast = 0.9 }"), {-12}, {12}},
    {with("{ name = 'slow_fast', stiffness = 2.0 }"), {-13, -11}, {13, 11}},
    {with("'double_well'"), {-3}, {3}},
    {with("{ name = 'double_well', height = 1.0, tilt = -2.0 }"), {-4}, {4}},
    {with("{ name = 'mixture', grid = 3, spacing = 2.0, sd = 0.3 }"), {-5, -5}, {5, 5}},
    {with("{ name = 'banana', a = 2.0, b = 0.3 }"), {-13, -45}, {13, 12}},
    {with("{ name = 'funnel', scale = 0.5 }"), {-5, -60}, {5, 60}},
    {with("{ name = 'funnel', scale = 0.5, centred = 0 }"), {-5, -9}, {5, 9}},
    {with("{ name = 'noisy', dimension = 2, stiffness = [0.7, 2.0], noise = [3.0, 0.0], rows = 5 }"),
     {-13, -8},
     {13, 8}},
    {with("{ name = 'skewed', k = 3.0 }"), {-25}, {4}},
    {with("{ name = 'ring', radius = 1.0, strength = 4.0 }"), {-6, -6}, {6, 6}},
    {with("'quartic'"), {-4}, {4}},
};

Moments summed(const Case& c, double T) {
  const auto u = make_toy<double>(c.toy);
  const std::size_t n = dimension_of(*u), points = n == 1 ? 40'001 : 1'501;
  std::vector<double> q(n), g(n), first(n), second(n);
  double sum = 0, energy = 0;
  const auto at = [&](std::size_t i, std::size_t k) {
    return c.lower[k] + (c.upper[k] - c.lower[k]) * double(i) / double(points - 1);
  };
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < (n == 1 ? 1 : points); ++j) {
      q[0] = at(i, 0);
      if (n == 2) q[1] = at(j, 1);
      const double value = evaluated(*u, q, {}, g), w = std::exp(-value / T);
      sum += w, energy += w * value;
      for (std::size_t k = 0; k < n; ++k) first[k] += w * q[k], second[k] += w * q[k] * q[k];
    }
  Moments out{first, second, energy / sum};
  for (std::size_t k = 0; k < n; ++k) {
    out.mean[k] /= sum;
    out.variance[k] = out.variance[k] / sum - out.mean[k] * out.mean[k];
  }
  return out;
}

TEST(Toys, EveryRowIsAmongTheCases) {
  for (const Toy& toy : toys())
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return c.toy.name == toy.name; }) ||
                toy.name == "eight_schools")  // ten coordinates: tests/posteriors_test.cpp
        << toy.name;
}

TEST(Toys, GradientsAreRight) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.toy.name);
    const auto u = make_toy<double>(c.toy);
    expect_gradient_matches(*u, some_point(dimension_of(*u), 0.8));
  }
  for (const char* wide :
       {"{ name = 'funnel', dimension = 5 }", "{ name = 'gaussian', stiffness = 3.0, dimension = 4 }",
        "{ name = 'mixture', dimension = 3 }", "'banana'", "'eight_schools'",
        "{ name = 'eight_schools', centred = 1 }"}) {
    const auto u = make_toy<double>(with(wide));
    expect_gradient_matches(*u, some_point(dimension_of(*u), 0.8));
  }
}

// The trapezoidal rule is exact here but for what the rectangle cuts off. The ring has a kink at its centre, where the
// density is exp(-2 / T): second order in the spacing 0.008, so 1e-5.
TEST(Toys, ExactMomentsAgreeWithSumsOverAGrid) {
  for (const Case& c : cases)
    for (const double T : {0.6, 1.4}) {
      SCOPED_TRACE(fmt::format("{} at T = {}", c.toy.name, T));
      const Moments exact = exact_moments(c.toy, T), sum = summed(c, T);
      const double tolerance = c.toy.name == "ring" ? 2e-5 : 1e-8;
      EXPECT_NEAR(exact.energy, sum.energy, tolerance);
      ASSERT_EQ(exact.mean.size(), sum.mean.size());
      for (std::size_t k = 0; k < sum.mean.size(); ++k) {
        EXPECT_NEAR(exact.mean[k], sum.mean[k], tolerance);
        EXPECT_NEAR(exact.variance[k], sum.variance[k], tolerance * std::max(1.0, sum.variance[k]));
      }
    }
}

TEST(Toys, HaveThePublishedNumbers) {
  const Moments well = exact_moments(with("'double_well'"), 0.5);
  EXPECT_NEAR(well.mean[0], -0.442106, 5e-7);
  EXPECT_NEAR(well.variance[0] + well.mean[0] * well.mean[0], 0.959965, 5e-7);
  EXPECT_NEAR(well.energy, 0.162211, 5e-7);
  EXPECT_NEAR(exact_moments(with("'quartic'"), 1).variance[0], 0.675978, 5e-7);
  const Moments banana = exact_moments(with("'banana'"), 1);
  EXPECT_DOUBLE_EQ(banana.variance[0], 100);
  EXPECT_DOUBLE_EQ(banana.variance[1], 19);
  EXPECT_DOUBLE_EQ(exact_moments(with("'funnel'"), 1).variance[0], 2.25);
  // 25 modes: variance of five equally likely places 2 apart, plus that of one mode
  EXPECT_NEAR(exact_moments(with("'mixture'"), 1).variance[0], 8 + 0.09, 1e-10);
}

TEST(Toys, FloatsSeeTheSameEnergy) {
  for (const Case& c : cases) {
    const auto in_double = make_toy<double>(c.toy);
    const auto in_float = make_toy<float>(c.toy)->clone();
    const std::size_t n = dimension_of(*in_double);
    const auto q = some_point<float>(n, 0.8);
    std::vector<float> g(n);
    std::vector<double> h(n);
    const double U = evaluated(*in_double, std::vector<double>(q.begin(), q.end()), {}, h);
    const double rounding =
        4 * std::numeric_limits<float>::epsilon();  // of a term or a sum, where the toy works in float
    EXPECT_NEAR(evaluated(*in_float, q, {}, g), U, rounding * std::abs(U)) << c.toy.name;
    for (std::size_t k = 0; k < n; ++k) EXPECT_NEAR(g[k], h[k], rounding * std::abs(h[k])) << c.toy.name;
  }
}

TEST(Toys, TheNoisyGradientHasItsVarianceAndSumsToTheGradient) {
  const auto u = make_toy<double>(with("{ name = 'noisy', dimension = 2, noise = 20.0, rows = 50 }"));
  ASSERT_EQ(u->rows(), 50u);
  const std::vector<double> q{0.3, -1.1};
  std::vector<double> g(2), exact(2), mean(2, 0.0), square(2, 0.0);
  evaluated(*u, q, {}, exact);
  for (std::uint32_t row = 0; row < 50; ++row) {
    evaluated(*u, q, Batch(&row, 1), g);
    for (std::size_t i = 0; i < 2; ++i) mean[i] += g[i] / 50, square[i] += (g[i] - exact[i]) * (g[i] - exact[i]) / 50;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(mean[i], exact[i], 1e-13);
    EXPECT_NEAR(square[i], 20, 1e-12);
  }
}

TEST(Toys, MixtureIsFiniteFarFromAllModes) {
  const auto u = make_toy<double>(with("{ name = 'mixture', sd = 0.1 }"));
  std::vector<double> g(2);
  EXPECT_NEAR(evaluated(*u, std::vector<double>{104, 0}, {}, g), 100 * 100 / (2 * 0.01), 1);
  EXPECT_NEAR(g[0], 100 / 0.01, 1e-8);
}

TEST(Toys, RefuseParametersWithoutMeaning) {
  for (const char* wrong :
       {"{ name = 'gaussian', stiffness = [1.0, -1.0] }", "{ name = 'gaussian', covariance = [1.0, 2.0, 3.0] }",
        "{ name = 'gaussian', covariance = [1.0, 2.0, 2.0, 1.0] }",
        "{ name = 'gaussian', stiffness = [1.0, 2.0], dimension = 3 }", "{ name = 'gaussian', mean = [1.0, 2.0] }",
        "{ name = 'double_well', height = 0.0 }", "{ name = 'funnel', dimension = 1 }",
        "{ name = 'ring', radius = -1.0 }", "{ name = 'mixture', grid = 2.5 }", "'volcano'",
        "{ name = 'quartic', k = 1.0 }"})
    EXPECT_THROW(make_toy<double>(with(wrong)), Error) << wrong;
}

}  // namespace
}  // namespace kelvin
