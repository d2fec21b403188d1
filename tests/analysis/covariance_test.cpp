// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/covariance.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

namespace kelvin {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Independent rows about a mean far from 0, with covariance Q diag(values) Q^T.
struct Known {
  Eigen::MatrixXd directions;
  std::vector<double> rows;
};
Known known_rows(std::size_t count, const std::vector<double>& values, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  const auto n = Eigen::Index(values.size());
  const Eigen::MatrixXd any = Eigen::MatrixXd::NullaryExpr(n, n, [&] { return normal(generator); });
  Known out{Eigen::HouseholderQR<Eigen::MatrixXd>(any).householderQ(), {}};
  const Eigen::VectorXd deviations = Eigen::Map<const Eigen::VectorXd>(values.data(), n).cwiseSqrt();
  Matrix X = Matrix::NullaryExpr(Eigen::Index(count), n, [&] { return normal(generator); });
  X = (X * deviations.asDiagonal() * out.directions.transpose()).array() + 3.0;
  out.rows.assign(X.data(), X.data() + X.size());
  return out;
}

// The same rows, handed out a few at a time.
Rows in_pieces_of(std::size_t piece, const std::vector<double>& numbers, std::size_t width) {
  return {numbers.size() / width, width, [=](const VisitRows& visit) {
            for (std::size_t at = 0; at < numbers.size(); at += piece * width)
              visit(std::span(numbers).subspan(at, std::min(piece * width, numbers.size() - at)));
          }};
}

void expect_same(const Covariance& a, const Covariance& b, std::size_t count, double tolerance) {
  EXPECT_NEAR(a.trace, b.trace, tolerance * a.trace);
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_NEAR(a.pairs.values[k], b.pairs.values[k], tolerance * a.pairs.values[0]);
    double dot = 0;
    for (std::size_t i = 0; i < a.mean.size(); ++i) dot += a.pairs.vectors[k][i] * b.pairs.vectors[k][i];
    EXPECT_NEAR(dot, 1, tolerance) << "direction " << k << ", sign included";
  }
}

TEST(Covariance, BothWaysFindTheSpectrumOfACorrelatedGaussian) {
  const std::vector<double> exact = {16, 8, 4, 2, 1, 0.5};
  const std::size_t count = 20000;
  const Known known = known_rows(count, exact, 1);
  const Rows rows = rows_of(known.rows, exact.size());
  const Covariance whole = covariance(rows, 5, CovarianceWay::matrix),
                   leading = covariance(rows, 5, CovarianceWay::applied);
  expect_same(whole, leading, 5, 1e-8);
  EXPECT_EQ(whole.pairs.values.size(), 6u);
  EXPECT_TRUE(whole.whole);
  EXPECT_EQ(leading.pairs.values.size(), 5u);
  double sum = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    sum += whole.pairs.values[k];
    EXPECT_LT(std::abs(whole.pairs.values[k] - exact[k]), 4 * exact[k] * std::sqrt(2.0 / double(count)));
    EXPECT_GT(std::abs(whole.pairs.values[k] * 1.1 - exact[k]), 4 * exact[k] * std::sqrt(2.0 / double(count)))
        << "negative control";
  }
  EXPECT_NEAR(whole.trace, sum, 1e-10 * sum);
  // A direction errs by about sqrt(ab / n) / (a - b) towards each other one.
  const auto& v = whole.pairs.vectors[0];
  EXPECT_GT(std::abs(known.directions.col(0).dot(Eigen::Map<const Eigen::VectorXd>(v.data(), 6))),
            1 - 16 * 4.0 / count);
}

TEST(Covariance, PiecesDoNotMatter) {
  const Known known = known_rows(97, {5, 3, 2, 1}, 2);
  const Covariance whole = covariance(rows_of(known.rows, 4), 3, CovarianceWay::matrix);
  for (const std::size_t piece : {1u, 10u, 96u})
    for (const auto way : {CovarianceWay::matrix, CovarianceWay::applied})
      expect_same(whole, covariance(in_pieces_of(piece, known.rows, 4), 3, way), 3, 1e-10);
}

TEST(Covariance, FewerDrawsThanParametersAreNoObstacle) {
  std::vector<double> values(150, 1.0);
  for (std::size_t k = 0; k < 5; ++k) values[k] = 100.0 - 15.0 * double(k);
  const Known known = known_rows(60, values, 3);
  const Rows rows = in_pieces_of(25, known.rows, values.size());
  const Covariance whole = covariance(rows, 5, CovarianceWay::matrix);
  expect_same(whole, covariance(rows, 5, CovarianceWay::applied), 5, 1e-8);
  EXPECT_LT(std::abs(whole.pairs.values[59]), 1e-10 * whole.trace) << "60 draws about their mean span 59 directions";
  EXPECT_GT(whole.pairs.values[58], 1e-3);
}

}  // namespace
}  // namespace kelvin
