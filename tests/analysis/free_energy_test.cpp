// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/free_energy.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/files.h"
#include "tests/support.h"

namespace kelvin {
namespace {

constexpr double T = 0.5;
double well(double x) { return 3 * (x * x - 1) * (x * x - 1) + x / 4; }

// -T log of the integral of exp(-U / T) over a bin, by the midpoint rule.
double exact(const FreeEnergy& f, std::size_t bin, double temperature) {
  constexpr int n = 200;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::exp(-well(f.low + f.width * (double(bin) + (i + 0.5) / n)) / temperature);
  return -T * std::log(sum);
}

Chains sampled_well(std::size_t walkers, std::size_t draws) {
  Chains chains;
  for (std::size_t w = 0; w < walkers; ++w) {
    Walker<double> walker(Choice("double_well"), moving("BAOAB", 0.05, 1, T), 3, std::uint32_t(w));
    auto& x = chains.emplace_back();
    for (std::size_t n = 0; n < 1000; ++n) walker.chain.step();
    for (std::size_t d = 0; d < draws; ++d) {
      for (int n = 0; n < 10; ++n) walker.chain.step();
      x.push_back(walker.chain.q()[0]);
    }
  }
  return chains;
}

TEST(FreeEnergy, OfTheDoubleWellIsItsEnergyWithinItsErrors) {
  const FreeEnergy f = free_energy(sampled_well(4, 50000), T, 40);
  double square = 0, wrong = 0;
  std::size_t known = 0;
  for (std::size_t i = 0; i < f.value.size(); ++i) {
    if (std::isnan(f.error[i]) || i == f.deepest) continue;
    ++known;
    const double off = (f.value[i] - (exact(f, i, T) - exact(f, f.deepest, T))) / f.error[i];
    EXPECT_LT(std::abs(off), 4) << f.centre(i) << ": " << f.value[i] << " +- " << f.error[i];
    square += off * off;
    const double colder = (f.value[i] - (exact(f, i, 0.9 * T) - exact(f, f.deepest, 0.9 * T))) / f.error[i];
    wrong = std::max(wrong, std::abs(colder));
  }
  EXPECT_GT(known, 30u);
  // Errors that are too small or too large by much would show in the mean square; wells share most of their error.
  EXPECT_LT(square / double(known), 3);
  EXPECT_GT(square / double(known), 0.2);
  EXPECT_GT(wrong, 8) << "negative control: a temperature 10 % too low";

  ASSERT_EQ(f.barriers.size(), 1u);
  const auto& b = f.barriers[0];
  EXPECT_NEAR(f.centre(f.deepest), -1, 0.1);
  EXPECT_NEAR(f.centre(b.other), 1, 0.1);
  EXPECT_NEAR(f.centre(b.top), 0, 0.25) << "the top is flat";
  EXPECT_TRUE(b.visited);
  EXPECT_LT(std::abs(b.out - (exact(f, b.top, T) - exact(f, f.deepest, T))), 4 * b.out_error);
  EXPECT_LT(std::abs(b.back - (exact(f, b.top, T) - exact(f, b.other, T))), 4 * b.back_error);
}

TEST(FreeEnergy, NoiseIsNoBarrier) {
  Walker<double> walker(gaussian({1}), moving("BAOAB", 0.5), 5);
  Chains chains(1);
  for (int d = 0; d < 40000; ++d) walker.chain.step(), chains[0].push_back(walker.chain.q()[0]);
  EXPECT_TRUE(free_energy(chains, 1, 40).barriers.empty());
}

TEST(FreeEnergy, ABarrierThatWasNeverSeenIsSaidToBeHigher) {
  Chains chains(2);
  for (int d = 0; d < 1000; ++d) chains[0].push_back(-1 + 0.01 * (d % 7)), chains[1].push_back(1 + 0.01 * (d % 5));
  const FreeEnergy f = free_energy(chains, 1, 40);
  ASSERT_EQ(f.barriers.size(), 1u);
  EXPECT_FALSE(f.barriers[0].visited);
  chains[1] = chains[0];
  chains[1][500] = 1;
  EXPECT_TRUE(free_energy(chains, 1, 40).barriers.empty()) << "one outlier is no well";
}

TEST(FreeEnergy, RefusesTooLittle) {
  EXPECT_THAT(error_of([] { free_energy({{1, 2, 3}}, 1, 10); }), testing::HasSubstr("at least 100 draws"));
  EXPECT_THAT(error_of([] { free_energy({std::vector<double>(200, 1.0)}, 1, 10); }), testing::HasSubstr("the same"));
  std::vector<double> x(200, 1.0);
  x[7] = NAN;
  EXPECT_THAT(error_of([&] { free_energy({x}, 1, 10); }), testing::HasSubstr("not finite"));
}

}  // namespace
}  // namespace kelvin
