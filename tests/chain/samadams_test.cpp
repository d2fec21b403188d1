// SPDX-License-Identifier: Apache-2.0
// Letter Z: steps that follow the size of the gradient, and draws that carry the time they stand for.
#include "tests/allocations.h"
#include "tests/files.h"
#include "tests/paced.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

Tuning quick_tempo() {
  Tuning t;
  t.tempo.most = 5;
  return t;
}

// Averages of f by the weight after the last Z, by that of the step behind the draw, and without weights.
struct Averages {
  Estimate end, mid, plain;
};
template <class F>
Averages averages(const Choice& toy, double step, int steps, F&& f) {
  Tuned<double> walker(toy, moving("samadams", step), quick_tempo(), 5);
  for (int n = 0; n < 1000; ++n) walker->step();
  std::vector<double> end, mid, values;
  for (int n = 0; n < steps; ++n) {
    walker->step_and_read();
    end.push_back(std::exp(walker->reading().log_weight)), mid.push_back(walker->reading().taken);
    values.push_back(f(walker->q()));
  }
  return {weighted(end, values), weighted(mid, values), estimate(values)};
}

double square(std::span<const double> q) { return q[0] * q[0]; }

TEST(SamAdams, TheFactorRunsFromMostToLeast) {
  TempoSettings t;
  t.least = 0.2, t.most = 7, t.power = 0.5;
  EXPECT_EQ(t.psi(0), 7);
  EXPECT_NEAR(t.psi(1e30), 0.2, 1e-12);
  EXPECT_EQ(t.psi(INFINITY), 0.2);
  EXPECT_NEAR(t.psi(4), 0.2 * (2 + 7) / (2 + 0.2), 1e-15);
}

// The formulas typed out.
TEST(SamAdams, TheWordIsItsFormulas) {
  const double ds = 0.3, friction = 0.7, T = 0.8;
  Tuning tuning = quick_tempo();
  tuning.tempo.rate = 1.3, tuning.tempo.scale = 2, tuning.tempo.power = 0.4;
  Tuned<double> walker(Choice("quartic"), moving("ZBAOABZ", ds, friction, T), tuning, 3);
  double q = walker->q()[0], p = walker->p()[0], zeta = std::pow(q, 6) / (1.3 * 2);
  const std::uint64_t key = stream_key(3, "part all");
  for (std::uint64_t n = 0; n < 50; ++n) {
    const double keep = std::exp(-1.3 * ds / 2);
    zeta = keep * zeta + (1 - keep) / 1.3 * std::pow(q, 6) / 2;
    const double x = std::pow(zeta, 0.4), h = ds * 0.1 * (x + 5) / (x + 0.1);
    std::vector<double> z(1);
    normals({key, 0, n, 3}, 0, std::span(z));
    p -= h / 2 * q * q * q;
    q += h / 2 * p;
    p = std::exp(-friction * h) * p + std::sqrt(T * (1 - std::exp(-2 * friction * h))) * z[0];
    q += h / 2 * p;
    p -= h / 2 * q * q * q;
    zeta = keep * zeta + (1 - keep) / 1.3 * std::pow(q, 6) / 2;
    walker->step_and_read();
    ASSERT_NEAR(walker->q()[0], q, 1e-12) << n;
    ASSERT_NEAR(walker->p()[0], p, 1e-12) << n;
    EXPECT_NEAR(walker->reading().taken, h, 1e-12);
    const double end = std::pow(zeta, 0.4);
    EXPECT_NEAR(std::exp(walker->reading().log_weight), 0.1 * (end + 5) / (end + 0.1), 1e-11);
  }
  EXPECT_EQ(walker->evaluations(), 51u) << "one gradient a step";
}

TEST(SamAdams, SamplesAQuarticByTheWeightAfterTheLastZ) {
  const double exact = 2 * std::tgamma(0.75) / std::tgamma(0.25);
  const Averages at = averages(Choice("quartic"), 0.3, 800000, square);
  const double second_order = 0.0044;  // 0.0078 at 0.4, which the slow test sees fall by 4 for each halving
  EXPECT_LT(std::abs(at.end.mean - exact), 4 * at.end.error + second_order) << at.end.mean;
  EXPECT_GT(at.mid.deviation(exact), 5) << at.mid.mean << ": the step's own factor is of another moment";
  EXPECT_GT(at.mid.mean - exact, 4 * at.mid.error + second_order) << "and would be seen";
  EXPECT_GT(at.plain.deviation(exact), 20) << at.plain.mean << ": without weights flat places count too little";
}

TEST(SamAdams, FrozenTempoIsBaoab) {
  Tuning still;
  still.tempo.least = 1 - 1e-16, still.tempo.most = 1;
  Tuned<double> paced(Choice("quartic"), moving("ZBAOABZ", 0.2), still, 2);
  Tuned<double> plain(Choice("quartic"), moving("BAOAB", 0.2), {}, 2);
  paced->step_and_read(), plain->step_and_read();
  EXPECT_NEAR(paced->reading().log_weight, 0, 1e-15);
  EXPECT_NEAR(paced->reading().taken, plain->reading().taken, 1e-15);
}

TEST(SamAdams, PartsShareOneTempo) {
  const auto u = make_toy<double>(Choice("slow_fast"));
  const auto run = [&](const std::string& other) {
    PartSettings fast = moving("ZBAOABZ", 0.1), slow = moving(other, 0.2);
    fast.blocks = {"fast"}, slow.blocks = {"slow"};
    Noise<double> noise;
    Recipe recipe = make_recipe({{"fast", fast}, {"slow", slow}}, {}, u->blocks(), {});
    Chain<double> chain(u->clone(), recipe, Batches({}, 0, 1, 0), noise, 1, 0);
    chain.start(std::vector<double>{0.5, -0.3});
    for (int n = 0; n < 10; ++n) chain.step_and_read();
    EXPECT_NEAR(chain.step_of(1) / chain.step_of(0), 2, 1e-14);
  };
  run("ZBAOABZ");
  EXPECT_THAT(error_of([&] { run(".BAOAB."); }), HasSubstr("stand at other meetings"));
}

TEST(SamAdams, GoesOnBitForBitAndAllocatesNothing) {
  const Choice toy = Choice("funnel");
  Tuned<double> a(toy, moving("samadams", 0.2)), b(toy, moving("samadams", 0.2), {}, 1);
  expect_goes_on_bit_for_bit(a, b, 25);
  Tuned<float> c(toy, moving("samadams", 0.2)), d(toy, moving("samadams", 0.2));
  expect_goes_on_bit_for_bit(c, d, 25);
  const std::size_t before = allocations;
  for (int n = 0; n < 100; ++n) a->step();
  EXPECT_EQ(allocations, before);
}

TEST(SamAdams, ThreadsDoNotChangeTheBytes) {
  const Choice toy("gaussian", {{"dimension", 300000L}});
  Tuned<float> one(toy, moving("samadams", 0.2)), two(toy, moving("samadams", 0.2));
  two->use_threads(2);
  for (int n = 0; n < 4; ++n) one->step(), two->step();
  EXPECT_TRUE(std::ranges::equal(one->q(), two->q()));
}

TEST(SamAdams, MistakesAreNamed) {
  EXPECT_THAT(error_of([] { parse_scheme("ZR{BAB}Z"); }), HasSubstr("Z changes the step on the way"));
  Tuning t;
  t.adapt.step = true, t.warmup = 100;
  EXPECT_THAT(error_of([&] { Tuned<double>(Choice("quartic"), moving("samadams", 0.1), t); }),
              HasSubstr("use [tempo]"));
  Tuning wrong;
  wrong.tempo.most = 0.01;
  EXPECT_THAT(error_of([&] { Tuned<double>(Choice("quartic"), moving("samadams", 0.1), wrong); }),
              HasSubstr("tempo.most must be at least 0.1"));
}

}  // namespace
}  // namespace kelvin
