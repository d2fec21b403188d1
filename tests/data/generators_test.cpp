// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/generators.h"

#include <cmath>
#include <numbers>

#include "kelvin/core/toml.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Choice choice(const std::string& name, const std::string& parameters = "") {
  Choice c(name);
  c.values = std::get<Value::Group>(parse_toml(parameters, "test").is);
  return c;
}
Dataset train(const std::string& name, const std::string& parameters = "", std::uint64_t seed = 1) {
  return generate(choice(name, parameters), seed).train;
}
double x(const Dataset& d, std::size_t row, std::size_t column) { return d.inputs[row * d.input_count() + column]; }
double radius(const Dataset& d, std::size_t row) { return std::hypot(x(d, row, 0), x(d, row, 1)); }

TEST(Generators, EveryRowIsAPureFunctionOfSeedAndParameters) {
  for (const Generator& g : generators()) {
    const std::string name(g.name);
    const Dataset first = train(name), again = train(name), other = train(name, "", 2), own = train(name, "seed = 2");
    EXPECT_EQ(first.inputs, again.inputs) << name;
    EXPECT_EQ(first.targets, again.targets) << name;
    EXPECT_NE(first.inputs, other.inputs) << name;
    EXPECT_EQ(other.inputs, own.inputs) << name << ": its own seed stands for the run's";
    EXPECT_EQ(first.inputs.size(), first.rows * first.input_count()) << name;
    EXPECT_EQ(first.targets.size(), first.rows) << name;
    EXPECT_THAT(first.target_names, ElementsAre("y")) << name;
    EXPECT_EQ(first.input_names[0], "x1") << name;
    for (const double value : first.inputs) EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_FALSE(g.meaning.empty());
  }
}

TEST(Generators, TestAndValidationRowsAreDrawnIndependently) {
  for (const Generator& g : generators()) {
    if (!choice(std::string(g.name)).completed(g.parameters, "").has("rows")) continue;
    const Splits s = generate(choice(std::string(g.name), "rows = 40\ntest = 40\nvalidation = 20"), 1);
    EXPECT_EQ(s.train.rows, 40) << g.name;
    EXPECT_EQ(s.test.rows, 40) << g.name;
    EXPECT_EQ(s.validation.rows, 20) << g.name;
    EXPECT_NE(s.train.inputs, s.test.inputs) << g.name;
    const std::size_t part = s.validation.inputs.size();
    EXPECT_NE(std::vector(s.test.inputs.begin(), s.test.inputs.begin() + std::ptrdiff_t(part)), s.validation.inputs);
    EXPECT_EQ(train(std::string(g.name), "rows = 40").inputs, s.train.inputs) << "whatever else is drawn";
  }
}

TEST(Generators, TwoClassSetsAreBalanced) {
  for (const char* name : {"spiral", "trigonometric", "clusters", "circles", "squares", "moons"}) {
    const Dataset d = train(name, "rows = 101");
    double ones = 0;
    for (const double y : d.targets) ones += y;
    EXPECT_EQ(ones, 50) << name;
    EXPECT_THAT(d.input_names, ElementsAre("x1", "x2")) << name;
  }
}

// Without noise the angle of a point of radius a r is 2 pi b r + pi y; with p = 1/2 the radius squared is uniform.
TEST(Generators, SpiralPointsLieOnTheirArm) {
  const Dataset d = train("spiral", "a = 3\nb = 2\nc = 0\nrows = 2000");
  double mean_square = 0;
  for (std::size_t i = 0; i < d.rows; ++i) {
    const double r = radius(d, i) / 3, angle = 2 * std::numbers::pi * 2 * r + std::numbers::pi * d.targets[i];
    EXPECT_NEAR(x(d, i, 0), 3 * r * std::cos(angle), 1e-12);
    EXPECT_NEAR(x(d, i, 1), 3 * r * std::sin(angle), 1e-12);
    mean_square += r * r / double(d.rows);
  }
  EXPECT_NEAR(mean_square, 0.5, 5 * std::sqrt(1 / 12.0 / 2000)) << "five standard errors of a uniform's mean";
}

TEST(Generators, SpiralNoiseHasItsDeviation) {
  const Dataset with = train("spiral", "c = 0.1\nrows = 5000"), without = train("spiral", "c = 0\nrows = 5000");
  double square = 0;
  for (std::size_t i = 0; i < with.inputs.size(); ++i) square += std::pow(with.inputs[i] - without.inputs[i], 2);
  const double n = double(with.inputs.size());
  EXPECT_NEAR(square / n / 0.01, 1, 5 * std::sqrt(2 / n)) << "five standard errors of a variance";
}

TEST(Generators, TrigonometricPointsLieOnTheirCurve) {
  const Dataset d = train("trigonometric", "a = 4\nb = 3\nc = 0");
  double largest = 0;
  for (std::size_t i = 0; i < d.rows; ++i) {
    const double angle = 3 * std::numbers::pi * x(d, i, 0);
    EXPECT_NEAR(x(d, i, 1), d.targets[i] == 0 ? std::cos(angle) : std::sin(angle), 1e-12);
    EXPECT_GT(x(d, i, 0), 0);
    largest = std::max(largest, x(d, i, 0));
  }
  EXPECT_GT(largest, 3.9) << "of 1000 uniforms the largest is below 0.975 with probability 1e-11";
  EXPECT_LT(largest, 4);
}

TEST(Generators, ClustersHaveTheirCentresAndSpread) {
  const Dataset d = train("clusters", "rows = 4000\nnoise = 0.5");
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < d.rows; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const double centred = x(d, i, j) - (d.targets[i] == 1 ? 2 : -2);
      mean += centred / 8000, square += centred * centred / 8000;
    }
  EXPECT_NEAR(mean, 0, 5 * 4 / std::sqrt(8000.0));
  EXPECT_NEAR(square / 16, 1, 5 * std::sqrt(2 / 8000.0)) << "the deviation is 0.5 + 7 / 2 = 4";
}

TEST(Generators, CirclesAreADiscInARing) {
  const Dataset d = train("circles");
  for (std::size_t i = 0; i < d.rows; ++i) {
    if (d.targets[i] == 1) EXPECT_LE(radius(d, i), 2.5);
    else EXPECT_THAT(radius(d, i), testing::AllOf(testing::Ge(3.5 - 1e-12), testing::Le(5 + 1e-12)));
  }
  EXPECT_NE(train("circles", "noise = 0.1").inputs, d.inputs);
}

TEST(Generators, SquaresFollowTheSignOfTheProduct) {
  const Dataset d = train("squares");
  int quadrants[2][2] = {};
  for (std::size_t i = 0; i < d.rows; ++i) {
    EXPECT_EQ(x(d, i, 0) * x(d, i, 1) > 0, d.targets[i] == 1);
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_THAT(std::abs(x(d, i, j)), testing::AllOf(testing::Ge(0.3), testing::Le(5)));
    ++quadrants[x(d, i, 0) > 0][x(d, i, 1) > 0];
  }
  for (const auto& half : quadrants)
    for (const int count : half) EXPECT_NEAR(count, 250, 5 * std::sqrt(500 * 0.25)) << "five standard errors";
}

TEST(Generators, MoonsAreHalfCirclesOfRadiusOne) {
  const Dataset d = train("moons", "noise = 0");
  for (std::size_t i = 0; i < d.rows; ++i) {
    const bool upper = d.targets[i] == 0;
    EXPECT_NEAR(std::hypot(x(d, i, 0) - (upper ? 0 : 1), x(d, i, 1) - (upper ? 0 : 0.5)), 1, 1e-12);
    if (upper) EXPECT_GE(x(d, i, 1), 0);
    else EXPECT_LE(x(d, i, 1), 0.5);
  }
}

TEST(Generators, GapHasNoInputsInTheMiddle) {
  const Dataset d = train("gap", "noise = 0");
  double right = 0;
  for (std::size_t i = 0; i < d.rows; ++i) {
    EXPECT_THAT(std::abs(d.inputs[i]), testing::AllOf(testing::Ge(1), testing::Le(3)));
    EXPECT_NEAR(d.targets[i], std::sin(2 * d.inputs[i]), 1e-12);
    right += d.inputs[i] > 0;
  }
  EXPECT_NEAR(right, 500, 5 * std::sqrt(250.0)) << "five standard errors";
}

// Without noise three rows fix the two weights, and every other row and the test rows must agree with them.
TEST(Generators, LinearHasTheSameWeightsInAllSplits) {
  const Splits s = generate(choice("linear", "noise = 0\ntest = 50"), 3);
  const Dataset& d = s.train;
  const double det = x(d, 0, 0) * x(d, 1, 1) - x(d, 0, 1) * x(d, 1, 0);
  const double w1 = (d.targets[0] * x(d, 1, 1) - d.targets[1] * x(d, 0, 1)) / det;
  const double w2 = (x(d, 0, 0) * d.targets[1] - x(d, 1, 0) * d.targets[0]) / det;
  for (const Dataset* set : {&s.train, &s.test})
    for (std::size_t i = 0; i < set->rows; ++i)
      EXPECT_NEAR(set->targets[i], w1 * x(*set, i, 0) + w2 * x(*set, i, 1), 1e-10);
  const Dataset noisy = train("linear", "noise = 2\nrows = 4000", 3);
  double square = 0;
  for (std::size_t i = 0; i < noisy.rows; ++i)
    square += std::pow(noisy.targets[i] - w1 * x(noisy, i, 0) - w2 * x(noisy, i, 1), 2) / 4000;
  EXPECT_NEAR(square / 4, 1, 5 * std::sqrt(2 / 4000.0)) << "five standard errors of a variance";
}

// mean (w.x)^2 = w' C w, where C has the eigenvalues 1, 34, 67, 100: check its trace, that of its square, and that the
// rows are orthogonal, which makes them its eigenvectors.
TEST(Generators, FactorsHaveAMeanSquaredLossWithTheGivenSpectrum) {
  const Dataset d = train("factor", "dimension = 4");
  ASSERT_EQ(d.rows, 4);
  ASSERT_EQ(d.input_count(), 4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(d.targets[i], 0);
    for (std::size_t k = 0; k < 4; ++k) {
      double dot = 0;
      for (std::size_t j = 0; j < 4; ++j) dot += x(d, i, j) * x(d, k, j);
      EXPECT_NEAR(dot / 4, i == k ? 1 + 33.0 * double(i) : 0, 1e-11) << "the mean over rows has 1/4";
    }
  }
  EXPECT_NE(std::abs(x(d, 0, 0)), 0) << "rotated, not aligned with the axes";
  EXPECT_EQ(train("factor", "dimension = 1\nsmallest = 9").inputs.size(), 1);
}

TEST(Generators, MistakesAreNamed) {
  const auto message = [](const std::string& name, const std::string& parameters) {
    return error_of([&] { train(name, parameters); });
  };
  EXPECT_THAT(message("spirl", ""), HasSubstr("no generator \"spirl\""));
  EXPECT_THAT(message("spirl", ""), HasSubstr("did you mean \"spiral\"?"));
  EXPECT_THAT(message("spiral", "turns = 2"), HasSubstr("has no parameter \"turns\""));
  EXPECT_THAT(message("spiral", "rows = 0"), HasSubstr("rows of \"spiral\" is 0; it must be a whole number"));
  EXPECT_THAT(message("spiral", "rows = 1.5"), HasSubstr("whole number"));
  EXPECT_THAT(message("linear", "dimension = 0"), HasSubstr("dimension of \"linear\" is 0"));
  EXPECT_THAT(message("factor", "rows = 5"), HasSubstr("has no parameter \"rows\""));
}

}  // namespace
}  // namespace kelvin
