// SPDX-License-Identifier: Apache-2.0
// Letters T and P: momenta of unit length, their energy error, and what a warm-up finds for them.
#include "tests/allocations.h"
#include "tests/files.h"
#include "tests/paced.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using Vec = std::vector<double>;

const Letter& letter(char symbol) {
  return *std::ranges::find_if(letters(), [&](const Letter& l) { return l.symbol == symbol; });
}

struct Unit {
  Vec q{0, 0, 0}, u{1, 0, 0}, g{0, 2, 0};
  PartConstants constants{.freedom = 3};
  double work = 0;
  Part<double> part(double T = 1, double friction = 1) {
    Part<double> s;
    s.q = q, s.p = u, s.g = g, s.T = T, s.gamma = friction, s.constants = &constants, s.work = &work;
    return s;
  }
};

TEST(Microcanonical, TheTurnHasItsPublishedNumbers) {
  Unit a;
  letter('T').flow(a.part(), 0.5, {});
  EXPECT_NEAR(a.u[0], 0.886819, 1e-6);
  EXPECT_NEAR(a.u[1], -0.462117, 1e-6);
  EXPECT_NEAR(a.u[2], 0, 1e-15);
  EXPECT_NEAR(a.work, 0.240229, 1e-6);
  Unit b;  // E = U/T
  for (double& x : b.g) x *= 0.3;
  letter('T').flow(b.part(0.3), 0.5, {});
  EXPECT_NEAR(b.u[1], a.u[1], 1e-14);
}

TEST(Microcanonical, TheTurnComposesReversesAndKeepsUnitLength) {
  Unit once, twice;
  once.u = twice.u = {0.6, 0, 0.8}, once.g = twice.g = {1, -2, 0.5};
  letter('T').flow(once.part(), 0.8, {});
  for (int k = 0; k < 2; ++k) letter('T').flow(twice.part(), 0.4, {});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(once.u[i], twice.u[i], 1e-14);
  EXPECT_NEAR(once.work, twice.work, 1e-14);
  for (double& x : once.u) x = -x;
  letter('T').flow(once.part(), 0.8, {});
  EXPECT_NEAR(once.u[0], -0.6, 1e-14);
  EXPECT_NEAR(once.u[2], -0.8, 1e-14);
  EXPECT_NEAR(once.work, 0, 1e-14) << "the work comes back";
}

TEST(Microcanonical, StrayingForgetsADirectionAsItsRateSays) {
  constexpr int d = 200, times = 400;
  double product = 0;
  for (int k = 0; k < times; ++k) {
    Unit s;
    s.q.assign(d, 0), s.g.assign(d, 0), s.u.assign(d, 0), s.u[0] = 1, s.constants.freedom = d;
    Vec z(d);
    normals({stream_key(1, "stray"), 0, std::uint64_t(k), 0}, 0, std::span(z));
    letter('P').flow(s.part(1, 0.5), 0.7, z);
    product += s.u[0] / times;
  }
  // u.u' = e^(-friction h) up to 1/d; one value scatters by sqrt((1 - e^-0.7)/d) = 0.05
  EXPECT_NEAR(product, std::exp(-0.35), 4 * 0.05 / std::sqrt(times) + 0.005);
}

Choice isotropic(long d) { return Choice("gaussian", {{"dimension", d}}); }

struct Sampled {
  Estimate square;
  double error = 0;  // mean square energy error of a step, per degree of freedom
};
Sampled sampled(const Choice& toy, const std::string& scheme, double step, int steps) {
  Tuned<double> walker(toy, moving(scheme, step, 0.1), {}, 4);
  const double d = double(walker->q().size());
  for (int n = 0; n < 200; ++n) walker->step();
  std::vector<double> squares;
  double error = 0;
  for (int n = 0; n < steps; ++n) {
    walker->step_and_read();
    double sum = 0;
    for (const double x : walker->q()) sum += x * x;
    squares.push_back(sum / d), error += std::pow(walker->reading().energy_error, 2) / d / steps;
  }
  return {estimate(squares), error};
}

TEST(Microcanonical, SamplesAGaussianWithAnEnergyErrorOfTheThirdOrder) {
  const Sampled fine = sampled(isotropic(100), "mclmc", 1, 40000), coarse = sampled(isotropic(100), "mclmc", 4, 40000);
  EXPECT_LT(std::abs(fine.square.mean - 1), 4 * fine.square.error + 1e-3) << fine.square.mean;  // O(step^2)/d
  EXPECT_NEAR(std::log10(fine.error), std::log10(7.3e-9), 0.1);
  EXPECT_NEAR(std::log2(coarse.error / fine.error), 12, 0.3) << "the sixth power of the step";
}

TEST(Microcanonical, TheSplittingOfLeastErrorHasLessOfIt) {
  const Sampled one = sampled(isotropic(100), "mclmc", 4, 4000), two = sampled(isotropic(100), "mclmc_2", 4, 4000);
  EXPECT_LT(two.error, one.error / 30);  // with three equal shares it is a tenth
  Tuned<double> walker(isotropic(100), moving("mclmc_2", 1, 0.1));
  for (int n = 0; n < 100; ++n) walker->step();
  EXPECT_EQ(walker->evaluations(), 201u);
}

TEST(Microcanonical, WeightsInBracketsAreSharesOfTheStep) {
  const Scheme s = parse_scheme("mclmc_2");
  const Vec shares{0.5, 0.1931833275037836, 0.5, 0.6136333449924328, 0.5, 0.1931833275037836, 0.5};
  ASSERT_EQ(s.moves.size(), shares.size());
  for (std::size_t k = 0; k < shares.size(); ++k) EXPECT_NEAR(s.moves[k].share, shares[k], 1e-15) << k;
  EXPECT_NEAR(parse_scheme("B[2]AB").moves[0].share, 2.0 / 3, 1e-15);
  EXPECT_NEAR(parse_scheme("(B[2]AB)5").moves[2].share, 1.0 / 15, 1e-15);
  EXPECT_THAT(error_of([] { parse_scheme("B[x]AB"); }), HasSubstr("a letter's weight"));
  EXPECT_THAT(error_of([] { parse_scheme("B[2AB"); }), HasSubstr("a letter's weight"));
  EXPECT_THAT(error_of([] { parse_scheme("B[-1]AB"); }), HasSubstr("sum above 0"));
  EXPECT_THAT(error_of([] { parse_scheme("R{B[2]AB}"); }), HasSubstr("read the same backwards"));
}

// A step so long that the string alone is wrong; Metropolis puts it right.
TEST(Microcanonical, MetropolisMakesItExact) {
  const Choice toy = gaussian({1, 1, 1, 1});
  const auto run = [&](const std::string& scheme) {
    return sampled(toy, scheme, scheme == "PTATP" ? 2.2 : 6.6, 200000);
  };
  const Sampled plain = run("PTATP"), exact = run("P{(TAT)3}");
  EXPECT_LT(std::abs(exact.square.deviation(1)), 4) << exact.square.mean;
  EXPECT_GT(std::abs(plain.square.deviation(1)), 20) << plain.square.mean;
}

Tuning warming(std::uint64_t steps, double variance) {
  Tuning t;
  t.adapt.step = t.adapt.friction = true, t.adapt.energy_variance = variance, t.warmup = steps;
  return t;
}

TEST(Microcanonical, TheWarmUpFindsTheStepOfAnEnergyErrorAndALength) {
  Tuned<double> walker(isotropic(100), moving("mclmc", 0.01), warming(4000, 5e-5), 3);
  for (int n = 0; n < 4000; ++n) walker->step();
  const double step = 0.01 * walker->learnt_pace(), length = 1 / walker->learnt_friction();
  // 7.3e-9 step^6 = 5e-5
  EXPECT_NEAR(step, std::pow(5e-5 / 7.3e-9, 1.0 / 6), 0.1 * step);
  EXPECT_GT(length, 2.5) << "of the order of sqrt(d)";
  EXPECT_LT(length, 40);
  for (int n = 0; n < 100; ++n) walker->step();
  EXPECT_EQ(0.01 * walker->learnt_pace(), step) << "frozen";
}

// exp(-v) overflows below v = -745: the first steps leave the numbers.
TEST(Microcanonical, AWarmUpThatBlowsUpStepsBack) {
  Tuned<double> walker(Choice("funnel"), moving("mclmc", 3000), warming(1000, 5e-5));
  for (int n = 0; n < 1000; ++n) walker->step();
  EXPECT_LT(3000 * walker->learnt_pace(), 3);
  Tuned<double> cold(Choice("funnel"), moving("mclmc", 3000));
  EXPECT_THAT(error_of([&] {
                for (int n = 0; n < 100; ++n) cold->step();
              }),
              HasSubstr("try a smaller step"))
      << "without a warm-up that learns it stops";
}

TEST(Microcanonical, GoesOnBitForBitAlsoInAWarmUp) {
  const Choice toy = gaussian({1, 4, 9, 25});
  Tuning t = warming(200, 1e-4);
  t.adapt.metric = "diagonal";
  for (const int steps : {20, 60, 90, 110, 170, 190}) {
    Tuned<double> a(toy, moving("mclmc", 0.1), t), b(toy, moving("mclmc", 0.1), t);
    expect_goes_on_bit_for_bit(a, b, steps);
  }
  Tuned<float> c(toy, moving("mams", 0.3), t = {}), d(toy, moving("mams", 0.3));
  expect_goes_on_bit_for_bit(c, d, 20);
}

TEST(Microcanonical, AStepAllocatesNothingAndThreadsDoNotChangeTheBytes) {
  Tuned<double> small(isotropic(100), moving("mclmc_2", 1, 0.1));
  small->step();
  const std::size_t before = allocations;
  for (int n = 0; n < 100; ++n) small->step();
  EXPECT_EQ(allocations, before);
  Tuned<float> one(isotropic(300000), moving("mclmc", 5, 0.01)), two(isotropic(300000), moving("mclmc", 5, 0.01));
  two->use_threads(2);
  for (int n = 0; n < 3; ++n) one->step(), two->step();
  EXPECT_TRUE(std::ranges::equal(one->q(), two->q()));
}

TEST(Microcanonical, MistakesAreNamed) {
  const auto refusal = [](const Choice& toy, const PartSettings& part) {
    return error_of([&] { Tuned<double>(toy, part); });
  };
  EXPECT_THAT(refusal(Choice("quartic"), moving("mclmc", 1)), HasSubstr("at least 2 parameters"));
  EXPECT_THAT(refusal(gaussian({1, 2}), moving("mclmc", 1, 1, 0)), HasSubstr("temperature above 0"));
  PartSettings heavy = moving("mclmc", 1);
  heavy.mass = number(2);
  EXPECT_THAT(refusal(gaussian({1, 2}), heavy), HasSubstr("mass = 1"));
  EXPECT_THAT(error_of([] { parse_scheme("PTAOATP"); }), HasSubstr("'O' does not go with T and P"));
  EXPECT_THAT(error_of([] { parse_scheme("PTST"); }), HasSubstr("'S' does not go with T and P"));
  BatchSettings batch;
  batch.size.text = "2";
  const auto noisy = make_toy<double>(Choice("noisy"));
  const Noise<double> noise;
  EXPECT_THAT(error_of([&] {
                Chain<double>(noisy->clone(), recipe_for(*noisy, moving("mclmc", 1)),
                              Batches(batch, noisy->rows(), 1, 0), noise, 1, 0);
              }),
              HasSubstr("every row"));
}

}  // namespace
}  // namespace kelvin
