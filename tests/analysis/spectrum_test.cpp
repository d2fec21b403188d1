// SPDX-License-Identifier: Apache-2.0
// Spectra from products with vectors, against matrices whose eigenvalues are known.
#include "kelvin/numeric/spectrum.h"

#include <Eigen/Eigenvalues>
#include <numeric>

#include "kelvin/energy/hessian.h"
#include "kelvin/energy/likelihood.h"
#include "tests/files.h"
#include "tests/finite_difference.h"

namespace kelvin {
namespace {

using Eigen::Index;

Operator operator_of(const Eigen::MatrixXd& m) {
  return {std::size_t(m.rows()), [m](std::span<const double> v, std::span<double> Hv) {
            Eigen::Map<Eigen::VectorXd>(Hv.data(), m.rows()) =
                m * Eigen::Map<const Eigen::VectorXd>(v.data(), m.rows());
          }};
}

// Those eigenvalues in directions at random.
Eigen::MatrixXd turned(const Eigen::VectorXd& values) {
  const auto z = some_point(std::size_t(values.size() * values.size()), 1);
  const Eigen::MatrixXd Q =
      Eigen::Map<const Eigen::MatrixXd>(z.data(), values.size(), values.size()).householderQr().householderQ();
  return Q * values.asDiagonal() * Q.transpose();
}

const Eigen::VectorXd spectrum = [] {
  Eigen::VectorXd v(300);
  for (Index i = 0; i < 300; ++i) v(i) = double(i) / 300;
  v(0) = -5, v(1) = -2, v(297) = 3, v(298) = 7, v(299) = 20;
  return v;
}();

TEST(Curvature, LanczosFindsBothEndsOfAKnownSpectrum) {
  const Leading found = leading_eigenvalues(operator_of(turned(spectrum)), {2, 200, 1e-6, 1});
  ASSERT_EQ(found.highest.size(), 2u);
  ASSERT_EQ(found.lowest.size(), 2u);
  // An eigenvalue is off by at most the residual, here 1e-6 of 20; in fact by its square over the gap.
  EXPECT_NEAR(found.highest[0].value, 20, 1e-9);
  EXPECT_NEAR(found.highest[1].value, 7, 1e-9);
  EXPECT_NEAR(found.lowest[0].value, -5, 1e-9);
  EXPECT_NEAR(found.lowest[1].value, -2, 1e-9);
  for (const auto& e : found.highest) EXPECT_LE(e.error, 2e-5);
  EXPECT_LT(found.products, 60u) << "it should stop when it knows";
}

TEST(Curvature, ErrorsOfTooFewProductsHoldTheTruth) {
  const Leading found = leading_eigenvalues(operator_of(turned(spectrum)), {2, 6, 1e-6, 1});
  EXPECT_EQ(found.products, 6u);
  EXPECT_GT(found.highest[1].error, 1e-6);
  for (const Eigenvalue& e : {found.highest[0], found.highest[1], found.lowest[0], found.lowest[1]})
    EXPECT_LE((spectrum.array() - e.value).abs().minCoeff(), e.error * (1 + 1e-9));
}

TEST(Curvature, LanczosGoesOnWhereAStartReachesNoFurther) {
  Eigen::VectorXd values = Eigen::VectorXd::Constant(10, 1);
  values(9) = 4, values(8) = 4;  // two eigenvalues, many times each
  const Leading found = leading_eigenvalues(operator_of(turned(values)), {3, 200, 1e-6, 1});
  EXPECT_NEAR(found.highest[0].value, 4, 1e-12);
  EXPECT_NEAR(found.highest[1].value, 4, 1e-12);
  EXPECT_NEAR(found.highest[2].value, 1, 1e-12);
  EXPECT_NEAR(found.lowest[2].value, 1, 1e-12);
}

// v.Av has the variance 2 sum of the squares off the diagonal, for signs v.
TEST(Curvature, TheTraceIsRightWithinItsStandardError) {
  const Eigen::MatrixXd A = turned(spectrum);
  const Eigen::MatrixXd off = A - Eigen::MatrixXd(A.diagonal().asDiagonal());
  const Probes probes{200, 1, 1};
  const double error = std::sqrt(2 * off.squaredNorm() / 200);
  const MeanOf t = trace_estimate([&] { return operator_of(A); }, probes);
  EXPECT_LT(std::abs(t.value - spectrum.sum()), 4 * error);
  EXPECT_NEAR(t.error, error, 0.3 * error);  // an error from 200 numbers is good to 5 %
  const Eigen::MatrixXd wrong = A + 8 * error / 300 * Eigen::MatrixXd::Identity(300, 300);
  EXPECT_GT(std::abs(trace_estimate([&] { return operator_of(wrong); }, probes).value - spectrum.sum()), 4 * error)
      << "negative control";
  EXPECT_THAT(error_of([&] {
                trace_estimate([&] { return operator_of(A); }, {1, 1, 1});
              }),
              testing::HasSubstr("at least 2 probes"));
}

// For a diagonal matrix and signs v, v.A^k v is the trace of A^k: no noise is left, and quadrature is exact up to
// degree 2 depth - 1.
TEST(Curvature, MomentsOfTheDensityAreExactForADiagonalMatrix) {
  const Eigen::MatrixXd A = spectrum.asDiagonal();
  const SpectralDensity d = spectral_density([&] { return operator_of(A); }, {3, 1, 1}, 4);
  for (int power = 0; power < 8; ++power) {
    const double exact = spectrum.array().pow(power).mean();
    EXPECT_NEAR(d.moment(power), exact, 1e-10 * std::pow(20, power) / 300) << power;
  }
  const double exact = spectrum.array().pow(8).mean();
  EXPECT_GT(std::abs(d.moment(8) / exact - 1), 1e-6) << "negative control: 4 nodes know 8 moments and no more";
  double area = 0;
  for (double x = -10; x < 30; x += 0.01) area += 0.01 * d.at(x, 0.3);
  EXPECT_NEAR(area, 1, 1e-9);
}

TEST(Curvature, DoesNotDependOnThreads) {
  const Eigen::MatrixXd A = turned(spectrum);
  const auto make = [&] { return operator_of(A); };
  EXPECT_EQ(trace_estimate(make, {7, 1, 3}).value, trace_estimate(make, {7, 3, 3}).value);
  const SpectralDensity one = spectral_density(make, {5, 1, 3}, 10), three = spectral_density(make, {5, 3, 3}, 10);
  EXPECT_EQ(one.values, three.values);
  EXPECT_EQ(one.weights, three.weights);
  EXPECT_NE(one.values, spectral_density(make, {5, 1, 4}, 10).values);
}

TEST(Curvature, OfANetworkIsThatOfItsWholeMatrix) {
  Dataset d;
  d.rows = 40, d.input_names = {"a", "b"}, d.target_names = {"y"};
  d.inputs = some_point(80, 1, "inputs"), d.targets = some_point(40, 1, "targets");
  ModelSettings s;
  s.layers = {2, 10, 5, 1}, s.activation = {"tanh"};
  Energy<double> network(make_likelihood<double>(s, d, [](std::string_view) {}));
  const std::size_t n = dimension_of(network);
  const auto q = some_point(n, 0.7);
  const auto all = eigenvalues(hessian(network, q, {}));
  HessianAt at(network, q, {});
  const Operator H{n, [&](auto v, auto Hv) { at.times(v, Hv); }};
  const Leading found = leading_eigenvalues(H, {3, 200, 1e-6, 1});
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(found.highest[k].value, all[n - 1 - k], 1e-6 * all.back());  // products are good to 1e-7
    EXPECT_NEAR(found.lowest[k].value, all[k], 1e-6 * all.back());
  }
  EXPECT_LT(all.front(), -1e-3 * all.back()) << "the test should see a negative eigenvalue";
  double square = 0, fourth = 0;
  for (const double x : all) square += x * x, fourth += x * x * x * x;
  const SpectralDensity density = spectral_density([&] { return H; }, {400, 1, 1}, 20);
  // The variance of v.H^2 v for signs is below 2 tr H^4.
  EXPECT_LT(std::abs(double(n) * density.moment(2) - square), 4 * std::sqrt(2 * fourth / 400));
}

TEST(Curvature, RefusesNumbersThatAreNotFinite) {
  const Operator broken{3, [](std::span<const double>, std::span<double> Hv) { std::fill(Hv.begin(), Hv.end(), NAN); }};
  EXPECT_THAT(error_of([&] { leading_eigenvalues(broken, {}); }), testing::HasSubstr("not finite"));
}

}  // namespace
}  // namespace kelvin
