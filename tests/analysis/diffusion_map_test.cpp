// SPDX-License-Identifier: Apache-2.0
// Points with known laws: the continuum limit of the chain on normal points is an autoregression, so its eigenvalues
// are known at every bandwidth, not only in the limit.
#include "kelvin/analysis/posterior/diffusion_map.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "tests/support.h"

namespace kelvin {
namespace {

constexpr double eps = 0.05;

std::vector<double> normal_points(std::size_t n, double sd, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, sd);
  std::vector<double> x(n);
  for (double& v : x) v = normal(generator);
  return x;
}

std::vector<double> log_standard_normal(const std::vector<double>& x) {
  std::vector<double> out;
  for (const double v : x) out.push_back(-v * v / 2);
  return out;
}

// If q w is exp(-a y^2 / 2), P moves x to a normal about x / (1 + 2 eps a): eigenvalues are powers of that factor.
double rate_of_autoregression(double a, int k) { return -(1 - std::pow(1 + 2 * eps * a, -k)) / eps; }
// Points of variance v: the kernel makes their density one of variance v + 2 eps.
double curvature_by_alpha(double v, double alpha) { return 1 / v - alpha / (v + 2 * eps); }
double curvature_by_target(double v) { return 0.5 + 1 / v - 1 / (v + 2 * eps); }

// Each rate over sets of points, with the standard error of its mean.
template <class Map>
std::vector<Estimate> over_sets(int sets, Map&& map) {
  std::vector<std::vector<double>> all;
  for (int s = 0; s < sets; ++s) all.push_back(map(std::uint64_t(s + 1)).rates);
  std::vector<Estimate> out(all[0].size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    for (const auto& rates : all) out[k].mean += rates[k] / sets;
    for (const auto& rates : all) out[k].error += std::pow(rates[k] - out[k].mean, 2) / (sets - 1) / sets;
    out[k].error = std::sqrt(out[k].error);
  }
  return out;
}

TEST(DiffusionMap, NormalPointsHaveTheRatesOfOrnsteinUhlenbeck) {
  for (const double alpha : {0.0, 0.5}) {
    const auto rates = over_sets(24, [&](std::uint64_t seed) {
      return diffusion_map(normal_points(300, 1, seed), 1, {alpha, {}, eps, 2});
    });
    for (const int k : {1, 2}) {
      const Estimate& rate = rates[std::size_t(k)];
      const double limit = -2 * (1 - alpha) * k;  // k for alpha = 1/2, 2 k for alpha = 0
      EXPECT_LT(rate.error, 0.07 * std::abs(limit)) << "too noisy to mean anything";
      EXPECT_LT(std::abs(rate.deviation(rate_of_autoregression(curvature_by_alpha(1, alpha), k))), 4)
          << "alpha " << alpha << " rate " << k << ": " << rate.mean << " +- " << rate.error;
      EXPECT_LT(std::abs(rate.mean - limit), 4 * rate.error + std::abs(limit) * 4 * eps);
      EXPECT_GT(std::abs(rate.deviation(rate_of_autoregression(curvature_by_alpha(1, 0.5 - alpha), k))), 8)
          << "negative control: the other alpha";
    }
  }
}

TEST(DiffusionMap, TheTargetDecidesWhateverLawThePointsHave) {
  const double wide = 1.5;
  const auto weighted = over_sets(24, [&](std::uint64_t seed) {
    const auto x = normal_points(300, wide, seed);
    return diffusion_map(x, 1, {0.5, log_standard_normal(x), eps, 2});
  });
  const auto plain = over_sets(24, [&](std::uint64_t seed) {
    return diffusion_map(normal_points(300, wide, seed), 1, {0.5, {}, eps, 2});
  });
  for (const int k : {1, 2}) {
    const double target = rate_of_autoregression(curvature_by_target(wide * wide), k);
    const Estimate &right = weighted[std::size_t(k)], &own = plain[std::size_t(k)];
    EXPECT_LT(right.error, 0.07 * k) << "too noisy to mean anything";
    EXPECT_LT(std::abs(right.deviation(target)), 4) << k << ": " << right.mean << " +- " << right.error;
    EXPECT_LT(std::abs(right.mean + k), 4 * right.error + 4 * eps * k) << "the limit is -" << k;
    EXPECT_LT(std::abs(own.deviation(rate_of_autoregression(curvature_by_alpha(wide * wide, 0.5), k))), 4);
    EXPECT_GT(std::abs(own.deviation(target)), 8) << "negative control: without weights the points' own law shows";
  }
}

// Uniform points are as far from the target as points can be.
TEST(DiffusionMap, UniformPointsCanHaveANormalTarget) {
  const Estimate rate = over_sets(16, [](std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> uniform(-4, 4);
    std::vector<double> x(400);
    for (double& v : x) v = uniform(generator);
    return diffusion_map(x, 1, {0.5, log_standard_normal(x), eps, 2});
  })[1];
  // A flat density stays flat under the kernel, so q w is the root of the target: a = 1/2.
  EXPECT_LT(std::abs(rate.deviation(rate_of_autoregression(0.5, 1))), 4) << rate.mean << " +- " << rate.error;
  EXPECT_LT(rate.error, 0.05);
}

// Dividing each row by the sum of its column cancels the weights: what the ancestor of this program did.
TEST(DiffusionMap, SumsOfColumnsInPlaceOfRowsWouldForgetTheTarget) {
  const std::size_t n = 80;
  const auto x = normal_points(n, 1.5, 7);
  const auto log_target = log_standard_normal(x);
  Eigen::MatrixXd K(n, n);
  for (Eigen::Index i = 0; i < K.rows(); ++i)
    for (Eigen::Index j = 0; j < K.cols(); ++j)
      K(i, j) = std::exp(-std::pow(x[std::size_t(i)] - x[std::size_t(j)], 2) / (4 * eps));
  K.diagonal().setZero();
  const Eigen::VectorXd q = K.rowwise().sum();
  Eigen::MatrixXd weighted = K;
  for (Eigen::Index j = 0; j < K.cols(); ++j) weighted.col(j) *= std::exp(log_target[std::size_t(j)] / 2) / q[j];
  const auto leading = [](const Eigen::MatrixXd& P) {
    Eigen::VectorXd values = P.eigenvalues().real();
    std::sort(values.begin(), values.end(), std::greater<>());
    return values;
  };
  const Eigen::VectorXd right = leading(weighted.rowwise().sum().cwiseInverse().asDiagonal() * weighted);
  const Eigen::VectorXd wrong = leading(weighted.colwise().sum().cwiseInverse().asDiagonal() * weighted);
  const DiffusionMap ours = diffusion_map(x, 1, {0.5, log_target, eps, 4}),
                     plain = diffusion_map(x, 1, {0, {}, eps, 4});
  for (Eigen::Index k = 0; k <= 4; ++k) {
    EXPECT_NEAR(ours.pairs.values[std::size_t(k)], right[k], 1e-9);
    EXPECT_NEAR(plain.pairs.values[std::size_t(k)], wrong[k], 1e-9) << "the target has no influence";
    if (k > 0) {
      EXPECT_GT(std::abs(right[k] - wrong[k]), 1e-3) << "negative control";
    }
  }
}

// The Laplacian on a circle has rates k^2, each twice; alpha = 1 removes the density, which favours one side 9 : 1.
TEST(DiffusionMap, AlphaOneSeesTheShapeAndNotTheDensity) {
  const auto circle = [](std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<double> x;
    while (x.size() < 2 * 400) {
      const double angle = 2 * std::numbers::pi * uniform(generator);
      if (uniform(generator) * 1.8 < 1 + 0.8 * std::cos(angle))
        x.push_back(std::cos(angle)), x.push_back(std::sin(angle));
    }
    return x;
  };
  // The mean of each pair: rates 1 and 2, 3 and 4.
  const auto pairs = [&](double alpha) {
    return over_sets(16, [&](std::uint64_t seed) {
      DiffusionMap map = diffusion_map(circle(seed), 2, {alpha, {}, eps, 4});
      map.rates = {(map.rates[1] + map.rates[2]) / 2, (map.rates[3] + map.rates[4]) / 2};
      return map;
    });
  };
  const auto even = pairs(1), uneven = pairs(0);
  // Even points: the kernel is exp((cos - 1) / 2 eps), its eigenvalues are ratios of Bessel functions.
  const double z = 1 / (2 * eps);
  for (const int k : {1, 2}) {
    const double exact = -(1 - std::cyl_bessel_i(k, z) / std::cyl_bessel_i(0, z)) / eps;
    const Estimate& rate = even[std::size_t(k - 1)];
    // What alpha = 1 leaves of the density is of order eps.
    EXPECT_LT(std::abs(rate.mean - exact), 4 * rate.error + eps * std::abs(exact)) << rate.mean << " +- " << rate.error;
    EXPECT_LT(rate.error, 0.05 * k * k);
    if (k == 1) {
      EXPECT_GT(std::abs(uneven[0].mean - exact), 4 * uneven[0].error + eps * std::abs(exact)) << "negative control";
    }
  }
}

TEST(DiffusionMap, TheFirstEigenvectorIsConstantAndTheSecondIsTheSlowCoordinate) {
  const auto x = normal_points(500, 1, 3);
  const DiffusionMap map = diffusion_map(x, 1, {0.5, {}, eps, 2});
  EXPECT_NEAR(map.pairs.values[0], 1, 1e-9);
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double y = map.pairs.vectors[1][i];
    EXPECT_NEAR(map.pairs.vectors[0][i], 1, 1e-6);
    xx += x[i] * x[i], xy += x[i] * y, yy += y * y;
  }
  EXPECT_GT(std::abs(xy) / std::sqrt(xx * yy), 0.99) << "Hermite's first polynomial is x";
}

TEST(DiffusionMap, TiesTellWhetherPointsAreJoined) {
  auto x = normal_points(400, 1, 5);
  EXPECT_GT(diffusion_map(x, 1, {0.5, {}, eps, 2}).ties, 100);
  std::sort(x.begin(), x.end());
  for (std::size_t i = 200; i < 400; ++i) x[i] += 1.5;  // a gap of exp(-1.5^2 / 4 eps) = 1e-5
  const DiffusionMap parted = diffusion_map(x, 1, {0.5, {}, eps, 2});
  EXPECT_LT(parted.ties, 0.01);
  EXPECT_GT(parted.rates[1], -0.01) << "and the rate is one of the gap";
}

TEST(DiffusionMap, TheChosenBandwidthSeesTheDimension) {
  for (const std::size_t width : {1u, 2u, 3u}) {
    const auto x = normal_points(400 * width, 1, width);
    const DiffusionMap map = diffusion_map(x, width, {0.5, {}, 0, 2});
    EXPECT_NEAR(map.dimension, double(width), 0.25 * double(width));
    EXPECT_LT(map.remoteness, 0.1);
    EXPECT_NEAR(map.rates[1], -1, 0.25) << "coarse: one set, and a bandwidth of " << map.bandwidth;
  }
}

TEST(DiffusionMap, ManyDimensionsAreSeenToBeTooMany) {
  EXPECT_GT(diffusion_map(normal_points(200 * 100, 1, 1), 100, {0.5, {}, 0, 2}).remoteness, 0.6)
      << "squared distances of normal points in d dimensions spread by sqrt(2 / d) only";
}

}  // namespace
}  // namespace kelvin
