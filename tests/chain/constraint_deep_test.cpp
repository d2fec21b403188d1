// SPDX-License-Identifier: Apache-2.0
// Constraints over a long time, and the order of their schemes.
#include "tests/manifold.h"

namespace kelvin {
namespace {

template <class Real>
void expect_held_for_long(double most) {
  for (const auto& on :
       {constraint("circle", 0.8), constraint("sphere", 0.8), constraint("norm", 0.8), constraint("orthogonal")})
    for (const char* scheme : {"BAOAB", "OBA", "ABO", "OBABO", "S"})
      for (const double T : {0.0, 1e-4, 1.0}) {
        std::vector<Real> slope(15);
        for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = Real(std::sin(double(i)));
        HeldWalker<Real> w(Linear<Real>(1, 5, 3, slope), held(moving(scheme, scheme[0] == 'S' ? 0.02 : 0.1, 1, T), on));
        for (int n = 0; n < 99'999; ++n) w.chain.step();
        w.chain.step_and_read();
        const PartReading& r = w.chain.reading().parts[0];
        EXPECT_LE(r.residual, most) << on.name << " " << scheme << " " << T;
        EXPECT_FALSE(r.tangency > most) << on.name << " " << scheme << " " << T;
      }
}
TEST(ConstraintSlow, HeldOverAHundredThousandStepsInDouble) { expect_held_for_long<double>(1e-12); }
TEST(ConstraintSlow, HeldOverAHundredThousandStepsInFloat) { expect_held_for_long<float>(1e-5); }

// von Mises and Fisher on a sphere in three dimensions, kappa = 2.
Estimate mean_height(const std::string& scheme, double step, std::size_t steps) {
  constexpr std::size_t rows = 256;
  std::vector<double> slope(3 * rows, 0.0);
  for (std::size_t k = 0; k < rows; ++k) slope[3 * k] = 1;
  HeldWalker<double> w(Linear<double>(1, rows, 3, slope), held(moving(scheme, step, 1, 0.5), constraint("norm", 1)));
  return w.mean(200, steps, [](std::span<const double> q) {
    double sum = 0;
    for (std::size_t k = 0; k < rows; ++k) sum += q[3 * k] / double(rows);
    return sum;
  });
}

TEST(ConstraintSlow, OrdersOnACurvedManifoldAreTwoAndOne) {
  const double exact = 1 / std::tanh(2.0) - 0.5;
  for (const auto& [scheme, order, step] : {std::tuple{"BAOAB", 2, 1.0}, {"OBABO", 2, 0.6}, {"S", 1, 0.2}}) {
    const Estimate coarse = mean_height(scheme, step, 30'000), fine = mean_height(scheme, step / 2, 60'000);
    const double ratio = std::pow(2, order), a = coarse.mean - exact, b = fine.mean - exact;
    EXPECT_GT(std::abs(a), 10 * coarse.error) << scheme << ": no error to see";
    // the next order adds its own share of the error
    EXPECT_LT(std::abs(a / ratio - b), 4 * std::hypot(coarse.error / ratio, fine.error) + 0.15 * std::abs(a / ratio))
        << scheme << " " << a << " " << b;
    EXPECT_GT(std::abs(a / (order == 2 ? 2 : 4) - b), 4 * std::hypot(coarse.error, fine.error)) << scheme;
  }
}

// Without the return to the manifold after each letter the law is lost.
TEST(ConstraintSlow, AMissingProjectionIsSeen) {
  auto free = moving("BAOAB", 0.2, 1, 0.5);
  HeldWalker<double> w(Linear<double>(1, 16, 8, std::vector<double>(128, 1.0)), free);
  for (int n = 0; n < 1000; ++n) w.chain.step();
  double largest = 0;
  for (const double x : w.block("W0")) largest = std::max(largest, std::abs(x));
  EXPECT_GT(largest, 1.0);
}

TEST(ConstraintSlow, RotationsInALinearPotentialAreRight) {
  const Linear<double> U(6, 3, 3, {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5});
  HeldWalker<double> w(U, held(moving("BAOAB", 0.1, 1, 0.5), constraint("orthogonal")));
  std::vector<double> identity(w.chain.recipe().size, 0.0);
  for (const Block& b : w.chain.recipe().blocks)
    for (std::size_t i = 0; b.is_matrix() && i < 9; i += 4) identity[b.offset + i] = 1;
  w.chain.start(identity);
  const auto trace = [](std::span<const double> q) { return q[0] + q[4] + q[8]; };
  const Estimate t = w.mean(1000, 100'000, trace);
  EXPECT_LT(std::abs(t.mean - 1.308789), 4 * t.error + 0.002) << t.mean << " " << t.error;
  EXPECT_LT(4 * t.error, 0.06);
  const Estimate tt = w.mean(0, 100'000, [&](auto q) { return trace(q) * trace(q); });
  EXPECT_LT(std::abs(tt.mean - 3), 4 * tt.error + 0.005) << tt.mean;
  const Estimate t2 = w.mean(0, 100'000, [](std::span<const double> q) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) sum += q[3 * i + j] * q[3 * j + i];
    return sum;
  });
  EXPECT_LT(std::abs(t2.mean - 0.382421), 4 * t2.error + 0.005) << t2.mean;
}

}  // namespace
}  // namespace kelvin
