// SPDX-License-Identifier: Apache-2.0
#include "kelvin/numeric/linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kelvin/core/noise.h"

namespace kelvin {
namespace {

std::vector<double> some_numbers(std::size_t n, std::uint64_t seed) {
  std::vector<double> z(n);
  normals({stream_key(seed, "matrix")}, 0, z);
  return z;
}

Matrix some_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Matrix m(rows, columns);
  m.numbers = some_numbers(rows * columns, seed);
  return m;
}

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix out(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.columns; ++j)
      for (std::size_t k = 0; k < a.columns; ++k) out(i, j) += a(i, k) * b(k, j);
  return out;
}

TEST(Linear, OrthonormalColumnsSpanTheSameAndKeepTheirSide) {
  for (const auto& [tall, narrow] : {std::pair{1, 1}, {5, 1}, {5, 5}, {40, 7}}) {
    const auto m = std::size_t(tall), n = std::size_t(narrow);
    const Matrix A = some_matrix(m, n, 1);
    Matrix Q = A;
    make_orthonormal(m, n, Q.numbers.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double product = 0, R = 0;
        for (std::size_t k = 0; k < m; ++k) product += Q(k, i) * Q(k, j);
        for (std::size_t k = 0; k < m; ++k) R += Q(k, i) * A(k, j);
        EXPECT_NEAR(product, i == j, 1e-14);
        if (i == j) EXPECT_GT(R, 0);
        if (i > j) EXPECT_NEAR(R, 0, 1e-13) << "R = Q^T A is not upper triangular";
      }
  }
}

TEST(Linear, DependentColumnsAreReplaced) {
  Matrix A = some_matrix(6, 3, 2);
  for (std::size_t k = 0; k < 6; ++k) A(k, 1) = 2 * A(k, 0);
  for (std::size_t k = 0; k < 6; ++k) A(k, 2) = 0;
  make_orthonormal(6, 3, A.numbers.data());
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < 6; ++k) product += A(k, i) * A(k, j);
      EXPECT_NEAR(product, i == j, 1e-12);
    }
}

TEST(Linear, LeastSquaresSolvesAndTakesTheSmallestOfMany) {
  const Matrix A = some_matrix(7, 3, 3), B = some_matrix(7, 2, 4), X = least_squares(A, B);
  Matrix residual = times(A, X);
  for (std::size_t k = 0; k < residual.numbers.size(); ++k) residual.numbers[k] -= B.numbers[k];
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      double slope = 0;
      for (std::size_t k = 0; k < 7; ++k) slope += A(k, i) * residual(k, j);
      EXPECT_NEAR(slope, 0, 1e-13) << "the residual is orthogonal to A";
    }
  Matrix twice(2, 2), one(2, 1);  // x + y = 1, twice over: the smallest solution is (1/2, 1/2)
  twice.numbers = {1, 1, 1, 1};
  one.numbers = {1, 1};
  const Matrix least = least_squares(twice, one);
  EXPECT_NEAR(least(0, 0), 0.5, 1e-15);
  EXPECT_NEAR(least(1, 0), 0.5, 1e-15);
}

TEST(Linear, SpectralRadiusIsThatOfPairsBlocksAndNothing) {
  Matrix turn(2, 2);  // eigenvalues 0.9 e^{+-0.3 i}
  turn(0, 0) = turn(1, 1) = 0.9 * std::cos(0.3);
  turn(0, 1) = -0.9 * std::sin(0.3) * 100;
  turn(1, 0) = 0.9 * std::sin(0.3) / 100;
  EXPECT_NEAR(spectral_radius(turn), 0.9, 1e-13);
  Matrix jordan(3, 3);
  for (std::size_t k = 0; k < 3; ++k) jordan(k, k) = 0.5;
  jordan(0, 1) = jordan(1, 2) = 10;
  EXPECT_NEAR(spectral_radius(jordan), 0.5, 1e-13);
  EXPECT_EQ(spectral_radius(Matrix(2, 2)), 0);
}

TEST(Linear, SolvesProductsOfRows) {
  constexpr std::size_t n = 4, width = 6;
  const auto a = some_numbers(n * width, 5), b = some_numbers(n * width, 6), x = some_numbers(n, 7);
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < width; ++k) v[i] += a[i * width + k] * b[j * width + k] * x[j];
  const auto solved = solve_product({a, width}, {b, width}, v);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(solved[i], x[i], 1e-12);
}

}  // namespace
}  // namespace kelvin
