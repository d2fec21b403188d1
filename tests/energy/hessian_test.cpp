// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/hessian.h"

#include <gmock/gmock.h>

#include <numeric>

#include "kelvin/numeric/linear.h"
#include "tests/small_network.h"

namespace kelvin {
namespace {

using testing::ElementsAre;

TEST(Hessian, OfALinearModelIsTwiceTheMeanOuterProductOfTheInputs) {
  const Dataset d = regression(20, 1);
  Energy<double> u(make(network({3, 1}, {"relu"}), d));
  const auto h = hessian(u, some_point(4, 1), {});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      double exact = 0;
      for (std::size_t r = 0; r < d.rows; ++r)
        exact += 2 * (i == 3 ? 1 : d.inputs[3 * r + i]) * (j == 3 ? 1 : d.inputs[3 * r + j]) / double(d.rows);
      EXPECT_NEAR(h[4 * i + j], exact, 1e-7);  // the gradient is linear: only rounding, 1e-15 / increment 1.5e-8
    }
}

TEST(Hessian, IsSymmetricAndItsEigenvaluesAscendToTheTrace) {
  Energy<double> u(make(network({3, 4, 2}, {"tanh"}), regression(20, 2)));
  const std::size_t n = dimension_of(u);
  const auto h = hessian(u, some_point(n, 0.7), {});
  const auto values = eigenvalues(h);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) {
    trace += h[i * n + i];
    for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(h[i * n + j], h[j * n + i]);
  }
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), trace, 1e-12 * double(n) * std::abs(values.back()));
  EXPECT_THAT(eigenvalues(std::vector<double>{2, 1, 1, 2}),
              ElementsAre(testing::DoubleNear(1, 1e-15), testing::DoubleNear(3, 1e-15)));
}

// U = mean (f - y)^2, so H = mean 2 (df df' + (f - y) ddf), and of f = w2.relu(W1 x + b1) + b2 only the derivatives by
// w2_k and one of W1_k, b1_k are left: x_j or 1 where unit k is on. Of 40000 kinks (rows x units), one within reach of
// an increment would add about 1 / (rows x increment) to an entry.
TEST(Hessian, OfAReluNetworkHasNoTraceOfItsKinks) {
  constexpr std::size_t units = 20, each = 4;  // of W1_k and b1_k
  const Dataset d = regression(2000, 1);
  Energy<double> u(make(network({3, long(units), 1}, {"relu"}), d));
  const std::size_t n = dimension_of(u), w2 = units * each;
  const auto q = some_point(n, 0.7);
  std::vector<double> exact(n * n), slope(n);
  for (std::size_t r = 0; r < d.rows; ++r) {
    const double x[each] = {d.inputs[3 * r], d.inputs[3 * r + 1], d.inputs[3 * r + 2], 1};
    const auto place = [&](std::size_t k, std::size_t j) { return j < 3 ? 3 * k + j : 3 * units + k; };
    double f = q[n - 1];
    std::fill(slope.begin(), slope.end(), 0);
    slope[n - 1] = 1;
    for (std::size_t k = 0; k < units; ++k) {
      double z = 0;
      for (std::size_t j = 0; j < each; ++j) z += q[place(k, j)] * x[j];
      if (z <= 0) continue;
      f += q[w2 + k] * z;
      slope[w2 + k] = z;
      for (std::size_t j = 0; j < each; ++j) slope[place(k, j)] = q[w2 + k] * x[j];
    }
    const double share = 2 / double(d.rows);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) exact[i * n + j] += share * slope[i] * slope[j];
    for (std::size_t k = 0; k < units; ++k)
      for (std::size_t j = 0; slope[w2 + k] > 0 && j < each; ++j) {
        exact[place(k, j) * n + w2 + k] += share * (f - d.targets[r]) * x[j];
        exact[(w2 + k) * n + place(k, j)] += share * (f - d.targets[r]) * x[j];
      }
  }
  EXPECT_LT(distance(hessian(u, q, {}), exact), 1e-6 * norm(exact));  // rounding: 1e-15 / 1.5e-8 per entry
}

// f = w2 relu(w1 x + b1) + b2 with w1 x + b1 = 3e-9, U = (f - y)^2 of one row: the kink is nearer than the first
// increment, 1.5e-8.
TEST(Hessian, StepsBackFromAKinkNearby) {
  Dataset d;
  d.rows = 1, d.input_names = {"x"}, d.target_names = {"y"}, d.inputs = {0.5}, d.targets = {1};
  Energy<double> u(make(network({1, 1, 1}, {"relu"}), d));
  const double z = 3e-9, w2 = 0.8, b2 = 0.3, miss = w2 * z + b2 - 1;
  const double slope[] = {0.5 * w2, w2, z, 1};  // by w1, b1, w2, b2
  const auto h = hessian(u, std::vector<double>{1, -0.5 + z, w2, b2}, {});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const double bend = i + j == 2 && i != j ? 0.5 : i + j == 3 && i > 0 && j > 0 ? 1 : 0;  // d2 f
      EXPECT_NEAR(h[4 * i + j], 2 * (slope[i] * slope[j] + miss * bend), 1e-5) << i << j;     // 1e-16 / 6e-11
    }
}

TEST(Hessian, RefusesManyParameters) {
  Energy<double> u(make(network({3, 700, 2}, {"tanh"}), regression(5, 2)));
  EXPECT_THROW(hessian(u, some_point(dimension_of(u), 1), {}), Error);
}

}  // namespace
}  // namespace kelvin
