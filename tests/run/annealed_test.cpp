// SPDX-License-Identifier: Apache-2.0
// Santa, noise on gradients, cycles, and temperatures that end at 0.
#include "kelvin/core/toml.h"
#include "kelvin/io/problem.h"
#include "kelvin/run/problem.h"
#include "tests/allocations.h"
#include "tests/files.h"
#include "tests/paced.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using Vec = std::vector<double>;

PartSettings exploring(double step, double T) {
  PartSettings part = moving("santa", step, 1, T);
  part.xi = 1, part.eps = number(1 / T), part.floor = 1;
  return part;
}

// With floor = 1 and gradients of size 0.01 the metric is 1 to 1 %: then p.p, the thermostats and q.q are known.
TEST(Santa, ExploresWithItsFrictionAtItsTemperature) {
  constexpr double T = 1e-4, h = 0.05;
  Tuned<double> walker(gaussian(Vec(20, 1.0)), exploring(h, T), {}, 7);
  std::vector<double> p, q, xi;
  for (int n = 0; n < 200000; ++n) {
    walker->step();
    if (n < 2000) continue;
    double pp = 0, qq = 0, mean = 0;
    for (std::size_t i = 0; i < 20; ++i)
      pp += std::pow(walker->p()[i], 2) / 20, qq += std::pow(walker->q()[i], 2) / 20, mean += walker->part(0).u[i] / 20;
    p.push_back(pp / T), q.push_back(qq / T), xi.push_back(mean);
  }
  const double second_order = h * h / 2;
  EXPECT_LT(std::abs(estimate(p).mean - 1), 4 * estimate(p).error + second_order) << estimate(p).mean;
  EXPECT_LT(std::abs(estimate(xi).mean - 1), 4 * estimate(xi).error + second_order) << estimate(xi).mean;
  EXPECT_LT(std::abs(estimate(q).mean - 1), 4 * estimate(q).error + second_order) << estimate(q).mean;
  EXPECT_LT(4 * estimate(q).error + second_order, 0.05) << "so 5 % too much noise would be seen";
}

// The formulas typed out, with a metric that is not 1; then refinement, where the thermostats rest.
TEST(Santa, IsItsFormulas) {
  PartSettings part = exploring(0.1, 0.02);
  part.floor = 1e-3, part.beta2 = 0.9, part.xi = 0.4, part.eps = number(3), part.friction = number(0.7);
  part.temperature = Choice("polynomial", {{"from", 0.02}, {"power", 0.5}, {"until", 30.0}});
  Tuned<double> walker(gaussian({1, 4}), part, {}, 3);
  Vec q(walker->q().begin(), walker->q().end()), p(walker->p().begin(), walker->p().end()), xi(2, 0.4), v(2);
  const Vec stiffness{1, 4};
  const double h = 0.1;
  for (std::uint64_t n = 0; n < 50; ++n) {
    const double T = n < 30 ? 0.02 / std::sqrt(1 + double(n)) : 0;
    Vec z(2);
    normals({stream_key(3, "part all"), 0, n, 0}, 0, std::span(z));
    for (std::size_t i = 0; i < 2; ++i) {
      const double g = stiffness[i] * q[i];
      v[i] = n == 0 ? g * g : 0.9 * v[i] + 0.1 * g * g;
      const double G = 1 / std::sqrt(1e-3 + std::sqrt(v[i]));
      if (T > 0) xi[i] += 3 * h / 2 * (p[i] * p[i] - T);
      p[i] = std::exp(-xi[i] * h / 2) * p[i] - h * G * g + std::sqrt(2 * 0.7 * T * h) * z[i];
      p[i] *= std::exp(-xi[i] * h / 2);
      if (T > 0) xi[i] += 3 * h / 2 * (p[i] * p[i] - T);
      q[i] += h * G * p[i];
    }
    walker->step();
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_NEAR(walker->q()[i], q[i], 1e-12) << n;
      ASSERT_NEAR(walker->part(0).u[i], xi[i], 1e-12) << n;
    }
  }
  const std::size_t before = allocations;
  for (int n = 0; n < 50; ++n) walker->step();
  EXPECT_EQ(allocations, before);
}

TEST(Santa, GoesOnBitForBit) {
  Tuned<float> a(gaussian({1, 4}), exploring(0.1, 0.02)), b(gaussian({1, 4}), exploring(0.1, 0.02));
  expect_goes_on_bit_for_bit(a, b, 20);
}

RunSettings settings_of(const std::string& toml) { return read_run_settings(parse_toml(toml, "test")); }
Problem<double> problem_of(const std::string& toml) {
  return make_problem<double>(settings_of(toml), [](std::string_view) {});
}

// q -= h (g + sqrt(s / (1 + t)^0.55) z): at U = 0 the steps are the noise alone.
TEST(GradientNoise, HasTheVarianceOfItsSchedule) {
  const auto problem = problem_of(R"(
    precision = "double"
    model.toy = { name = "gaussian", stiffness = [1e-12], dimension = 20000 }
    [part.all]
    scheme = "S"
    step = 0.5
    temperature = 0.0
    gradient_noise = { name = "polynomial", from = 0.3 }
  )");
  const Noise<double> noise;
  auto chain = problem.chain(0, noise);
  chain.start(Vec(20000, 0.0));
  Vec before(20000, 0.0);
  for (int t = 0; t < 5; ++t) {
    chain.step();
    double variance = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      variance += std::pow((chain.q()[i] - before[i]) / 0.5, 2) / 20000;
      before[i] = chain.q()[i];
    }
    const double expected = 0.3 / std::pow(1 + t, 0.55);
    EXPECT_NEAR(variance, expected, 4 * expected * std::sqrt(2.0 / 20000)) << t;
  }
}

TEST(GradientNoise, GoesBeforeAnyOptimizerAndOnBitForBit) {
  const std::string toml = R"(
    precision = "double"
    preset = "anneal_sgd"
    model.toy = { name = "gaussian", stiffness = [1.0, 4.0] }
    [part.all]
    blocks = ["*"]
    scheme = "SCHEME"
  )";
  for (const std::string scheme : {"adam", "heavy_ball", "rmsprop", "S"}) {
    std::string text = toml;
    for (auto at = text.find("SCHEME"); at != std::string::npos; at = text.find("SCHEME")) text.replace(at, 6, scheme);
    const auto problem = problem_of(text);
    const Noise<double> noise;
    auto a = problem.chain(0, noise), b = problem.chain(0, noise);
    a.start(Vec{1, 1});
    for (int n = 0; n < 7; ++n) a.step();
    b.restore(a.state());
    for (int n = 0; n < 7; ++n) a.step(), b.step();
    EXPECT_TRUE(std::ranges::equal(a.q(), b.q())) << scheme;
    const std::size_t before = allocations;
    for (int n = 0; n < 50; ++n) a.step();
    EXPECT_EQ(allocations, before) << scheme;
  }
}

TEST(GradientNoise, MistakesAreNamed) {
  const std::string head = "model.toy = 'quartic'\n[part.all]\nscheme = 'S'\ngradient_noise = ";
  EXPECT_THAT(error_of([&] { problem_of(head + "-1.0"); }), HasSubstr("part.all.gradient_noise is a variance"));
  EXPECT_THAT(error_of([&] { problem_of(head + "'linaer'"); }), HasSubstr("did you mean \"linear\"?"));
  EXPECT_THAT(
      error_of([&] {
        problem_of("model.toy = 'quartic'\n[part.all]\nscheme = 'hmc'\ntemperature = 1.0\ngradient_noise = 0.1");
      }),
      HasSubstr("gradient_noise"));
}

TEST(Cycles, StepsFallAndNoiseComesLate) {
  const Horizon run{400, 50};
  const Schedule step(Choice("cyclical", {{"from", 0.2}}), run);
  const Schedule temperature(Choice("cyclical_posterior", {{"explore", 0.8}}), run);
  for (int n = 0; n < 400; ++n) {
    const double along = n % 100 / 100.0;
    EXPECT_NEAR(step.at(n), 0.1 * (1 + std::cos(M_PI * along)), 1e-15);
    EXPECT_EQ(temperature.at(n), n % 100 < 80 ? 0 : 1.0 / 50) << n;
  }
  EXPECT_TRUE(temperature.rests());
  EXPECT_FALSE(step.rests());
}

TEST(Cycles, OnlyDrawsWithNoiseCount) {
  const auto problem = problem_of(R"(
    precision = "double"
    steps = 80
    model.toy = "double_well"
    [part.all]
    scheme = "S"
    step = { name = "cyclical", from = 0.05 }
    temperature = { name = "cyclical_posterior", explore = 0.5 }
  )");
  EXPECT_TRUE(problem.recipe.weighed);
  const Noise<double> noise;
  auto chain = problem.chain(0, noise);
  chain.start(Vec{0});
  for (int n = 0; n < 80; ++n) {
    chain.step_and_read();
    EXPECT_EQ(chain.reading().log_weight, n % 20 < 10 ? -INFINITY : 0) << n;
  }
}

TEST(Annealing, TemperaturesFallAsTheirFormulasAndEndAtZero) {
  const Horizon run{1000, 1};
  const Schedule slow(Choice("logarithmic", {{"from", 2.0}, {"until", 500.0}}), run);
  const Schedule fast(Choice("polynomial", {{"from", 2.0}, {"delay", 10.0}, {"power", 0.7}}), run);
  const double c = 2 * std::log(2.0), k = 2 * std::pow(10, 0.7);
  for (const double t : {0.0, 1.0, 17.0, 499.0, 500.0, 999.0}) {
    EXPECT_NEAR(slow.at(t), t < 500 ? c / std::log(2 + t) : 0, 1e-15);
    EXPECT_NEAR(fast.at(t), k / std::pow(10 + t, 0.7), 1e-14);
  }
}

TEST(Presets, NewRowsRunOnANetwork) {
  for (const std::string name : {"samadams", "mclmc", "santa", "anneal_sgd", "csgld", "annealing"}) {
    const auto problem = problem_of("precision = 'double'\nsteps = 40\npreset = '" + name + R"('
      data.generator = { name = "spiral", rows = 40 }
      model = { layers = [2, 5, 1], loss = "binary_cross_entropy", prior = 1.0 }
    )");
    const Noise<double> noise;
    auto chain = problem.chain(0, noise);
    chain.start(problem.starting_point(0, {}, [](std::string_view) {}));
    Vec start(chain.q().begin(), chain.q().end());
    for (int n = 0; n < 40; ++n) chain.step_and_read();
    EXPECT_FALSE(std::ranges::equal(chain.q(), start)) << name;
  }
}

}  // namespace
}  // namespace kelvin
