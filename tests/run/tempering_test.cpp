// SPDX-License-Identifier: Apache-2.0
// Continuous tempering: the ramp, the gradient, the words beside their formulas, restarts, and what is refused.
#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "kelvin/io/problem.h"
#include "tests/allocations.h"
#include "tests/files.h"
#include "tests/tempered.h"

namespace kelvin {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr const char* fixed = "[tempering]\nmass = 1.0\nfriction = 1.0\npilot = 0\n";

TEST(Tempering, TheRampHasTheNumbersOfItsFormulas) {
  TemperingSettings s;
  const Ramp smooth(s);
  EXPECT_NEAR(smooth.steepest(), 1.5 * 0.85 / 1.1, 1e-5);
  EXPECT_NEAR(smooth.steepest_logarithm(), 3.1180, 1e-4);
  EXPECT_NEAR(smooth.resistance(), 4.287238, 1e-5);
  s.shape = "geometric";
  const Ramp geometric(s);
  EXPECT_NEAR(geometric.resistance(), std::pow(std::log(0.15), 2) / 1.1, 1e-9);
  for (const Ramp& ramp : {smooth, geometric})
    for (const double alpha : {-2.0, -1.3, -0.5, 0.0, 0.2, 0.45, 1.0, 1.4, 1.6}) {
      const double eps = 1e-5;
      EXPECT_NEAR(ramp.slope(alpha), (ramp.value(alpha + eps) - ramp.value(alpha - eps)) / (2 * eps), 1e-8) << alpha;
      EXPECT_EQ(ramp.value(alpha), ramp.value(-alpha));
      if (std::abs(alpha) <= 0.4) {
        EXPECT_EQ(ramp.value(alpha), 1);
      }
      if (std::abs(alpha) >= 1.5) {
        EXPECT_NEAR(ramp.value(alpha), 0.15, 1e-15);
      }
    }
}

// A bias that has learnt something, so that nothing is zero by accident.
Energy<double> taught(const std::string& bias, const std::string& shape) {
  TemperingSettings s;
  s.form = "potential", s.shape = shape, s.bias = Choice(bias), s.wall = Choice("force");
  s.reference = 0.3, s.capacity = 2;
  Choice toy("double_well");
  Energy<double> U(make_toy<double>(toy));
  U.law = std::make_unique<Tempered<double>>(s, 0.5);
  U.arrange(U.blocks());
  U.law->tempered()->learn(true);
  std::vector<double> g(2);
  for (int n = 0; n < 5000; ++n) U(std::vector<double>{std::sin(0.7 * n), 1.5 * std::sin(n)}, {}, g);
  U.law->tempered()->learn(false);
  return U;
}

TEST(Tempering, TheGradientIsThatOfTheEnergyWithEveryBiasAndShape) {
  for (const TemperingBias& bias : tempering_biases())
    for (const TemperingShape& shape : tempering_shapes()) {
      Energy<double> U = taught(std::string(bias.name), std::string(shape.name));
      std::vector<double> g(2), unused(2);
      for (double alpha = -1.613; alpha < 1.7; alpha += 0.1) {  // not at the nodes, where hills have a kink
        const std::vector<double> q = {0.8, alpha};
        U(q, {}, g);
        for (std::size_t i = 0; i < 2; ++i) {
          constexpr double eps = 1e-6;
          std::vector<double> up = q, down = q;
          up[i] += eps, down[i] -= eps;
          const double slope = (U(up, {}, unused) - U(down, {}, unused)) / (2 * eps);
          EXPECT_NEAR(g[i], slope, 1e-7 * (1 + std::abs(slope)))
              << bias.name << " " << shape.name << " " << alpha << " " << i;
        }
      }
    }
}

// A Gaussian with <U> = V/g, seen only where g is near 1: the pilot's capacity, a tenth too large, would be a wall of
// some 40 T further on, at the other end of the ramp. What is left there of the mean force is the fit's error.
TEST(Tempering, WhatTheBiasHasSeenCorrectsItsGuessOfWhatItHasNot) {
  constexpr double V = 500;
  TemperingSettings s;
  s.reference = V, s.capacity = 1.1 * V;
  const BiasGround ground = ground_of(s, 1);
  const TemperingBias& bias = bias_of(s);
  std::vector<double> learnt = bias.start(ground);
  const auto wall = [&] {  // integral of the mean force, from the target to the other end
    double sum = 0;
    for (double a = 0.4005; a < 1.5; a += 0.001)
      sum += 0.001 * (ground.ramp.slope(a) * V / ground.ramp.value(a) + bias.slope(ground, learnt, a));
    return sum;
  };
  const double before = wall();
  EXPECT_GT(before, 40);
  for (int n = 0; n < 20000; ++n) {
    const double alpha = 0.6 + 0.2 * std::sin(n);
    bias.learn(ground, learnt, alpha, V / ground.ramp.value(alpha));
  }
  EXPECT_LT(std::abs(wall()), before / 10);
}

TEST(Tempering, OnlyDrawsAtTheTargetCount) {
  const auto U = taught("none", "smooth");
  ASSERT_TRUE(U.law);
  EXPECT_EQ(U.log_weight(std::vector<double>{3, 0.39}), 0);
  EXPECT_EQ(U.log_weight(std::vector<double>{3, -0.39}), 0);
  EXPECT_EQ(U.log_weight(std::vector<double>{3, 0.41}), -HUGE_VAL);
}

// ---- words beside their formulas: tau = 0.5, alpha has temperature 1 and mass 1

constexpr double tau = 0.5, h = 0.1;

double normal(const std::string& stream, std::uint64_t n, std::uint16_t place) {
  std::vector<double> z(1);
  normals({stream_key(1, stream), 0, n, place}, 0, std::span(z));
  return z[0];
}

struct Formula {
  double x = 0, r = std::sqrt(tau) * normal("start all", 0, 0), a = 0, ra = normal("start tempering", 0, 0);
  std::uint64_t n = 0;
  Ramp ramp{TemperingSettings()};
  double U() const { return 3 * std::pow(x * x - 1, 2) + x / 4; }
  double slope() const { return 12 * x * (x * x - 1) + 0.25; }
  void A(double t) {
    x += t * r, a += t * ra;
    while (std::abs(a) > 1.5) a = std::copysign(3.0, a) - a, ra = -ra;
  }
  void O(double temperature, std::uint16_t place) {
    const double keep = std::exp(-h), spread = std::sqrt(1 - keep * keep);
    r = keep * r + std::sqrt(temperature) * spread * normal("part all", n, place);
    ra = keep * ra + spread * normal("part tempering", n, place);
  }
  void potential() {
    const auto B = [&] { r -= h / 2 * ramp.value(a) * slope(), ra -= h / 2 * ramp.slope(a) * U() / tau; };
    B(), A(h / 2), O(tau, 2), A(h / 2), B(), ++n;
  }
  void paper() {
    const auto B = [&] { r -= h / 2 * slope(); };
    const auto K = [&] { ra -= h / 2 * ramp.slope(a) * (U() + r * r / 2) / tau; };
    B(), K(), A(h / 2), O(tau / ramp.value(a), 4), A(h / 2), K(), B(), ++n;
  }
  void euler() {
    x += h * r;
    r = (1 - h) * r - h * slope() + std::sqrt(2 * h * tau / ramp.value(a)) * normal("part all", n, 1);
    a += h * ra;
    while (std::abs(a) > 1.5) a = std::copysign(3.0, a) - a, ra = -ra;
    ra = (1 - h) * ra - h * ramp.slope(a) * (U() + r * r / 2) / tau + std::sqrt(2 * h) * normal("part tempering", n, 2);
    ++n;
  }
};

TEST(Tempering, WordsAreTheFormulasOfTheirForms) {
  const std::pair<const char*, void (Formula::*)()> forms[] = {
      {"potential", &Formula::potential}, {"paper", &Formula::paper}, {"euler", &Formula::euler}};
  for (const auto& [name, step] : forms) {
    TemperedWalker<double> w(well + fixed + "bias = \"none\"\nform = \"" + name + "\"\n");
    Formula f;
    double furthest = 0;
    for (int n = 0; n < 200; ++n) {
      w.chain->step();
      (f.*step)();
      furthest = std::max(furthest, std::abs(f.a));
      // rounding grows as fast as the well's chaos lets it
      ASSERT_NEAR(w.chain->q()[0], f.x, 1e-9) << name << " " << n;
      ASSERT_NEAR(w.alpha(), f.a, 1e-9) << name << " " << n;
    }
    EXPECT_GT(furthest, 1.4) << "the ramp was tried";
    EXPECT_LE(w.chain->evaluations(), 201u) << "one gradient a step";
  }
}

// ---- states

const std::string learning =
    "warmup = 1000\nsteps = 1000\nmodel = { toy = { name = \"noisy\", dimension = 3, rows = 50 } }\nbatch = 1\n"
    "part.all = { step = 0.1, temperature = 0.5 }\n";

template <class Real>
void expect_same_bytes(const std::string& toml) {
  TemperedWalker<Real> first(toml), second(toml), read(toml);
  for (int n = 0; n < 500; ++n) first.chain->step(), read.chain->step_and_read();
  auto state = first.chain->state();
  second.chain->restore(state);
  for (int n = 0; n < 800; ++n) first.chain->step(), second.chain->step(), read.chain->step_and_read();
  for (auto* other : {&second, &read}) {
    EXPECT_THAT(other->chain->q(), ElementsAreArray(first.chain->q())) << toml;
    EXPECT_THAT(other->chain->p(), ElementsAreArray(first.chain->p())) << toml;
    EXPECT_THAT(other->chain->learnt_bias(), ElementsAreArray(first.chain->learnt_bias())) << toml;
  }
}

TEST(Tempering, AStateInTheMidstOfLearningGoesOnBitForBitAndReadingDisturbsNothing) {
  for (const TemperingForm& form : tempering_forms())
    for (const TemperingBias& bias : tempering_biases()) {
      const std::string toml =
          learning + fmt::format("[tempering]\nform = \"{}\"\nbias = \"{}\"\npilot = 200\n", form.name, bias.name);
      expect_same_bytes<double>(toml);
      expect_same_bytes<float>(toml);
      expect_same_bytes<double>(toml + "correct = true\n");
    }
}

TEST(Tempering, TheBiasLearnsUntilTheWarmUpEnds) {
  TemperedWalker<double> w(learning + "tempering = \"potential\"\n");
  const auto learnt = [&] { return std::vector<double>(w.chain->learnt_bias().begin(), w.chain->learnt_bias().end()); };
  for (int n = 0; n < 999; ++n) w.chain->step();
  const auto before = learnt();
  w.chain->step();
  const auto at_end = learnt();
  for (int n = 0; n < 1000; ++n) w.chain->step();
  EXPECT_EQ(learnt(), at_end);
  TemperedWalker<double> other(learning + "tempering = \"potential\"\n");
  EXPECT_NE(at_end, std::vector<double>(other.chain->learnt_bias().begin(), other.chain->learnt_bias().end()));
}

TEST(Tempering, StepsAllocateNothing) {
  for (const TemperingForm& form : tempering_forms()) {
    TemperedWalker<double> w(learning + fmt::format("tempering = \"{}\"\n", form.name));
    for (int n = 0; n < 10; ++n) w.chain->step();
    const std::size_t before = allocations;
    for (int n = 0; n < 1500; ++n) w.chain->step();
    EXPECT_EQ(allocations, before) << form.name;
  }
}

// ---- settings

TEST(Tempering, ThePilotMeasuresAGaussian) {
  // V = N/2 and the energy forgets itself in 1/2 + sum of corr = (1/2gamma + gamma/2)/h = 10 steps. With 2e4 steps of
  // N = 50: a variance is known to about sqrt(2 * 2 * 10 / 2e4) = 4.5 %; times 3.
  TemperedWalker<double> w("steps = 1000\nwarmup = 1000\n" + gaussian_of(50) + "[tempering]\npilot = 40000\n");
  const TemperingSettings& s = w.problem.settings.tempering;
  EXPECT_NEAR(s.capacity, 25, 25 * 0.14);
  EXPECT_NEAR(s.correlation, 10, 3);
  EXPECT_NEAR(s.reference, 25, 1);
  EXPECT_EQ(s.noise, 0);
  const TemperingPace pace = tempering_pace(s, 1, 0.1);
  EXPECT_DOUBLE_EQ(pace.friction, 0.2);
  EXPECT_DOUBLE_EQ(pace.mass,
                   0.01 * std::max(std::pow(50 / 1.1, 2), 11 * std::pow(Ramp(s).steepest_logarithm(), 2) * s.capacity));
  ASSERT_EQ(w.said.size(), 2u);
  EXPECT_THAT(w.said[0], HasSubstr("round trip"));
  EXPECT_THAT(w.said[1], HasSubstr("smaller strength")) << "hopeless: the remedies are named";
  EXPECT_EQ(tempering_pace(w.problem.settings.tempering, 1, 0.1).mass, w.problem.recipe.parts.back().mass.at(0))
      << "in units of T = 1";
}

TEST(Tempering, ThePilotSeesTheNoiseThatMinibatchesLeaveInU) {
  const auto noise = [](int rows) {
    TemperedWalker<double> w(fmt::format(
        "steps = 1\nwarmup = 1\nprecision = \"double\"\ndata = {{ generator = {{ name = \"spiral\", rows = 200 }} }}\n"
        "model = {{ layers = [2, 8, 1], loss = \"binary_cross_entropy\", prior = 1.0 }}\n"
        "batch = {{ size = {}, order = \"with_replacement\" }}\npart.all.step = 1e-6\ntempering = {{ pilot = 4 }}\n",
        rows));
    return w.problem.settings.tempering.noise;
  };
  // at (nearly) the same q, from 64 batches each: a ratio known to 12.5 %; times 4
  EXPECT_NEAR(noise(1) / noise(4), 2, 1);
}

TEST(Tempering, AlphaRestsAtZeroInPhasesOfTemperatureZero) {
  for (const char* form : {"potential", "paper"}) {
    TemperedWalker<double> w(
        std::string("warmup = 100\nmodel = { toy = { name = \"double_well\" } }\n"
                    "[[phase]]\nsteps = 300\npart.all = { step = 0.1, temperature = 0.5 }\n"
                    "[[phase]]\nsteps = 2000\npart.all = { scheme = \"OBA\", step = 0.1, temperature = 0.0 }\n") +
        fixed + "form = \"" + form + "\"\n");
    for (int n = 0; n < 300; ++n) w.chain->step();
    EXPECT_NE(w.alpha(), 0);
    for (int n = 0; n < 2000; ++n) {
      w.chain->step_and_read();
      ASSERT_EQ(w.alpha(), 0);
      ASSERT_EQ(w.chain->reading().log_weight, 0);
    }
    const double x = w.chain->q()[0];
    EXPECT_NEAR(12 * x * (x * x - 1) + 0.25, 0, 1e-6) << "plain descent: grad U = 0";
    EXPECT_NEAR(w.chain->reading().energy, 3 * std::pow(x * x - 1, 2) + x / 4, 1e-9) << "U, without the bias";
  }
}

TEST(Tempering, ThePriorIsLeftAloneWhereTheLikelihoodIsTempered) {
  const std::string network =
      "precision = \"double\"\ndata = { generator = { name = \"spiral\", rows = 40 } }\n"
      "model = { layers = [2, 3, 1], loss = \"binary_cross_entropy\", prior = 1.0 }\n";
  const auto plain = make_problem<double>(read_run_settings(parse_toml(network, "test")), [](std::string_view) {});
  const auto tempered = make_problem<double>(
      read_run_settings(parse_toml(network + fixed + "of = \"likelihood\"\n", "test")), [](std::string_view) {});
  std::vector<double> q = tempered.starting_point(0, {}), g(q.size()), loss_g(q.size()), all_g(q.size());
  ASSERT_EQ(q.size(), plain.recipe.size + 1) << "alpha is the last";
  q.back() = 1.0;
  const double down = Ramp(tempered.settings.tempering).value(1.0);
  const std::vector<double> own(q.begin(), q.end() - 1);
  Energy<double> tempered_energy = *tempered.energy, plain_energy = *plain.energy;
  Energy<double> likelihood(plain.train->likelihood().copy());
  likelihood.arrange(plain.recipe.blocks);
  const double W = tempered_energy(q, {}, g), U = plain_energy(own, {}, std::span(all_g).first(own.size()));
  const double loss = likelihood(own, {}, std::span(loss_g).first(own.size()));
  EXPECT_NEAR(W, U - loss + down * loss, 1e-12);
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(g[i], all_g[i] - (1 - down) * loss_g[i], 1e-12);
  EXPECT_NEAR(g.back(), Ramp(tempered.settings.tempering).slope(1.0) * loss, 1e-12);
}

TEST(Tempering, ThoseWhoLookAtARunMeetNoAlpha) {
  const auto settings = read_run_settings(parse_toml(well + fixed, "test"));
  const auto problem = make_problem<double>(
      settings, [](std::string_view) {}, Slack::left_out);
  EXPECT_EQ(problem.recipe.size, 1u);
  EXPECT_FALSE(problem.energy->law);
  EXPECT_EQ(problem.starting_point(0, {}).size(), 1u);
}

TEST(Tempering, WhatCannotWorkIsRefusedInOneSentence) {
  const auto refusal = [](const std::string& more, const std::string& base = well) {
    return error_of([&] { TemperedWalker<double>(base + more); });
  };
  const std::string on = "[tempering]\npilot = 0\n";
  EXPECT_THAT(refusal("tempering = \"potentail\"\n"), HasSubstr("did you mean \"potential\""));
  EXPECT_THAT(refusal(on + "strenght = 0.5\n"), HasSubstr("strength"));
  EXPECT_THAT(refusal(on + "strength = 1.0\n"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(refusal(on + "delta = 2.0\n"), HasSubstr("the second above the first"));
  EXPECT_THAT(refusal(on + "bias = \"hills\"\n"), HasSubstr("known: none, mean_force"));
  EXPECT_THAT(refusal(on + "bias = { name = \"mean_force\", bin = 1.0 }\n"), HasSubstr("bin must"));
  EXPECT_THAT(refusal(on + "bias = { name = \"metadynamics\", height = 0.0 }\n"), HasSubstr("above 0"));
  EXPECT_THAT(refusal(on + "wall = { name = \"force\", strength = -1.0 }\n"), HasSubstr("above 0"));
  EXPECT_THAT(refusal(on + "of = \"likelihood\"\n"), HasSubstr("needs a network"));
  EXPECT_THAT(refusal(on + "[adapt]\nstep = true\n"), HasSubstr("adapt.step"));
  EXPECT_THAT(refusal(on + "mass = -1.0\n"), HasSubstr("at least 0"));
  EXPECT_THAT(refusal(on + "scheme = \"BAB\"\n"), HasSubstr("lacks a drift or a bath"));
  const auto moving_by = [](const std::string& part) {
    return "model = { toy = { name = \"double_well\" } }\npart.all = { step = 0.1, " + part + " }\n";
  };
  EXPECT_THAT(refusal(on, moving_by("temperature = 0.0")), HasSubstr("above 0"));
  EXPECT_THAT(refusal(on, moving_by("temperature = { name = \"linear\", from = 1.0, to = 0.5 }")),
              HasSubstr("one constant temperature"));
  EXPECT_THAT(refusal(on, moving_by("temperature = 0.5, scheme = \"RN\"")),
              HasSubstr("[tempering] does not go with scheme \"RN\""));
  EXPECT_THAT(refusal(on, moving_by("temperature = 0.5, scheme = \"S\"")), HasSubstr("lacks a drift"));
  EXPECT_THAT(refusal(on + "form = \"paper\"\n", moving_by("temperature = 0.5, scheme = \"OBABO\"")),
              HasSubstr("words of its own"));
  EXPECT_THAT(refusal("", moving_by("temperature = 0.5, scheme = \"BKAOAB\"")), HasSubstr("tempering variable"));
  EXPECT_EQ(refusal(on + "wall = { name = \"force\", strength = 2.0 }\n"), "");
  EXPECT_EQ(refusal(on, moving_by("temperature = 0.5, scheme = \"R{(BAB)5}\"")), "");
}

}  // namespace
}  // namespace kelvin
