// SPDX-License-Identifier: Apache-2.0
// Products of small matrices against the definition, number by number.
#include "kelvin/function/product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kelvin/core/noise.h"

namespace kelvin {
namespace {

template <class Real>
struct ProductOf : testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ProductOf, Reals);

template <class Real>
std::vector<Real> some(std::size_t n, const char* name) {
  std::vector<Real> v(n);
  normals({stream_key(3, name), 0, 0, 0}, 0, std::span(v));
  return v;
}

// Sizes below, at and beyond the tiles (14 or 6 rows, 32 numbers) of every instruction set.
const std::vector<std::size_t> sizes = {1, 5, 6, 7, 13, 14, 15, 31, 32, 33, 100};

// How far rounding may take a sum of `depth` products of normals: each of them adds an error of the size of the sum.
template <class Real>
double allowed(std::size_t depth) {
  return 8 * std::numeric_limits<Real>::epsilon() * double(depth + 1);
}

TYPED_TEST(ProductOf, IsTheSumOfProductsForEverySize) {
  using Real = TypeParam;
  for (const std::size_t rows : sizes)
    for (const std::size_t columns : sizes)
      for (const std::size_t depth : {1, 31, 32, 33, 70}) {
        const auto a = some<Real>(rows * depth, "a"), b = some<Real>(depth * columns, "b"),
                   bias = some<Real>(columns, "bias"), before = some<Real>(rows * columns, "c");
        std::vector<Real> turned(columns * depth), packed(packed_size(depth, columns));
        for (std::size_t d = 0; d < depth; ++d)
          for (std::size_t j = 0; j < columns; ++j) turned[j * depth + d] = b[d * columns + j];
        pack_turned(Unpacked<Real>{columns, depth, depth, turned.data()}, packed.data());
        std::vector<Real> c = before, c_turned = before, positive(rows * columns, Real(1e30));
        Product<Real> p{.rows = rows,
                        .columns = columns,
                        .depth = depth,
                        .a = a.data(),
                        .a_row = depth,
                        .a_depth = 1,
                        .a_panel = panel,
                        .b = packed.data(),
                        .c = c.data(),
                        .c_row = columns,
                        .share = Real(0.5),
                        .keep = Real(2),
                        .bias = bias.data()};
        multiply(p);
        std::vector<Real> a_turned(rows * depth);  // the same numbers, a column of a after another
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t d = 0; d < depth; ++d) a_turned[d * rows + i] = a[i * depth + d];
        p.a = a_turned.data(), p.a_row = 1, p.a_depth = rows, p.a_panel = panel * rows, p.c = c_turned.data();
        multiply(p);
        p.c = positive.data(), p.keep = 0, p.relu = true;
        multiply(p);
        EXPECT_EQ(c, c_turned) << "the order of the sums must not depend on where the numbers lie";
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < columns; ++j) {
            double sum = double(bias[j]);
            for (std::size_t d = 0; d < depth; ++d) sum += 0.5 * double(a[i * depth + d]) * double(b[d * columns + j]);
            const double kept = sum + 2 * double(before[i * columns + j]);
            ASSERT_NEAR(c[i * columns + j], kept, allowed<Real>(depth)) << rows << " " << columns << " " << depth;
            ASSERT_NEAR(positive[i * columns + j], std::max(sum, 0.0), allowed<Real>(depth));
          }
      }
}

TYPED_TEST(ProductOf, PackingPutsEveryNumberInItsPanel) {
  for (const std::size_t rows : sizes)
    for (const std::size_t columns : sizes) {
      const auto from = some<TypeParam>(rows * columns, "from");
      std::vector<TypeParam> to(packed_size(columns, rows));
      pack_turned(Unpacked<TypeParam>{rows, columns, columns, from.data()}, to.data());
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          ASSERT_EQ(to[(i / panel * columns + j) * panel + i % panel], from[i * columns + j]);
    }
}

}  // namespace
}  // namespace kelvin
