// SPDX-License-Identifier: Apache-2.0
// What keeps matrices orthogonal, apart from their products, against the definitions, number by number.
#include "kelvin/dynamics/constraint_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kelvin/core/noise.h"
#include "kelvin/function/gemm.h"

namespace kelvin {
namespace {

template <class Real>
struct SquareOf : testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(SquareOf, Reals);

// Below, at and beyond the vectors of every instruction set.
const std::vector<std::size_t> sizes = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100};

template <class Real>
std::vector<Real> some(std::size_t n, const char* name) {
  std::vector<Real> v(n);
  normals({stream_key(5, name), 0, 0, 0}, 0, std::span(v));
  return v;
}

template <class Real>
void mirrored(std::size_t n, Real* square) {
  KELVIN_RETURN_BEST(mirror_upper(n, square));
}
template <class Real>
void symmetric(std::size_t n, Real* square) {
  KELVIN_RETURN_BEST(make_symmetric(n, square));
}
template <class Real>
Size size(std::size_t n, Real* square) {
  KELVIN_RETURN_BEST(size_less_one(n, square));
}
template <class Real>
double row(std::size_t rows, std::size_t columns, const Real* a, const Real* b) {
  KELVIN_RETURN_BEST(longest_row(rows, columns, a, b));
}
template <class Real>
double column(std::size_t rows, std::size_t columns, const Real* a, const Real* b) {
  KELVIN_RETURN_BEST(longest_column(rows, columns, a, b));
}

TYPED_TEST(SquareOf, IsMirroredAtItsDiagonalFromAbove) {
  for (const std::size_t n : sizes) {
    const auto before = some<TypeParam>(n * n, "square");
    auto after = before;
    mirrored(n, after.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        ASSERT_EQ(after[i * n + j], before[std::min(i, j) * n + std::max(i, j)]) << n << ": " << i << ", " << j;
  }
}

TYPED_TEST(SquareOf, BecomesItsSymmetricPart) {
  for (const std::size_t n : sizes) {
    const auto before = some<TypeParam>(n * n, "square");
    auto after = before;
    symmetric(n, after.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        ASSERT_EQ(after[i * n + j], (before[i * n + j] + before[j * n + i]) / 2) << n << ": " << i << ", " << j;
  }
}

// A sum of n squares is rounded n times.
TYPED_TEST(SquareOf, HasItsLargestEntryAndItsLongestRowAndColumn) {
  for (const std::size_t rows : sizes)
    for (const std::size_t columns : sizes) {
      const auto a = some<TypeParam>(rows * columns, "a"), b = some<TypeParam>(rows * columns, "b");
      std::vector<double> across(rows), down(columns);
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
          const double d = double(a[i * columns + j] - b[i * columns + j]);
          across[i] += d * d, down[j] += d * d;
        }
      const double allowed = std::numeric_limits<TypeParam>::epsilon() * double(rows + columns);
      const double wanted = std::sqrt(*std::max_element(across.begin(), across.end()));
      EXPECT_NEAR(row(rows, columns, a.data(), b.data()), wanted, allowed * wanted);
      const double tall = std::sqrt(*std::max_element(down.begin(), down.end()));
      EXPECT_NEAR(column(rows, columns, a.data(), b.data()), tall, allowed * tall);
      if (rows != columns) continue;
      auto square = a;
      const Size found = size(rows, square.data());
      double largest = 0, longest = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < rows; ++j) {
          const double e = double(a[i * rows + j] - TypeParam(i == j));
          EXPECT_EQ(double(square[i * rows + j]), e);
          largest = std::fmax(largest, std::abs(e)), sum += e * e;
        }
        longest = std::fmax(longest, std::sqrt(sum));
      }
      EXPECT_EQ(found.entry, largest);
      EXPECT_NEAR(found.row, longest, allowed * longest);
    }
}

TYPED_TEST(SquareOf, WithAnEntryThatIsNotFiniteHasNoSize) {
  for (const double lost : {double(NAN), double(INFINITY)})
    for (const std::size_t at : {0u, 4u, 80u, 101u, 120u}) {
      auto a = some<TypeParam>(121, "a");
      const auto b = some<TypeParam>(121, "b");
      a[at] = TypeParam(lost);
      EXPECT_FALSE(std::isfinite(row(11, 11, a.data(), b.data())));
      EXPECT_FALSE(std::isfinite(column(11, 11, a.data(), b.data())));
      const Size found = size(11, a.data());
      EXPECT_FALSE(std::isfinite(found.entry) || std::isfinite(found.row));
    }
}

TYPED_TEST(SquareOf, OfAMatrixIsTheUpperTriangleOfItsProductWithItself) {
  for (const std::size_t rows : {3u, 20u, 100u})
    for (const std::size_t columns : {3u, 17u, 100u})
      for (const bool turned : {false, true}) {
        const auto a = some<TypeParam>(rows * columns, "a");
        const Factor<TypeParam> f{a.data(), rows, columns, columns, turned},
            g{a.data(), rows, columns, columns, !turned};
        const std::size_t n = turned ? columns : rows;
        std::vector<TypeParam> whole(n * n), upper(n * n, TypeParam(7));
        gemm(TypeParam(1), f, g, TypeParam(0), whole.data(), n);
        gram(f, upper.data(), n);
        const double allowed = 8 * std::numeric_limits<TypeParam>::epsilon() * double(rows + columns);
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            if (j < i) EXPECT_EQ(upper[i * n + j], TypeParam(7));
            else EXPECT_NEAR(upper[i * n + j], whole[i * n + j], allowed);
          }
      }
}

}  // namespace
}  // namespace kelvin
