// SPDX-License-Identifier: Apache-2.0
// Level sets of functions whose curvature is known.
#include "kelvin/analysis/predictive/contour.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tests/files.h"

namespace kelvin {
namespace {

constexpr double cell = 0.01;

// f on [-2, 2] x [-2, 2], 401 x 401 nodes, of which many lie exactly on the lines of the tests.
Map on_grid(const std::function<double(double, double)>& f) {
  Map map;
  for (int i = 0; i <= 400; ++i) map.x.push_back(-2 + cell * i), map.y.push_back(-2 + cell * i);
  for (const double y : map.y)
    for (const double x : map.x) map.z.push_back(f(x, y));
  return map;
}

double mean(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0) / double(x.size()); }
double largest(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }

TEST(Contour, ACircleOfRadiusRHasCurvatureOneOverR) {
  for (const double r : {0.5, 1.0, 1.7321}) {
    const Map map = on_grid([](double x, double y) { return x * x + y * y; });
    const auto pieces = contours(map, r * r);
    ASSERT_EQ(pieces.size(), 1u);
    EXPECT_TRUE(pieces[0].closed);
    EXPECT_NEAR(pieces[0].length(), 2 * M_PI * r, 1e-3 * r);
    const Piece even = evenly_spaced(pieces[0], 4 * cell);
    const auto k = curvature(even);
    EXPECT_EQ(k.size(), even.x.size()) << "a closed piece bends at all its points";
    EXPECT_NEAR(mean(k) * r, 1, 0.01);
    // Vertices lie up to kappa cell^2 / 8 inside; that moves a second difference over 4 cells by 3 % of kappa at most.
    EXPECT_NEAR(largest(k) * r, 1, 0.03 + 0.005);
    const auto by_level_set = level_set_curvature(map, even);
    EXPECT_NEAR(mean(by_level_set) * r, 1, 1e-3);
    EXPECT_NEAR(largest(by_level_set) * r, 1, 1e-3);
  }
}

// The points of marching squares are anything but evenly spaced, and the formula by index needs them to be.
TEST(Contour, PointsAsTheyWereTracedWouldNotDo) {
  const Map map = on_grid([](double x, double y) { return x * x + y * y; });
  const auto pieces = contours(map, 1);
  EXPECT_GT(std::abs(mean(curvature(pieces[0])) - 1), 0.1);
  Piece twice = evenly_spaced(pieces[0], 4 * cell);
  for (std::size_t k = 0; k < 3; ++k) {
    twice.x.insert(twice.x.begin(), twice.x[0]);
    twice.y.insert(twice.y.begin(), twice.y[0]);
  }
  EXPECT_FALSE(std::isfinite(mean(curvature(twice)))) << "without merging coincident points";
}

TEST(Contour, NoTwoNeighboursCoincideWhereTheLevelPassesThroughNodes) {
  const Map map = on_grid([](double x, double y) { return std::abs(x) + std::abs(y); });
  for (const double level : {1.0, 0.5, 0.25})
    for (const Piece& piece : contours(map, level))
      for (std::size_t k = 0; k < piece.x.size(); ++k) {
        const std::size_t next = (k + 1) % piece.x.size();
        EXPECT_GT(std::hypot(piece.x[next] - piece.x[k], piece.y[next] - piece.y[k]), 1e-6 * cell);
      }
}

TEST(Contour, AnEllipseBendsMostAtTheEndsOfItsLongAxis) {
  constexpr double a = 1.5, b = 0.75;
  const Map map = on_grid([&](double x, double y) { return x * x / (a * a) + y * y / (b * b); });
  const auto pieces = contours(map, 1);
  ASSERT_EQ(pieces.size(), 1u);
  const Piece even = evenly_spaced(pieces[0], 4 * cell);
  const auto k = curvature(even), by_level_set = level_set_curvature(map, even);
  EXPECT_NEAR(largest(k), a / (b * b), 0.03 * a / (b * b));
  EXPECT_NEAR(largest(by_level_set), a / (b * b), 0.01 * a / (b * b));
  EXPECT_NEAR(*std::min_element(by_level_set.begin(), by_level_set.end()), b / (a * a), 0.01 * b / (a * a));
  // The integral of the curvature along a closed convex line is 2 pi.
  EXPECT_NEAR(mean(k) * even.length(), 2 * M_PI, 0.01 * 2 * M_PI);
}

TEST(Contour, TwoCirclesAreTwoPieces) {
  const auto pieces = contours(
      on_grid([](double x, double y) { return std::min(std::hypot(x - 1, y) / 0.5, std::hypot(x + 1, y) / 0.25); }), 1);
  ASSERT_EQ(pieces.size(), 2u);
  std::vector<double> radii;
  for (const Piece& piece : pieces) {
    EXPECT_TRUE(piece.closed);
    radii.push_back(1 / mean(curvature(evenly_spaced(piece, 4 * cell))));
  }
  std::sort(radii.begin(), radii.end());
  EXPECT_NEAR(radii[0], 0.25, 0.0025);
  EXPECT_NEAR(radii[1], 0.5, 0.005);
}

TEST(Contour, ALineThatLeavesTheGridIsOpenAndStraight) {
  const auto pieces = contours(on_grid([](double x, double y) { return x + 0.3 * y; }), 0.1);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_FALSE(pieces[0].closed);
  EXPECT_NEAR(pieces[0].length(), 4 * std::hypot(1, 0.3), 1e-9);
  const Piece even = evenly_spaced(pieces[0], 4 * cell);
  const auto k = curvature(even);
  EXPECT_EQ(k.size() + 2, even.x.size()) << "the ends have no curvature";
  EXPECT_LT(largest(k), 1e-6);
  EXPECT_EQ(even.x.front(), pieces[0].x.front());
  EXPECT_NEAR(even.x.back(), pieces[0].x.back(), 1e-12);
}

TEST(Contour, ACellCrossedTwiceIsResolvedByItsCentre) {
  const auto diagonal_ends = [](double centre_shift) {
    Map map{{0, 1}, {0, 1}, {1 + centre_shift, 0, 0, 1 + centre_shift}, "heat", {}, ""};
    const auto pieces = contours(map, 0.5);
    EXPECT_EQ(pieces.size(), 2u);
    // Whether the low corner at (1, 0) has a piece of its own: one with both points near it.
    for (const Piece& piece : pieces)
      if (piece.x[0] + piece.x[1] - piece.y[0] - piece.y[1] > 0.5) return true;
    return false;
  };
  EXPECT_TRUE(diagonal_ends(0.5)) << "a high centre joins the high corners";
  EXPECT_FALSE(diagonal_ends(-0.2)) << "a low centre joins the low ones";
}

TEST(Contour, NumbersThatAreNotFiniteAreRefused) {
  Map map{{0, 1}, {0, 1}, {0, 1, NAN, 1}, "heat", {}, ""};
  EXPECT_THAT(error_of([&] { contours(map, 0.5); }), testing::HasSubstr("finite"));
  map.z.pop_back();
  EXPECT_THAT(error_of([&] { contours(map, 0.5); }), testing::HasSubstr("2 x 2"));
}

TEST(Contour, ALevelThatIsNeverReachedHasNoPieces) {
  EXPECT_TRUE(contours(on_grid([](double x, double y) { return x * y; }), 5).empty());
}

}  // namespace
}  // namespace kelvin
