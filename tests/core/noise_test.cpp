// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kelvin/core/normals.h"

namespace kelvin {
namespace {

template <class Real>
std::vector<Real> take(const Stream& s, std::size_t first, std::size_t count) {
  std::vector<Real> z(count);
  normals(s, first, std::span(z));
  return z;
}

template <class Real>
struct NoiseOf : testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(NoiseOf, Reals);

TYPED_TEST(NoiseOf, ANormalDependsOnItsPlaceOnly) {
  const Stream s{stream_key(7, "part all"), 3, 12345678901, 2};
  const auto whole = take<TypeParam>(s, 0, 1000);
  for (const std::size_t first : {0, 1, 2, 3, 5, 127, 998})
    for (const std::size_t count : {1, 2, 7}) {
      if (first + count > 1000) continue;
      const auto piece = take<TypeParam>(s, first, count);
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(piece[i], whole[first + i]);
    }
}

TYPED_TEST(NoiseOf, EveryCoordinateOfAStreamMatters) {
  const Stream base{stream_key(7, "part all"), 3, 5, 2};
  std::vector<Stream> others(6, base);
  others[0].key = stream_key(8, "part all"), others[1].key = stream_key(7, "part all2");
  others[2].walker = 4, others[3].step = 6, others[4].place = 3, others[5].step = 5 + (std::uint64_t(1) << 32);
  const std::size_t n = 20000;
  const auto z = take<TypeParam>(base, 0, n);
  for (const Stream& s : others) {
    const auto y = take<TypeParam>(s, 0, n);
    double dot = 0;
    for (std::size_t i = 0; i < n; ++i) dot += double(z[i]) * double(y[i]);
    EXPECT_LT(std::abs(dot / std::sqrt(double(n))), 4) << "in standard errors";
  }
}

TYPED_TEST(NoiseOf, NormalsHaveTheMomentsOfAGaussian) {
  const std::size_t n = 2000000;
  const auto z = take<TypeParam>({stream_key(1, "moments"), 0, 0, 0}, 0, n);
  double m[9] = {}, neighbours = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double x = 1;
    for (int k = 1; k <= 8; ++k) m[k] += (x *= double(z[i])) / double(n);
    if (i) neighbours += double(z[i]) * double(z[i - 1]);
    if (i)
      squares +=
          (double(z[i]) * z[i] - 1) * (double(z[i - 1]) * z[i - 1] - 1) / 2;  // sees the two of a Box-Muller pair
  }
  const double moment[9] = {1, 0, 1, 0, 3, 0, 15, 0, 105}, variance[9] = {0, 1, 2, 15, 96, 945, 10170, 135135, 2016000};
  for (int k = 1; k <= 8; ++k)
    EXPECT_LT(std::abs(m[k] - moment[k]), 4 * std::sqrt(variance[k] / double(n))) << "moment " << k;
  EXPECT_LT(std::abs(neighbours), 4 * std::sqrt(double(n)));
  EXPECT_LT(std::abs(squares), 4 * std::sqrt(double(n)));
}

TYPED_TEST(NoiseOf, TheTailIsNotCutShort) {
  const std::size_t n = 20000000, block = 1 << 16;
  std::vector<TypeParam> z(block);
  double beyond_4 = 0, beyond_5 = 0;
  for (std::size_t first = 0; first < n; first += block) {
    normals({stream_key(2, "tail"), 0, 0, 0}, first, std::span(z));
    for (const auto x : z) beyond_4 += std::abs(x) > 4, beyond_5 += std::abs(x) > 5;
  }
  const double expected_4 = double(n) * std::erfc(4 / std::sqrt(2.0)),
               expected_5 = double(n) * std::erfc(5 / std::sqrt(2.0));
  EXPECT_LT(std::abs(beyond_4 - expected_4), 4 * std::sqrt(expected_4));
  EXPECT_LT(std::abs(beyond_5 - expected_5), 4 * std::sqrt(expected_5));
}

TYPED_TEST(NoiseOf, InstructionSetsAgree) {
#if KELVIN_ALL_ISAS
  const Stream s{stream_key(7, "part all"), 3, 12345678901, 2};
  for (const std::size_t first : {0, 1, 37, 64})
    for (const std::size_t count : {1, 16, 100, 100000}) {
      std::vector<TypeParam> a(count), b(count), c(count);
      portable::normals(s, first, a.data(), count);
      if (best_isa() >= Isa::avx2) {
        avx2::normals(s, first, b.data(), count);
        // near the origin the radius is the root of a difference, which rounding moves by its own size over the radius
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_NEAR(a[i], b[i], 4e3 * std::numeric_limits<TypeParam>::epsilon()) << i;
        double apart = 0;
        for (std::size_t i = 0; i < count; ++i) apart += std::abs(double(a[i]) - double(b[i])) / double(count);
        EXPECT_LT(apart, 2 * std::numeric_limits<TypeParam>::epsilon());
      }
      if (best_isa() == Isa::avx512) {
        avx512::normals(s, first, c.data(), count);
        EXPECT_EQ(b, c);
      }
    }
#endif
}

// (cos, sin) of so many quarter turns, |turns| <= 1/2; bit 1 of `mirrors` turns the sign of the cosine, then bit 0
// swaps the two.
std::pair<long double, long double> direction(std::uint64_t mirrors, long double turns) {
  const long double angle = std::acos(0.0L) * turns;
  const long double cosine = mirrors & 2 ? -std::cos(angle) : std::cos(angle), sine = std::sin(angle);
  return mirrors & 1 ? std::pair(sine, cosine) : std::pair(cosine, sine);
}

// Box-Muller from the words themselves, in long double: what the vectors should be to a few units in the last place.
TEST(Noise, NormalsAreBoxMullerOfTheirWords) {
  const Stream s{stream_key(7, "words"), 3, 5, 2};
  std::vector<float> z(64 * 1000);
  std::vector<double> y(32 * 1000);
  normals(s, 0, std::span(z));
  normals(s, 0, std::span(y));
  std::vector<std::uint32_t> w(64 * 1000);
  portable::random_words(s, 0, w.data(), 16 * 1000);
  double worst_float = 0, worst_double = 0;
  for (std::size_t group = 0; group < 1000; ++group)
    for (std::size_t lane = 0; lane < 16; ++lane)
      for (std::size_t k = 0; k < 4; k += 2) {
        const std::uint32_t* word = &w[4 * (16 * group + lane)];
        const long double r = std::sqrt(-2 * std::log(((word[k] & 0x7fffffff) | 1) / 0x1p31L));
        const auto [cosine, sine] = direction(word[k + 1] >> 30, std::int32_t(word[k + 1] << 2) / 0x1p32L);
        const float* x = &z[64 * group + 16 * k + lane];
        // rounding of the result and its factors, and of u to 24 bits, which moves r by du / (u r)
        const long double allowed = 2e-7L * (1 + r) + 6e-8L / r;
        worst_float = std::max(
            {worst_float, double(std::abs(x[0] - r * cosine) / allowed), double(std::abs(x[16] - r * sine) / allowed)});
      }
  for (std::size_t group = 0; group < 1000; ++group)
    for (std::size_t pair = 0; pair < 8; ++pair)
      for (std::size_t k = 0; k < 4; k += 2) {
        const std::uint32_t *low = &w[4 * (16 * group + 2 * pair)], *high = low + 4;
        const std::uint64_t u = std::uint64_t(high[k]) << 32 | low[k],
                            v = std::uint64_t(high[k + 1]) << 32 | low[k + 1];
        const long double r = std::sqrt(-2 * std::log(((u >> 12) + 0.5L) / 0x1p52L));
        const auto [cosine, sine] = direction(v >> 62, (v << 2 >> 12) / 0x1p52L - 0.5L);
        const double* x = &y[32 * group + 8 * k + pair];
        worst_double = std::max({worst_double, double(std::abs(x[0] - r * cosine)), double(std::abs(x[8] - r * sine))});
      }
  EXPECT_LT(worst_float, 1);
  EXPECT_LT(worst_double, 1e-14);
}

TEST(Noise, BitsTogetherAreThoseOneByOne) {
  const Stream s{stream_key(7, "bits"), 3, 5, 2};
  for (const std::size_t count : {1, 2, 255, 257, 1000}) {
    std::vector<std::uint64_t> bits(count);
    random_bits(s, bits);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(bits[i], random_bits(s, i));
  }
}

TEST(Noise, ItIsPhilox) {
  // The published answer for a zero counter and a zero key: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  EXPECT_EQ(random_bits({}, 0), 0x6627e8d5e169c58du);
  EXPECT_EQ(random_bits({}, 1), 0xbc57ac4c9b00dbd8u);
}

TEST(Noise, UniformsFillTheOpenInterval) {
  const std::size_t n = 100000;
  double sum = 0, square = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double u = uniform({stream_key(1, "uniform"), 0, 0, 0}, i);
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u - 0.5, square += (u - 0.5) * (u - 0.5) - 1.0 / 12;
  }
  EXPECT_LT(std::abs(sum), 4 * std::sqrt(double(n) / 12));
  EXPECT_LT(std::abs(square), 4 * std::sqrt(double(n) / 180));
}

TEST(Noise, BelowIsUniformOverItsRange) {
  int counts[7] = {};
  const std::size_t n = 70000;
  for (std::size_t i = 0; i < n; ++i) ++counts[below(7, {stream_key(1, "below"), 0, 0, 0}, i)];
  double chi = 0;
  for (const int c : counts) chi += (c - 10000.0) * (c - 10000.0) / 10000;
  EXPECT_LT(chi, 6 + 4 * std::sqrt(12.0)) << "6 degrees of freedom: mean 6, variance 12";
}

}  // namespace
}  // namespace kelvin
