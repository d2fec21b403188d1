// SPDX-License-Identifier: Apache-2.0
// Reversible averaging on H = P^2/2 + w p^2/2 + Q^2/2 + w (Q - q)^2/2, w = 10: the fast pair turns by an angle w t
// about its slow partner, so the limit of many inner steps is known in closed form. All maps are those of the running
// code.
#include <gmock/gmock.h>

#include "kelvin/chain/affine_map.h"
#include "tests/dense.h"
#include "tests/files.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

constexpr double w = 10;

struct Strings {
  std::string slow, fast;
};
Strings ra0(int k) {
  return {fmt::format("(BB){0}A(..){0}A(BB){0}", k), fmt::format("<(BAB){0}>(BAB){0}<~(BAB){0}>", k)};
}
Strings ra1(int k) {
  return {fmt::format("(BB){0}(.A.){0}(BB){0}", k), fmt::format("<(BAB){0}>(BAB){0}<~(BAB){0}>", k)};
}

Recipe recipe_of(const Strings& strings, double h) {
  PartSettings slow = moving(strings.slow, h), fast = moving(strings.fast, h);
  slow.blocks = {"slow"}, fast.blocks = {"fast"}, fast.mass = number(1 / w);
  return make_recipe({{"slow", slow}, {"fast", fast}}, {}, make_toy<double>(Choice("slow_fast"))->blocks(), {});
}

// In the order (Q, q, P, p); the chain has (q, Q, p, P).
Eigen::Matrix4d map_of(const Strings& strings, double h) {
  const Matrix m = affine_map(*make_toy<double>(Choice("slow_fast")), recipe_of(strings, h)).map;
  const int at[] = {1, 0, 3, 2};
  Eigen::Matrix4d out;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) out(i, j) = m(std::size_t(at[i]), std::size_t(at[j]));
  return out;
}

// With d = q - Q the fast pair is (d, p) -> (c d + s p, -s d + c p); its mean pull on Q over [0, h] or [-h, 0] follows.
struct Exact {
  double h, s = std::sin(w * h), c = std::cos(w * h);
  void kick(Eigen::Vector4d& x, double sign) const {
    const double d = x[1] - x[0];
    x[2] -= h / 2 * (x[0] - (d * s + sign * x[3] * (1 - c)) / h);
  }
  void turn(Eigen::Vector4d& x, double velocity) const {  // while Q moves with this velocity
    const double d = x[1] - x[0], p = x[3] - velocity / w;
    x[0] += h * velocity;
    x[1] = x[0] + c * d + s * p, x[3] = -s * d + c * p + velocity / w;
  }
  Eigen::Matrix4d matrix(bool drifts) const {
    Eigen::Matrix4d out;
    for (int i = 0; i < 4; ++i) {
      Eigen::Vector4d x = Eigen::Vector4d::Unit(i);
      kick(x, 1);
      if (drifts) {
        turn(x, x[2]);
      } else {
        x[0] += h / 2 * x[2];
        turn(x, 0);
        x[0] += h / 2 * x[2];
      }
      kick(x, -1);
      out.col(i) = x;
    }
    return out;
  }
};

TEST(Averaging, TheLimitIsThePublishedMatrix) {
  for (const double h : {0.3, 1.1}) {
    const double s = std::sin(w * h), c = std::cos(w * h), k = h - s / w;
    const Eigen::Matrix4d m = Exact{h}.matrix(true);
    const Eigen::RowVector4d first(1 - h * s / 2 - h * h / 2, h * s / 2, h, h * (1 - c) / 2);
    const Eigen::RowVector4d second(1 - c - k * (h + s) / 2, c + s * k / 2, k, s + (1 - c) * k / 2);
    const Eigen::RowVector4d fourth(s - (1 - c) * (h + s) / (2 * w), -s + (1 - c) * s / (2 * w), (1 - c) / w,
                                    c + (1 - c) * (1 - c) / (2 * w));
    EXPECT_LT((m.row(0) - first).norm(), 1e-14);
    EXPECT_LT((m.row(1) - second).norm(), 1e-14);
    EXPECT_LT((m.row(3) - fourth).norm(), 1e-14);
  }
}

// Verlet and the trapezoidal rule both err by O(1/k^2), so the ratio is 4 up to O(1/k^2).
TEST(Averaging, MoreInnerStepsApproachTheLimit) {
  for (const double h : {0.3, 0.9})
    for (const bool drifts : {false, true}) {
      const auto error = [&](int k) { return (map_of(drifts ? ra1(k) : ra0(k), h) - Exact{h}.matrix(drifts)).norm(); };
      const double coarse = error(40), fine = error(80);
      EXPECT_NEAR(coarse / fine, 4, 0.1) << h << drifts;
      EXPECT_LT(error(400), 1e-3) << h << drifts;
    }
}

constexpr int many = 400;  // inner steps: the fast frequency errs by (w h / k)^2 / 24, 1e-4 of itself at h = 2

TEST(Averaging, Ra0IsUnstableInItsKnownBands) {
  const auto radius = [](double h) { return spectral_radius(plain(map_of(ra0(many), h))); };
  struct Band {
    double below, above, largest;
  };
  for (const auto& [below, above, largest] :
       {Band{0.5135, 0.6046, 1.329}, {1.065, 1.208, 1.631}, {1.631, 1.806, 1.853}}) {
    EXPECT_LT(radius(below - 1e-3), 1 + 1e-6) << below;
    EXPECT_GT(radius(below + 1e-3), 1 + 1e-3) << below;
    EXPECT_GT(radius(above - 1e-3), 1 + 1e-3) << above;
    EXPECT_LT(radius(above + 1e-3), 1 + 1e-6) << above;
    double most = 0;
    for (double h = below; h < above; h += (above - below) / 30) most = std::max(most, radius(h));
    EXPECT_NEAR(most, largest, 1e-3);
  }
}

TEST(Averaging, Ra1IsStableUpToItsKnownStep) {
  for (double h = 0.05; h < 1.97; h += 0.05) EXPECT_NEAR(spectral_radius(plain(map_of(ra1(many), h))), 1, 1e-6) << h;
  EXPECT_GT(spectral_radius(plain(map_of(ra1(many), 2.02))), 1.01);
}

TEST(Averaging, WithoutTurningBackItWouldNotBeStable) {
  Strings strings = ra1(many);
  std::erase(strings.fast, '~');
  double most = 0;
  for (double h = 0.05; h < 1.97; h += 0.05) most = std::max(most, spectral_radius(plain(map_of(strings, h))));
  EXPECT_GT(most, 1.05);
}

TEST(Averaging, StepsCanBeTakenBack) {
  for (const Strings& strings : {ra0(5), ra1(5)}) {
    const Eigen::Matrix4d m = map_of(strings, 0.4);
    const Eigen::Matrix4d turn = Eigen::Vector4d(1, 1, -1, -1).asDiagonal();
    EXPECT_LT((turn * m * turn * m - Eigen::Matrix4d::Identity()).norm(), 1e-12);
  }
}

// ---- the letters themselves

std::vector<double> after(const std::string& scheme, int steps) {
  Walker<double> walker(gaussian({2, 3}), moving(scheme, 0.3));
  walker.chain.place(std::vector{1.0, -0.5}, std::vector{0.2, 0.7});
  for (int n = 0; n < steps; ++n) walker.chain.step();
  std::vector<double> out(walker.chain.q().begin(), walker.chain.q().end());
  out.insert(out.end(), walker.chain.p().begin(), walker.chain.p().end());
  return out;
}

TEST(LookAhead, LeavesNoTraceAndTakesNoTime) {
  EXPECT_EQ(after("<(BAB)3>", 4), (std::vector{1.0, -0.5, 0.2, 0.7}));
  EXPECT_EQ(after("<~(BAB)3>BAB", 4), after("BAB", 4));
  EXPECT_EQ(after("BA<~AAA>AB", 4), after("BAAB", 4));
}

TEST(LookAhead, TurningAroundRetracesThePath) {
  const auto back = after("(BAB)10~(BAB)10~", 1);
  const std::vector start{1.0, -0.5, 0.2, 0.7};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(back[i], start[i], 1e-14);
}

TEST(LookAhead, GoesOnBitForBitFromAState) {
  const Noise<double> noise;
  const auto make = [&] {
    return Chain<double>(make_toy<double>(Choice("slow_fast")), recipe_of(ra1(3), 0.2), Batches({}, 0, 1, 0), noise, 1,
                         0);
  };
  auto whole = make(), first = make(), second = make();
  for (auto* chain : {&whole, &first, &second}) chain->start(std::vector{0.3, -0.4});
  for (int n = 0; n < 20; ++n) whole.step();
  for (int n = 0; n < 7; ++n) first.step();
  second.restore(first.state());
  for (int n = 7; n < 20; ++n) second.step();
  EXPECT_TRUE(std::ranges::equal(whole.q(), second.q()));
  EXPECT_TRUE(std::ranges::equal(whole.p(), second.p()));
}

TEST(LookAhead, MistakesAreNamed) {
  EXPECT_THAT(error_of([] { parse_scheme("<BAB"); }), HasSubstr("'<' without '>'"));
  EXPECT_THAT(error_of([] { parse_scheme("BAB>"); }), HasSubstr("'>' without '<'"));
  EXPECT_THAT(error_of([] { parse_scheme("<<BAB>>"); }), HasSubstr("'<' inside '< >'"));
  EXPECT_THAT(error_of([] { parse_scheme("<m>"); }), HasSubstr("both keep a memory"));
  EXPECT_THAT(error_of([] { parse_scheme("R{<BAB>}"); }), HasSubstr("remembers something inside { }"));
}

}  // namespace
}  // namespace kelvin
