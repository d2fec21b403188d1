// SPDX-License-Identifier: Apache-2.0
// Constrained dynamics sample exp(-U/T) times the surface measure: laws in closed form, within 4 standard errors.
#include "tests/manifold.h"

namespace kelvin {
namespace {

constexpr double sure = 4;

double average(std::span<const double> w, double (*f)(double)) {
  double sum = 0;
  for (const double x : w) sum += f(x) / double(w.size());
  return sum;
}
double square(double x) { return x * x; }
double fourth(double x) { return x * x * x * x; }

// With U = 0 a weight on a circle is r sin(angle): the arcsine law.
TEST(ConstraintLaws, FreeCirclesHaveTheArcsineLaw) {
  for (const char* scheme : {"BAOAB", "OBABO", "S", "R{BAB}"}) {
    const double r = 0.5;
    const auto part = held(moving(scheme, scheme[0] == 'S' ? 0.05 : 0.4), constraint("circle", r));
    HeldWalker<double> w(Linear<double>(1, 8, 8), part), again(Linear<double>(1, 8, 8), part, 2);
    EXPECT_LT(std::abs(w.mean(200, 4000, [](auto q) { return average(q, square); }).deviation(r * r / 2)), sure)
        << scheme;
    EXPECT_LT(
        std::abs(again.mean(200, 4000, [](auto q) { return average(q, fourth); }).deviation(3 * r * r * r * r / 8)),
        sure)
        << scheme;
    EXPECT_GT(std::abs(w.mean(0, 4000, [](auto q) { return average(q, square); }).deviation(1.05 * r * r / 2)), sure);
  }
}

// U = -a q: the angle has von Mises' law with kappa = a r/T = 2, so <q> = r I1/I0 and <q^2> = r^2 (1 - I1/(2 I0)).
TEST(ConstraintLaws, CirclesInALinearPotentialAreVonMises) {
  const Linear<double> U(1, 16, 8, std::vector<double>(128, 1.0));
  for (const auto& [scheme, step, bias] :
       {std::tuple{"BAOAB", 0.2, 0.002}, {"OBABO", 0.1, 0.002}, {"R{(BAB)3}", 0.9, 0.0}, {"S", 0.02, 0.002}}) {
    HeldWalker<double> w(U, held(moving(scheme, step, 1, 0.5), constraint("circle", 1)));
    const Estimate mean = w.mean(500, 10000, [](auto q) { return average(q, [](double x) { return x; }); });
    EXPECT_LT(std::abs(mean.mean - 0.697775), sure * mean.error + bias) << scheme << " " << mean.mean;
    const Estimate second = w.mean(0, 10000, [](auto q) { return average(q, square); });
    EXPECT_LT(std::abs(second.mean - 0.651113), sure * second.error + bias) << scheme;
    EXPECT_GT(std::abs(mean.mean - 0.72), sure * mean.error + bias) << "too coarse to tell";
  }
}

// U = -a w_0 on a sphere of n dimensions, kappa = 2: <w_0> = I_(n/2)/I_(n/2-1).
TEST(ConstraintLaws, SpheresInALinearPotentialAreVonMisesAndFisher) {
  for (const auto& [n, exact] : {std::pair{std::size_t(3), 0.537315}, {5, 0.361107}, {10, 0.193691}})
    for (const bool slack : {false, true}) {
      const std::size_t columns = slack ? n - 1 : n, rows = 32;
      std::vector<double> slope(rows * columns, 0.0);
      for (std::size_t k = 0; k < rows; ++k) slope[k * columns] = 1;
      HeldWalker<double> w(Linear<double>(1, rows, columns, slope),
                           held(moving("BAOAB", 0.1, 1, 0.5), constraint(slack ? "sphere" : "norm", 1)));
      const Estimate z = w.mean(500, 10000, [&](std::span<const double> q) {
        double sum = 0;
        for (std::size_t k = 0; k < rows; ++k) sum += q[k * columns] / double(rows);
        return sum;
      });
      EXPECT_LT(std::abs(z.mean - exact), sure * z.error + 3e-4) << n << slack << " " << z.mean << " " << z.error;
      EXPECT_GT(std::abs(z.mean - exact - 0.03), sure * z.error + 3e-4) << "too coarse to tell";
    }
}

double trace(std::span<const double> q) { return q[0] + q[4] + q[8]; }

// Haar's measure on the component of O(3) that the walker starts in.
TEST(ConstraintLaws, FreeOrthogonalMatricesAreUniform) {
  for (const char* scheme : {"BAOAB", "S"}) {
    const auto part = held(moving(scheme, scheme[0] == 'S' ? 0.05 : 0.3, 1, 0.5), constraint("orthogonal"));
    HeldWalker<double> w(Linear<double>(6, 3, 3), part);
    const auto check = [&](double exact, auto&& f) {
      const Estimate e = w.mean(100, 2500, f);
      EXPECT_LT(std::abs(e.deviation(exact)), sure) << scheme << " " << exact << " " << e.mean;
    };
    using Q = std::span<const double>;
    check(1.0 / 3, [](Q q) { return q[0] * q[0]; });
    check(0.2, [](Q q) { return std::pow(q[5], 4); });
    check(1.0 / 15, [](Q q) { return q[0] * q[0] * q[1] * q[1]; });
    check(2.0 / 15, [](Q q) { return q[0] * q[0] * q[4] * q[4]; });
    check(-1.0 / 30, [](Q q) { return q[0] * q[1] * q[3] * q[4]; });
    check(0, [](Q q) { return trace(q); });
    check(1, [](Q q) { return trace(q) * trace(q); });
    check(1.0 / 6, [](Q q) {
      const double det =
          q[0] * (q[4] * q[8] - q[5] * q[7]) - q[1] * (q[3] * q[8] - q[5] * q[6]) + q[2] * (q[3] * q[7] - q[4] * q[6]);
      return det * q[0] * q[4] * q[8];
    });
  }
}

// Tall and wide: E Q_ij^2 = 1/r and E Q_ij^4 = 3/(r (r + 2)) with r the longer side.
TEST(ConstraintLaws, FreeStiefelMatricesAreUniform) {
  for (const auto& [rows, columns] : {std::pair{std::size_t(5), std::size_t(2)}, {2, 5}}) {
    HeldWalker<double> w(Linear<double>(4, rows, columns), held(moving("BAOAB", 0.3), constraint("orthogonal")));
    EXPECT_LT(std::abs(w.mean(100, 4000, [](auto q) { return q[3] * q[3]; }).deviation(0.2)), sure);
    EXPECT_LT(std::abs(w.mean(100, 4000, [](auto q) { return std::pow(q[1], 4); }).deviation(3.0 / 35)), sure);
  }
}

// U = -T kappa tr Q with kappa = 1, on the rotations.
TEST(ConstraintLaws, RotationsInALinearPotentialAreRight) {
  for (const auto& [scheme, step] : {std::pair{"BAOAB", 0.15}, {"R{(BAB)3}", 1.5}}) {
    const Linear<double> U(6, 3, 3, {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5});
    HeldWalker<double> w(U, held(moving(scheme, step, 1, 0.5), constraint("orthogonal")));
    std::vector<double> identity(w.chain.recipe().size, 0.0);
    for (const Block& b : w.chain.recipe().blocks)
      for (std::size_t i = 0; b.is_matrix() && i < 9; i += 4) identity[b.offset + i] = 1;
    w.chain.start(identity);
    const Estimate t = w.mean(500, 8000, trace);
    EXPECT_LT(std::abs(t.mean - 1.308789), sure * t.error + 0.002) << scheme << " " << t.mean;
    const Estimate tt = w.mean(0, 8000, [](auto q) { return trace(q) * trace(q); });
    EXPECT_LT(std::abs(tt.mean - 3), sure * tt.error + 0.004) << scheme << " " << tt.mean;
    EXPECT_GT(std::abs(t.mean - 1.6), sure * t.error + 0.002) << "too coarse to tell";
  }
}

// A box by reflection: uniform for U = 0, <q> = r coth k - r/k for U = -a q with k = a r/T.
TEST(ConstraintLaws, BoxesHoldTheTruncatedExponential) {
  const Linear<double> U(1, 16, 8, std::vector<double>(128, 1.0));
  HeldWalker<double> w(U, held(moving("BAOAB", 0.1, 1, 0.5), constraint("box", 1)));
  const Estimate mean = w.mean(500, 10000, [](auto q) { return average(q, [](double x) { return x; }); });
  EXPECT_LT(std::abs(mean.mean - (1 / std::tanh(2.0) - 0.5)), sure * mean.error + 0.002) << mean.mean;
}

// Degrees of freedom: one a circle, n - 1 a sphere, rs - s(s + 1)/2 an orthogonal matrix, and those of the bias.
TEST(ConstraintLaws, KineticTemperatureCountsDegreesOfFreedom) {
  for (const auto& on : {constraint("circle", 0.7), constraint("sphere", 2), constraint("norm", 2),
                         constraint("orthogonal"), constraint("box", 0.7)})
    for (const char* scheme : {"OBABO", "BACDEDCAB"}) {
      auto part = held(moving(scheme, 0.05, 1, 0.5), on);
      part.eps = number(0.1);
      HeldWalker<double> w(Linear<double>(2, 5, 3), part);
      for (int n = 0; n < 500; ++n) w.chain.step();
      std::vector<double> x;
      for (int n = 0; n < 4000; ++n) {
        w.chain.step_and_read();
        x.push_back(w.chain.reading().parts[0].kinetic_temperature);
      }
      EXPECT_LT(std::abs(estimate(x).mean - 0.5), sure * estimate(x).error + 0.002) << on.name << " " << scheme;
    }
}

}  // namespace
}  // namespace kelvin
