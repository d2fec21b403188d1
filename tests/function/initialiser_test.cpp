// SPDX-License-Identifier: Apache-2.0
// Initialisers: bounds, moments, orthogonality.
#include "kelvin/function/initialiser.h"

#include <gmock/gmock.h>

#include <Eigen/Dense>
#include <cmath>

namespace kelvin {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

const Block weight{.name = "layer1.weight", .shape = {100, 150}, .fan_in = 150};
const Block bias{.name = "layer1.bias", .shape = {100}, .fan_in = 150};
const Block scale{.name = "noise.log_scale", .shape = {4}};

Stream stream(std::uint64_t seed = 1) { return {stream_key(seed, "initialiser_test")}; }

std::vector<double> start(const Choice& c, const Block& b, std::uint64_t seed = 1) {
  return initial_values(c, b, stream(seed), {});
}

Choice choice(std::string name, std::initializer_list<std::pair<const char*, double>> numbers = {}) {
  Choice c(std::move(name));
  for (const auto& [key, x] : numbers) c.values[key].is = x;
  return c;
}

// Mean and variance of n independent numbers with fourth central moment `kurtosis` * variance^2, within 4 standard
// errors.
void expect_moments(const std::vector<double>& x, double mean, double variance, double kurtosis) {
  const double n = double(x.size());
  double m = 0, v = 0;
  for (const double a : x) m += a / n;
  for (const double a : x) v += (a - mean) * (a - mean) / n;
  EXPECT_NEAR(m, mean, 4 * std::sqrt(variance / n));
  EXPECT_NEAR(v, variance, 4 * variance * std::sqrt((kurtosis - 1) / n));
}

constexpr double flat = 1.8, bell = 3;  // kurtosis of the uniform and the normal law

double largest(const std::vector<double>& x) {
  double most = 0;
  for (const double a : x) most = std::max(most, std::abs(a));
  return most;
}

TEST(Initialiser, PytorchIsUniformWithinOneOverTheRootOfTheInputs) {
  const double bound = 1 / std::sqrt(150);
  for (const Block& b : {weight, bias}) {
    const auto x = start(choice("pytorch"), b);
    expect_moments(x, 0, bound * bound / 3, flat);
    EXPECT_LT(largest(x), bound);
  }
  EXPECT_GT(largest(start(choice("pytorch"), weight)), 0.999 * bound);
  EXPECT_EQ(largest(start(choice("pytorch"), scale)), 0);
}

TEST(Initialiser, GaussianAndUniformTakeTheirNumbers) {
  for (const Block& b : {weight, bias}) {
    expect_moments(start(choice("gaussian", {{"scale", 0.2}, {"mean", 3}}), b), 3, 0.04, bell);
    expect_moments(start(choice("uniform", {{"lower", -1}, {"upper", 2}}), b), 0.5, 9.0 / 12, flat);
  }
}

TEST(Initialiser, XavierAndHeScaleWeightsAndZeroBiases) {
  const auto x = start(choice("xavier"), weight);
  expect_moments(x, 0, 2.0 / 250, flat);
  EXPECT_LT(largest(x), std::sqrt(6.0 / 250));
  expect_moments(start(choice("he"), weight), 0, 2.0 / 150, bell);
  for (const char* name : {"xavier", "he", "orthogonal"})
    for (const Block& b : {bias, scale}) EXPECT_EQ(largest(start(choice(name), b)), 0) << name;
}

// A kernel of 3 x 5 pixels from 8 channels to 20, whose outputs each input reaches 3 x 5 times.
const Block kernel{.name = "layer1.weight", .shape = {20, 3, 5, 8}, .fan_in = 120, .fan_out = 300};

TEST(Initialiser, KaimingAndXavierHaveTheVariancesOfTheirPapers) {
  const auto with_mode = [](std::string name, const char* mode, double gain) {
    Choice c = choice(std::move(name), {{"gain", gain}});
    c.values["mode"].is = std::string(mode);
    return c;
  };
  expect_moments(start(choice("kaiming_normal"), kernel), 0, 2.0 / 120, bell);
  expect_moments(start(choice("kaiming_uniform"), kernel), 0, 2.0 / 120, flat);
  expect_moments(start(with_mode("kaiming_normal", "fan_out", 1), kernel), 0, 1.0 / 300, bell);
  expect_moments(start(with_mode("kaiming_uniform", "fan_out", 3), kernel), 0, 9.0 / 300, flat);
  expect_moments(start(choice("xavier_normal"), kernel), 0, 2.0 / 420, bell);
  expect_moments(start(choice("xavier_uniform", {{"gain", 2}}), kernel), 0, 8.0 / 420, flat);
  EXPECT_LT(largest(start(choice("kaiming_uniform"), kernel)), std::sqrt(6.0 / 120));
  EXPECT_EQ(start(choice("xavier_uniform"), weight), start(choice("xavier"), weight)) << "by its older name";
  EXPECT_EQ(start(choice("kaiming_normal"), weight), start(choice("he"), weight)) << "likewise";
  for (const char* name : {"kaiming_normal", "kaiming_uniform", "xavier_normal", "xavier_uniform"}) {
    EXPECT_EQ(largest(start(choice(name), bias)), 0) << name;
    EXPECT_THROW(start(choice(name, {{"gain", -1}}), weight), Error) << name;
  }
  EXPECT_THROW(start(with_mode("kaiming_normal", "fan", 1), weight), Error);
}

TEST(Initialiser, OrthogonalTakesKernelsAsOutputsTimesTheRest) {
  const auto x = start(choice("orthogonal"), kernel);
  const Eigen::Map<const Matrix> w(x.data(), 20, 120);
  EXPECT_LT((w * w.transpose() - Eigen::MatrixXd::Identity(20, 20)).norm(), 1e-12);
}

TEST(Initialiser, OrthogonalHasOrthonormalColumnsOrRows) {
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{60, 20}, {40, 40}, {20, 60}, {1, 7}, {7, 1}}) {
    const auto x = start(choice("orthogonal", {{"gain", 1.5}}),
                         {.name = "layer1.weight", .shape = {rows, columns}, .fan_in = columns});
    const Eigen::Map<const Matrix> w(x.data(), Eigen::Index(rows), Eigen::Index(columns));
    const Eigen::MatrixXd product =
        rows >= columns ? Eigen::MatrixXd(w.transpose() * w) : Eigen::MatrixXd(w * w.transpose());
    const auto n = product.rows();
    EXPECT_LT((product / 2.25 - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-12) << rows << " x " << columns;
  }
}

// Haar moments of O(3): E Q11 = 0, E Q11^2 = 1/3, E Q11^4 = 1/5, E trace = 0, E Q11 Q22 Q33 = 0. Without the signs of R
// the diagonal of Q is negative more often than not.
TEST(Initialiser, OrthogonalIsUniformlyDistributed) {
  constexpr int n = 20000;
  double first = 0, trace = 0, square = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    const auto q =
        start(choice("orthogonal"), {.name = "layer1.weight", .shape = {3, 3}, .fan_in = 3}, std::uint64_t(i));
    first += q[0] / n;
    trace += (q[0] + q[4] + q[8]) / n;
    square += q[0] * q[0] / n;
    fourth += std::pow(q[0], 4) / n;
  }
  const double se = 1 / std::sqrt(double(n));
  EXPECT_NEAR(first, 0, 4 * se * std::sqrt(1.0 / 3));
  EXPECT_NEAR(trace, 0, 4 * se);  // E trace^2 = 1
  EXPECT_NEAR(square, 1.0 / 3, 4 * se * std::sqrt(1.0 / 5 - 1.0 / 9));
  EXPECT_NEAR(fourth, 1.0 / 5, 4 * se * std::sqrt(1.0 / 9 - 1.0 / 25));
}

TEST(Initialiser, ConstantFillsTheBlock) {
  EXPECT_THAT(start(choice("constant", {{"value", 2}}), bias), testing::Each(2));
  EXPECT_THAT(start(choice("constant"), weight), testing::Each(0));
}

TEST(Initialiser, FileAsksForTheBlockOfThatName) {
  Choice c("file");
  c.values["path"].is = std::string("weights.npz");
  const ReadBlock read = [](const std::string& path, const Block& b) {
    EXPECT_EQ(path, "weights.npz");
    return std::vector<double>(b.name == "layer1.bias" ? 100 : 3, 7);
  };
  EXPECT_THAT(initial_values(c, bias, stream(), read), testing::Each(7));
  EXPECT_THROW(initial_values(c, weight, stream(), read), Error);
  EXPECT_THROW(initial_values(c, bias, stream(), {}), Error);
  EXPECT_THROW(initial_values(Choice("file"), bias, stream(), read), Error);
}

TEST(Initialiser, DependsOnTheStreamAndNothingElse) {
  for (const Initialiser& row : initialisers()) {
    if (std::any_of(row.parameters.begin(), row.parameters.end(),
                    [](const Parameter& p) { return p.standard.empty(); }))
      continue;
    const Choice c{std::string(row.name)};
    EXPECT_EQ(start(c, weight, 3), start(c, weight, 3)) << row.name;
    EXPECT_EQ(start(c, weight).size(), weight.size()) << row.name;
    if (largest(start(c, weight)) > 0) {
      EXPECT_NE(start(c, weight, 3), start(c, weight, 4)) << row.name;
    }
  }
}

TEST(Initialiser, RefusesNumbersWithoutMeaning) {
  EXPECT_THROW(start(choice("gaussian", {{"scale", -1}}), weight), Error);
  EXPECT_THROW(start(choice("uniform", {{"lower", 1}, {"upper", 0}}), weight), Error);
  EXPECT_THROW(start(choice("glorot"), weight), Error);
}

}  // namespace
}  // namespace kelvin
