// SPDX-License-Identifier: Apache-2.0
// Rows tell the truth about their letters, and letters solve the equations they name.
#include "kelvin/dynamics/letters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kelvin/core/noise.h"

namespace kelvin {
namespace {

struct State {
  std::vector<double> q{0.3, -1.2, 2.0}, p{0.7, 0.1, -0.4}, g{1.5, -0.2, 0.9};
  double gamma = 1.3, T = 0.8, m = 1.7, sigma = 1.1, eps = 0.6, damping = 0.7, xi = 0.9;
  std::vector<double> u{0.2, 0.5, 0.1}, v{0.4, 0.3, 0.6};
  PartConstants constants{.freedom = 3, .weight_decay = 0.3, .blocks = {0, 2, 3}};
  std::vector<double> column{0.5, -0.3, 0.2}, square{0.38}, one{1};  // a covariance of rank 1
  GradientNoise<double> noise;
  Part<double> part() {
    noise = {{}, column, square, one};
    return {q, p, g, gamma, T, m, sigma, eps, damping, &xi, &constants, u, v, 4, 1, &noise};
  }
};

std::vector<double> normals_for(const Letter& l, std::size_t n) {
  std::vector<double> z(std::size_t(l.normals) * n);
  normals({stream_key(1, "letters"), 0, 0, 0}, 0, std::span(z));
  return z;
}

TEST(Letters, RowsTellWhatMovesAndWhatReadsTheGradient) {
  for (const Letter& l : letters()) {
    State a, b;
    const auto z = normals_for(l, 3);
    const State before = a;
    l.flow(a.part(), 0.2, z);
    EXPECT_EQ(a.q != before.q, l.moves_q) << l.symbol;
    EXPECT_EQ(a.p != before.p, l.moves_p) << l.symbol;
    EXPECT_EQ(a.g, before.g) << l.symbol;
    EXPECT_EQ(a.xi != before.xi, l.moves_xi) << l.symbol;
    EXPECT_EQ(a.u != before.u, l.memory > 0) << l.symbol;
    EXPECT_EQ(a.v != before.v, l.memory > 1) << l.symbol;
    b.g.assign(3, std::numeric_limits<double>::quiet_NaN());
    l.flow(b.part(), 0.2, z);
    const bool reads_g = std::isnan(b.q[0]) || std::isnan(b.p[0]);
    EXPECT_EQ(reads_g, (l.joint == Joint::gradient && !l.everywhere) || l.joint == Joint::energy) << l.symbol;
  }
}

TEST(Letters, RowsTellWhoForgetsMomentum) {
  for (const Letter& l : letters())
    for (const double gamma : {1.3, HUGE_VAL}) {
      if (std::isinf(gamma) && l.moves_q && l.moves_p && l.normals) continue;  // refused by recipes
      if (l.look < 0) continue;                                                // p is what it was before
      State a, b;
      a.gamma = b.gamma = gamma;
      b.p = {5, 5, 5};
      const auto z = normals_for(l, 3);
      l.flow(a.part(), 0.2, z);
      l.flow(b.part(), 0.2, z);
      const bool forgets = l.forgets(gamma);
      EXPECT_EQ(a.p == b.p, forgets) << l.symbol << " gamma " << gamma;
    }
}

TEST(Letters, RowsTellWhoseNoiseVanishesAtTemperatureZero) {
  for (const Letter& l : letters()) {
    State a, b;
    a.T = b.T = 0;
    l.flow(a.part(), 0.2, normals_for(l, 3));
    l.flow(b.part(), 0.2, std::vector<double>(std::size_t(l.normals) * 3, 0.0));
    EXPECT_EQ(a.q == b.q && a.p == b.p && l.normals > 0, l.thermal) << l.symbol;
  }
}

TEST(Letters, RowsTellWhoUsesTheConstantsOfAdaptiveLangevin) {
  for (const Letter& l : letters()) {
    State a, b;
    b.xi = -1.4, b.sigma = 0.3, b.eps = 0.2;
    const double before = b.xi - a.xi;
    const auto z = normals_for(l, 3);
    l.flow(a.part(), 0.2, z);
    l.flow(b.part(), 0.2, z);
    EXPECT_EQ(a.q != b.q || a.p != b.p || b.xi - a.xi != before, l.adaptive) << l.symbol;
  }
}

TEST(Letters, RowsTellWhoAppliesWeightDecay) {
  for (const Letter& l : letters()) {
    State a, b;
    b.constants.weight_decay = 0;
    const auto z = normals_for(l, 3);
    l.flow(a.part(), 0.2, z);
    l.flow(b.part(), 0.2, z);
    EXPECT_EQ(a.q != b.q || a.p != b.p, l.decays) << l.symbol;
  }
}

TEST(Letters, AnySliceOfAPartMovesAsTheWholeDoesUnlessTheRowSaysOtherwise) {
  for (const Letter& l : letters()) {
    if (l.whole && l.memory) continue;  // these take it block by block
    State a, b;
    const auto z = normals_for(l, 3);
    l.flow(a.part(), 0.2, z);
    const std::size_t each = std::size_t(l.normals);
    l.flow(b.part().slice(0, 1), 0.2, std::span(z).first(each));
    l.flow(b.part().slice(1, 2), 0.2, std::span(z).subspan(each));
    EXPECT_EQ(a.q == b.q && a.p == b.p && a.xi == b.xi, !l.whole) << l.symbol;
  }
}

TEST(Letters, TwiceHalfTheTimeIsOnceTheTimeWithoutNoise) {
  for (const Letter& l : letters()) {
    const std::vector<double> zero(std::size_t(l.normals) * 3, 0.0);
    State a, b, still;
    l.flow(still.part(), 0, zero);
    const bool euler = !l.local() && l.moves_p && l.normals > 0;  // solves its equation to first order only
    if (still.p != a.p || l.memory || euler) continue;            // no flow in time; optimizers solve no equation
    l.flow(a.part(), 0.4, zero);
    for (int k = 0; k < 2; ++k) l.flow(b.part(), 0.2, zero);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(a.q[std::size_t(i)], b.q[std::size_t(i)], 1e-15) << l.symbol;
      EXPECT_NEAR(a.p[std::size_t(i)], b.p[std::size_t(i)], 1e-15) << l.symbol;
    }
    EXPECT_NEAR(a.xi, b.xi, 1e-15) << l.symbol;
  }
}

// The printed formula divides by xi; what stands here must be its limit, and right for xi of either sign.
TEST(Letters, AdaptiveFrictionMayBeTinyOrNegative) {
  for (const double xi : {1e-320, 1e-17, 1e-9, 1e-4, -1e-9, -0.8, 3.0}) {
    State s;
    s.p = {0, 1, 0}, s.xi = xi, s.damping = 1;
    for (const Letter& l : letters())
      if (l.symbol == 'F') l.flow(s.part(), 0.4, std::vector{1.0, 0.0, 0.0});
    const double x = 2 * xi * 0.4;  // 1 - x/2 + x^2/6 ... is (1 - e^-x)/x
    const double ratio = std::abs(x) < 1e-3 ? 1 - x / 2 + x * x / 6 - x * x * x / 24 : (1 - std::exp(-x)) / x;
    EXPECT_NEAR(s.p[0], 1.1 * std::sqrt(0.4 * ratio), 1e-13) << xi;
    EXPECT_NEAR(s.p[1], std::exp(-xi * 0.4), 1e-15) << xi;
  }
}

// Covariance of (q, p) that one letter adds from rest, read with unit noise.
struct Spread {
  double qq = 0, qp = 0, pp = 0;
};
Spread spread_of(const Letter& l, double h, double gamma) {
  Spread s;
  for (int k = 0; k < l.normals; ++k) {
    std::vector<double> q{0}, p{0}, g{0}, z(std::size_t(l.normals), 0.0);
    z[std::size_t(k)] = 1;
    l.flow(Part<double>{q, p, g, gamma, 0.8, 1.7, 1.1, 0, 1, &gamma}, h, z);
    s.qq += q[0] * q[0], s.qp += q[0] * p[0], s.pp += p[0] * p[0];
  }
  return s;
}

TEST(Letters, NoiseOfTheBathsComposesOverTime) {
  for (const Letter& l : letters()) {
    if (!l.bath() || l.forgets_p == Forgets::always) continue;
    for (const double gamma : {1e-6, 1e-3, 0.3, 1.0, 30.0}) {
      // two halves in a row: what the first adds is carried through the second's linear map
      std::vector<double> zero(std::size_t(l.normals), 0.0), q{0}, p{1}, g{0};
      double xi = gamma;
      l.flow(Part<double>{q, p, g, gamma, 0.8, 1.7, 1.1, 0, 1, &xi}, 0.2, zero);
      const double reach = q[0], keep = p[0];
      const Spread half = spread_of(l, 0.2, gamma), whole = spread_of(l, 0.4, gamma);
      const double move = l.moves_q ? 1 : 0;
      EXPECT_NEAR(whole.pp, half.pp + keep * keep * half.pp, 1e-14 * whole.pp) << l.symbol << gamma;
      EXPECT_NEAR(whole.qp, half.qp + move * keep * (half.qp + reach * half.pp), 1e-12 * whole.qp + 1e-300)
          << l.symbol << gamma;
      EXPECT_NEAR(whole.qq, half.qq + move * (half.qq + 2 * reach * half.qp + reach * reach * half.pp),
                  1e-9 * whole.qq + 1e-300)
          << l.symbol << gamma;
    }
  }
}

TEST(Letters, FloatAgreesWithDouble) {
  for (const Letter& l : letters()) {
    State a;
    std::vector<float> q(a.q.begin(), a.q.end()), p(a.p.begin(), a.p.end()), g(a.g.begin(), a.g.end());
    const auto z = normals_for(l, 3);
    const std::vector<float> zf(z.begin(), z.end());
    l.flow(a.part(), 0.2, z);
    double xi = 0.9;
    State b;
    std::vector<float> u(b.u.begin(), b.u.end()), v(b.v.begin(), b.v.end());
    const std::vector<float> column(b.column.begin(), b.column.end());
    const GradientNoise<float> noise{{}, column, b.square, b.one};
    l.flow(Part<float>{q, p, g, 1.3, 0.8, 1.7, 1.1, 0.6, 0.7, &xi, &a.constants, u, v, 4, 1, &noise}, 0.2, zf);
    EXPECT_NEAR(xi, a.xi, 1e-6) << l.symbol;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(q[i], a.q[i], 1e-6) << l.symbol;
      EXPECT_NEAR(p[i], a.p[i], 1e-6) << l.symbol;
    }
  }
}

}  // namespace
}  // namespace kelvin
