// SPDX-License-Identifier: Apache-2.0
// Metrics of coupled walkers: their algebra, and the motion in them.
#include "kelvin/energy/metric.h"

#include <gmock/gmock.h>

#include <numeric>

#include "kelvin/numeric/eigen.h"
#include "tests/walkers.h"

namespace kelvin {
namespace {

template <class Real>
using PointsOf = std::vector<LargeArray<Real>>;
using Points = PointsOf<double>;

template <class Real = double>
PointsOf<Real> random_points(std::size_t count, std::size_t size) {
  PointsOf<Real> points;
  for (std::size_t k = 0; k < count; ++k) {
    normals({stream_key(3, "points"), std::uint32_t(k), 0, 0}, 0, std::span(points.emplace_back(size)));
    for (std::size_t i = 0; i < size; ++i) points[k][i] *= Real(1 + i % 5);
  }
  return points;
}

template <class Real>
Eigen::MatrixXd columns(const PointsOf<Real>& points) {
  Eigen::MatrixXd X(Eigen::Index(points.front().size()), Eigen::Index(points.size()));
  for (std::size_t k = 0; k < points.size(); ++k)
    for (std::size_t i = 0; i < points[k].size(); ++i) X(Eigen::Index(i), Eigen::Index(k)) = double(points[k][i]);
  return X;
}

// B, or its inverse, column by column.
template <class Real>
Eigen::MatrixXd written_out(LowRankMetric<Real>& metric, std::size_t n, bool inverse = false) {
  PointsOf<Real> rows;
  for (std::size_t i = 0; i < n; ++i) {
    rows.emplace_back(n)[i] = 1;
    inverse ? metric.undo(rows.back()) : metric.apply(rows.back());
  }
  return columns<Real>(rows);
}

TEST(Metrics, TwoPointsOnALineStretchThatLine) {
  const Points points = {{1, 0}, {-1, 0}};
  LowRankMetric<double> metric(std::make_shared<const PointCloud<double>>(cloud_of(points, {{0, 2}})), {0, 1}, 3);
  EXPECT_TRUE(written_out(metric, 2).isApprox(Eigen::Vector2d(2, 1).asDiagonal().toDenseMatrix(), 1e-14));
  EXPECT_NEAR(metric.log_determinant(), std::log(2), 1e-14);
}

TEST(Metrics, BSquaredIsTheIdentityAndTheBlendedCovarianceOfThePointsThatCount) {
  constexpr std::size_t n = 40, walkers = 9, left_out = 4;
  const double blending = 7;
  std::vector<std::size_t> counting;
  for (std::size_t k = 0; k < walkers; ++k)
    if (k != left_out) counting.push_back(k);
  const Points points = random_points(walkers, n);
  Points those;
  for (const std::size_t k : counting) those.push_back(points[k]);
  Eigen::MatrixXd X = columns<double>(those);
  X.colwise() -= X.rowwise().mean().eval();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n),
                        square = one + blending / double(counting.size()) * X * X.transpose();

  LowRankMetric<double> metric(std::make_shared<const PointCloud<double>>(cloud_of(points, {{0, n}})), counting,
                               blending);
  const Eigen::MatrixXd B = written_out(metric, n), inverse = written_out(metric, n, true);
  EXPECT_LT((B * B - square).norm(), 1e-12 * square.norm());
  EXPECT_LT((B - B.transpose()).norm(), 1e-12 * B.norm());
  EXPECT_LT((B * inverse - one).norm(), 1e-12 * B.norm());
  EXPECT_NEAR(metric.log_determinant(), square.llt().matrixLLT().diagonal().array().log().sum(), 1e-11);
}

// More points than are met at once, over more numbers than are met at once, with some left over of both.
TEST(Metrics, OfManyPointsAndNumbersAreTheSameSum) {
  constexpr std::size_t n = 2 * 1024 + 53, offset = 7;
  constexpr double blending = 0.3;
  for (const std::size_t count : {3u, 8u, 11u, 16u}) {
    const Points points = random_points(count, n);
    std::vector<std::size_t> counting(count);
    std::iota(counting.begin(), counting.end(), 0);
    LowRankMetric<double> metric(std::make_shared<const PointCloud<double>>(cloud_of(points, {{offset, n - offset}})),
                                 counting, blending);
    Eigen::MatrixXd X = columns<double>(points).bottomRows(n - offset);
    X.colwise() -= X.rowwise().mean().eval();
    LargeArray<double> v = random_points(count + 1, n).back();
    const Eigen::VectorXd before = columns<double>({v});
    metric.apply(v), metric.apply(v);
    Eigen::VectorXd expected = before;
    expected.tail(n - offset) += blending / double(count) * (X * (X.transpose() * before.tail(n - offset)));
    EXPECT_LT((columns<double>({v}) - expected).norm(), 1e-12 * expected.norm()) << count << " points: B^2 v";
  }
}

// Eight binary digits: entries are off by 1/256 of themselves at most. B is exact for what was kept, so that the law
// does not depend on it.
TEST(Metrics, OfFloatsKeepEightBinaryDigitsOfEachPoint) {
  constexpr std::size_t n = 40, count = 6;
  constexpr double blending = 7;
  const auto points = random_points<float>(count, n);
  const auto cloud = std::make_shared<const PointCloud<float>>(cloud_of(points, {{0, n}}));
  PointsOf<float> kept = points;
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      kept[k][i] = whole(cloud->points[k][i]);
      EXPECT_LE(std::abs(kept[k][i] - points[k][i]), std::abs(points[k][i]) / 256);
    }
  EXPECT_NE(kept, points);
  Eigen::MatrixXd X = columns<float>(kept);
  X.colwise() -= X.rowwise().mean().eval();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n),
                        square = one + blending / double(count) * X * X.transpose();
  LowRankMetric<float> metric(cloud, {0, 1, 2, 3, 4, 5}, blending);
  const Eigen::MatrixXd B = written_out(metric, n), inverse = written_out(metric, n, true);
  EXPECT_LT((B * B - square).norm(), 1e-5 * square.norm()) << "rounding of floats";
  EXPECT_LT((B * inverse - one).norm(), 1e-5 * B.norm());
}

TEST(Metrics, StretchesDoNotMix) {
  constexpr std::size_t n = 12;
  LowRankMetric<double> metric(
      std::make_shared<const PointCloud<double>>(cloud_of(random_points(5, n), {{0, 4}, {4, 6}})), {0, 1, 2, 3, 4}, 2);
  const Eigen::MatrixXd B = written_out(metric, n);
  EXPECT_EQ(B.block(4, 0, 8, 4).norm(), 0);
  EXPECT_EQ(B.block(0, 4, 4, 8).norm(), 0);
  EXPECT_TRUE((B.bottomRightCorner(2, 2) == Eigen::Matrix2d::Identity())) << "no stretch, no metric";
  EXPECT_GT((B.block(4, 4, 6, 6) - Eigen::MatrixXd::Identity(6, 6)).norm(), 0.1);
}

// p -= h/2 B'g(q), q += h/2 B p, O, q += h/2 B p, p -= h/2 B'g(q), with the chain's own noise.
TEST(Metrics, AStepInAMetricIsThePapersStep) {
  const std::vector<double> stiffness = {1, 2, 3, 4, 5};
  constexpr double h = 0.2, gamma = 0.7, T = 1.3;
  Walker<double> walker(gaussian(stiffness), moving("BAOAB", h, gamma, T));
  const auto spread = std::make_shared<const PointCloud<double>>(cloud_of(random_points(4, 5), {{0, 5}}));
  LowRankMetric<double> metric(spread, {0, 1, 2}, 0.1);
  const std::vector<double> start = {0.3, -1, 0.5, 0.1, 2};
  walker.chain.start(start);
  const Eigen::MatrixXd B = written_out(metric, 5);
  Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(start.data(), 5),
                  p = Eigen::Map<const Eigen::VectorXd>(walker.chain.p().data(), 5);
  walker.chain.move_in(std::make_unique<LowRankMetric<double>>(metric), start);
  const Eigen::VectorXd K = Eigen::Map<const Eigen::VectorXd>(stiffness.data(), 5);
  for (std::uint64_t n = 0; n < 50; ++n) {
    walker.chain.step();
    Eigen::VectorXd z(5);
    walker.noise.normals({stream_key(1, "part all"), 0, n, 2}, 0, std::span(z.data(), 5));
    p -= h / 2 * B.transpose() * K.cwiseProduct(q);
    q += h / 2 * B * p;
    p = std::exp(-gamma * h) * p + std::sqrt(T * -std::expm1(-2 * gamma * h)) * z;
    q += h / 2 * B * p;
    p -= h / 2 * B.transpose() * K.cwiseProduct(q);
    const auto now = walker.chain.q(), momenta = walker.chain.p();
    for (Eigen::Index i = 0; i < 5; ++i) {
      ASSERT_NEAR(now[std::size_t(i)], q[i], 1e-12);
      ASSERT_NEAR(momenta[std::size_t(i)], p[i], 1e-12);
    }
  }
  EXPECT_EQ(walker.chain.evaluations(), 51u) << "one gradient a step";
}

TEST(Metrics, AChangeOfMetricLeavesThePositionAndTheVirial) {
  Walker<double> walker(gaussian({1, 2, 3, 4, 5}), moving("BAOAB", 0.2));
  for (int n = 0; n < 10; ++n) walker.chain.step();
  walker.chain.step_and_read();
  const std::vector<double> before(walker.chain.q().begin(), walker.chain.q().end());
  const double virial = walker.chain.reading().parts[0].virial;
  const auto spread = std::make_shared<const PointCloud<double>>(cloud_of(random_points(4, 5), {{0, 5}}));
  walker.chain.move_in(std::make_unique<LowRankMetric<double>>(spread, std::vector<std::size_t>{0, 1, 2, 3}, 5),
                       before);
  std::vector<double> x(walker.chain.x().begin(), walker.chain.x().end()), g(5);
  double product = 0;
  walker.chain.gradient_at(x, g);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(walker.chain.q()[i], before[i], 1e-13);
    product += x[i] * g[i];
  }
  EXPECT_NEAR(product / 2, virial, 1e-12);
}

}  // namespace
}  // namespace kelvin
