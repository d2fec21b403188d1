// SPDX-License-Identifier: Apache-2.0
// Averages of SamAdams and MCLMC that take millions of steps: orders, a funnel, a banana, the bias of single
// directions.
#include "tests/paced.h"

namespace kelvin {
namespace {

// <x^2> on U = x^4/4 by weights of the end of the step and of the step itself.
struct Quartic {
  Estimate end, mid;
};
Quartic quartic(double step, int steps) {
  Tuning tuning;
  tuning.tempo.most = 5;
  Tuned<double> walker(Choice("quartic"), moving("samadams", step), tuning, 11);
  std::vector<double> end, mid, square;
  for (int n = 0; n < steps; ++n) {
    walker->step_and_read();
    end.push_back(std::exp(walker->reading().log_weight)), mid.push_back(walker->reading().taken);
    square.push_back(std::pow(walker->q()[0], 2));
  }
  return {weighted(end, square), weighted(mid, square)};
}

TEST(SamAdamsSlow, TheWeightAfterTheLastZIsOfSecondOrderAndThatOfTheStepOfFirst) {
  const double exact = 2 * std::tgamma(0.75) / std::tgamma(0.25);
  constexpr int steps = 12000000;
  const Quartic coarse = quartic(0.6, steps), fine = quartic(0.3, 2 * steps);
  const auto ratio = [&](const Estimate& a, const Estimate& b) {
    const double top = a.mean - exact, bottom = b.mean - exact;
    const double error = std::abs(top / bottom) * std::hypot(a.error / top, b.error / bottom);
    return Estimate{top / bottom, error};
  };
  const Estimate end = ratio(coarse.end, fine.end), mid = ratio(coarse.mid, fine.mid);
  RecordProperty("end", std::to_string(end.mean) + " " + std::to_string(end.error));
  RecordProperty("mid", std::to_string(mid.mean) + " " + std::to_string(mid.error));
  EXPECT_LT(end.error, 0.5) << "or nothing is known";
  EXPECT_LT(std::abs(end.deviation(4)), 4) << end.mean << " +- " << end.error;
  EXPECT_LT(std::abs(mid.mean - 2), 4 * mid.error + 0.4) << mid.mean << " +- " << mid.error;
  EXPECT_LT(mid.mean + 4 * mid.error, 4) << "the first order is not mistaken for the second";
}

// A step that suits the wide part of the funnel is too long for its neck, unless it shrinks there.
TEST(SamAdamsSlow, SamplesAFunnelWhereOneStepDoesNot) {
  constexpr int steps = 6000000;
  Tuning tuning;
  tuning.tempo.most = 5;
  Tuned<double> paced(Choice("funnel"), moving("samadams", 0.2), tuning, 2);
  std::vector<double> w, v, vv, yy;
  for (int n = 0; n < steps; ++n) {
    paced->step_and_read();
    const auto q = paced->q();
    w.push_back(std::exp(paced->reading().log_weight));
    v.push_back(q[0]), vv.push_back(q[0] * q[0]), yy.push_back(q[1] * q[1] * std::exp(-q[0]));
  }
  const double bias = 0.01;  // of second order in a step of 0.1 on average
  EXPECT_LT(std::abs(weighted(w, v).mean), 4 * weighted(w, v).error + bias);
  EXPECT_LT(std::abs(weighted(w, vv).mean - 2.25), 4 * weighted(w, vv).error + 2.25 * bias) << weighted(w, vv).mean;
  EXPECT_LT(std::abs(weighted(w, yy).mean - 1), 4 * weighted(w, yy).error + bias) << weighted(w, yy).mean;

  Tuned<double> fixed(Choice("funnel"), moving("BAOAB", 0.2), {}, 2);
  std::vector<double> square;
  for (int n = 0; n < steps / 4; ++n) fixed->step(), square.push_back(std::pow(fixed->q()[0], 2));
  EXPECT_GT(estimate(square).mean, 2.6) << "the same step without a tempo";
}

Tuning warming(std::uint64_t steps, double variance) {
  Tuning t;
  t.adapt.step = t.adapt.friction = true, t.adapt.energy_variance = variance, t.warmup = steps;
  return t;
}

TEST(MicrocanonicalSlow, SamplesABanana) {
  Tuned<double> walker(Choice("banana"), moving("mclmc", 0.1), warming(20000, 2e-5), 5);
  for (int n = 0; n < 20000; ++n) walker->step();
  std::vector<double> xx, y, yy, U;
  for (int n = 0; n < 6000000; ++n) {
    walker->step_and_read();
    const double a = walker->q()[0], b = walker->q()[1];
    xx.push_back(a * a), y.push_back(b), yy.push_back(b * b), U.push_back(walker->reading().energy);
  }
  const auto expect = [](const std::vector<double>& x, double exact, double width) {
    const Estimate e = estimate(x);
    const double bias = 0.01 * width;  // of the energy error that was asked for
    EXPECT_LT(std::abs(e.mean - exact), 4 * e.error + bias) << e.mean << " +- " << e.error;
    EXPECT_LT(4 * e.error + bias, 0.1 * width) << "or nothing is known";
  };
  expect(xx, 100, 100), expect(y, 0, std::sqrt(19)), expect(yy, 19, 19), expect(U, 1, 1);
}

// The energy error is a mean over directions: the stiffest of them may be off by more, and less with a smaller target.
TEST(MicrocanonicalSlow, TheStiffestDirectionIsBiasedMostAndMetropolisTakesItAway) {
  std::vector<double> stiffness;
  for (int i = 0; i < 100; ++i) stiffness.push_back(std::pow(100, i / 99.0));
  const auto stiffest = [&](const std::string& scheme, double variance, int steps = 200000) {
    Tuning tuning = warming(4000, variance);
    tuning.adapt.friction = !parse_scheme(scheme).proposes;
    Tuned<double> walker(gaussian(stiffness), moving(scheme, 0.1, tuning.adapt.friction ? 1 : INFINITY), tuning, 3);
    for (int n = 0; n < 4000; ++n) walker->step();
    std::vector<double> last;
    for (int n = 0; n < steps; ++n) walker->step(), last.push_back(100 * std::pow(walker->q()[99], 2));
    return estimate(last);
  };
  const Estimate loose = stiffest("mclmc", 5e-4), tight = stiffest("mclmc", 5e-5), two = stiffest("mclmc_2", 5e-4);
  EXPECT_GT(loose.deviation(1), 4) << loose.mean;
  EXPECT_LT(two.deviation(1), -4) << two.mean;
  EXPECT_LT(std::abs(tight.mean - 1), std::abs(loose.mean - 1)) << tight.mean;
  EXPECT_LT(std::abs(stiffest("mams", 5e-4, 30000).deviation(1)), 4);
  RecordProperty("bias_one_gradient", std::to_string(loose.mean - 1));
  RecordProperty("bias_two_gradients", std::to_string(two.mean - 1));
  RecordProperty("bias_tight", std::to_string(tight.mean - 1));
}

}  // namespace
}  // namespace kelvin
