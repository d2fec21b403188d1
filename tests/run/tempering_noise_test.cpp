// SPDX-License-Identifier: Apache-2.0
// Continuous tempering whose baths leave room for the noise of minibatches.
#include <gmock/gmock.h>

#include "tests/files.h"
#include "tests/tempered.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

constexpr double s = 5;  // variance of the noise in an entry of the gradient

std::string shaken(double variance, const std::string& tempering, const std::string& part = "") {
  return fmt::format(
      "warmup = 100000\nsteps = 300000\nmodel.toy = {{ name = \"gaussian\", dimension = 50 }}\n"
      "part.all = {{ step = 0.1, temperature = 1.0, gradient_noise = {}{} }}\n[tempering]\n{}",
      variance, part, tempering);
}

// <q^2> at the target.
Estimate width_of(const std::string& tempering) {
  TemperedWalker<double> w(shaken(s, tempering));
  for (int n = 0; n < 100000; ++n) w.chain->step();
  Target target(1);
  constexpr std::size_t steps = 300000;
  for (std::size_t n = 0; n < steps; ++n) {
    w.chain->step();
    if (n % 5 || !w.at_target()) continue;
    double square = 0;
    for (const double x : w.chain->q().first(50)) square += x * x / 50;
    target.see(n * 50 / steps, {square});
  }
  return target.of(0);
}

// BAOAB with noise of variance s: T + (h^2 s/4) coth(gamma h/2) / (1 - h^2/4), in which T - h s/(2 gamma) leaves
// 0.0008. The pilot knows s from 64 gradients of 50 entries, to 2.5 %: 0.006 of what it takes away.
TEST(TemperingNoise, TheTargetHasItsLawWithTheCorrectionOnly) {
  constexpr double excess = 0.01 * s / 4 / 0.9975;
  const double hot = 1 + excess / std::tanh(0.05);
  for (const char* form : {"potential", "paper"}) {
    const std::string plain = fmt::format("form = \"{}\"\n", form);
    const Estimate right = width_of(plain + "correct = true\n"), wrong = width_of(plain);
    EXPECT_NEAR(right.mean, 1, 4 * right.error + 4 * 0.006) << form << " +- " << right.error;
    EXPECT_NEAR(wrong.mean, hot, 4 * wrong.error + 0.01) << form << " +- " << wrong.error;
    EXPECT_LT(right.error, 0.01);
  }
}

// Noise of U, which alpha alone feels: g' times its own.
class NoisyEnergy final : public ChangedLaw {
 public:
  NoisyEnergy(std::unique_ptr<Law<double>> inner, double deviation)
      : ChangedLaw(std::move(inner)), deviation_(deviation) {}
  double operator()(double U, std::span<const double> q, std::span<double> g) override {
    const double W = (*law)(U, q, g);
    std::vector<double> z(1);
    normals({stream_key(9, "energy"), 0, count_++, 0}, 0, std::span(z));
    g.back() += Ramp(TemperingSettings()).slope(q.back()) * deviation_ * z[0];
    return W;
  }
  std::unique_ptr<Law<double>> clone() const override { return std::make_unique<NoisyEnergy>(*this); }

 private:
  double deviation_;
  std::uint64_t count_ = 0;
};

// p^2 / m T of alpha, where g' is large.
Estimate heat_of_alpha(bool correct) {
  static constexpr double deviation = 3;
  TemperedWalker<double> w(
      gaussian_of(1) + fmt::format("[tempering]\nform = \"potential\"\nbias = \"none\"\nmass = 1.0\nfriction = 1.0\n"
                                   "pilot = 0\nnoise = {}\ngradient_noise = [0.0]\ncorrect = {}\n",
                                   deviation, correct),
      [](auto inner) { return std::make_unique<NoisyEnergy>(std::move(inner), deviation); });
  std::vector<double> heat;
  for (int n = 0; n < 400000; ++n) {
    w.chain->step();
    const double p = w.chain->p()[1];
    if (std::abs(w.alpha()) > 0.7 && std::abs(w.alpha()) < 1.2) heat.push_back(p * p);
  }
  return estimate(heat);
}

TEST(TemperingNoise, AlphaHasItsTemperatureWithTheCorrectionOnly) {
  const Estimate right = heat_of_alpha(true), wrong = heat_of_alpha(false);
  EXPECT_NEAR(right.mean, 1, 4 * right.error + 0.02) << "+- " << right.error;  // 0.02: the step, and what drifts in
  EXPECT_GT(wrong.mean, 1.2 + 4 * wrong.error) << "+- " << wrong.error;
}

// All along the ramp: the forces of the potential form are turned down with their noise, those of the paper form are
// not.
TEST(TemperingNoise, BathsHaveTheTemperatureOfTheFormula) {
  for (const char* form : {"potential", "paper"}) {
    TemperedWalker<double> w(gaussian_of(1) +
                             fmt::format("[tempering]\nform = \"{}\"\nbias = \"none\"\nmass = 2.0\nfriction = 0.5\n"
                                         "pilot = 0\nnoise = 1.5\ngradient_noise = [5.0]\ncorrect = true\n",
                                         form));
    const Ramp ramp(w.problem.settings.tempering);
    const bool heats = w.problem.recipe.heats;
    double least = 1;
    for (int n = 0; n < 2000; ++n) {
      const double before = w.alpha();
      w.chain->step();
      // known since the last meeting, or since the step began
      const double g = ramp.value(heats ? w.alpha() : before), falls = ramp.slope(before);
      ASSERT_NEAR(w.chain->part(0).T, heats ? 1 / g - 0.1 * s / 2 : 1 - 0.1 * g * g * s / 2, 1e-12) << form;
      ASSERT_NEAR(w.chain->part(1).T, 1 - 0.1 * std::pow(falls * 1.5, 2) / (2 * 0.5 * 2), 1e-12) << form;
      least = std::min(least, g);
    }
    EXPECT_LT(least, 0.2) << form;
  }
}

TEST(TemperingNoise, WhatLeavesNoRoomIsSaidAndWhatCannotWorkRefused) {
  const auto said = [](const std::string& toml) {
    TemperedWalker<double> w(toml);
    return testing::PrintToString(w.said);
  };
  const std::string on = "form = \"potential\"\ncorrect = true\n";
  EXPECT_THAT(said(shaken(30, on)), HasSubstr("stays too hot"));
  EXPECT_THAT(said(shaken(5, on)), testing::Not(HasSubstr("too hot")));
  const auto refusal = [&](const std::string& toml) { return error_of([&] { TemperedWalker<double>{toml}; }); };
  EXPECT_THAT(refusal(shaken(5, on + "pilot = 0\n")), HasSubstr("needs the pilot"));
  EXPECT_THAT(refusal(shaken(5, on, ", friction = 0.0")), HasSubstr("friction above 0"));
  EXPECT_THAT(refusal(shaken(5, on + "scheme = \"BAOAB\"\n", ", scheme = \"BARAB\"")), HasSubstr("as letter O"));
}

}  // namespace
}  // namespace kelvin
