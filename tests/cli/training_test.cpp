// SPDX-License-Identifier: Apache-2.0
// What training needs around the letters: phases, patience, masks.
#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "kelvin/energy/mask.h"
#include "kelvin/energy/penalty.h"
#include "kelvin/energy/prior.h"
#include "kelvin/io/problem.h"
#include "kelvin/run/patience.h"
#include "kelvin/run/problem.h"
#include "kelvin/trajectory/samples.h"
#include "tests/coupled.h"
#include "tests/files.h"
#include "tests/json.h"
#include "tests/program.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using Vec = std::vector<double>;

RunSettings settings_of(const std::string& toml) { return read_run_settings(parse_toml(toml, "test")); }

// ---- phases

const std::string two_phases = R"(
model.toy = { name = "gaussian", stiffness = 2.0, dimension = 1 }
[part.all]
step = 0.3
temperature = 0
[[phase]]
steps = 3
part.all.scheme = "BAB"
[[phase]]
steps = 4
part.all = { scheme = "S", step = 0.1 }
[[phase]]
steps = 5
part.all.scheme = "adam"
)";

struct Phased {
  Problem<double> problem;
  Noise<double> noise;
  Chain<double> chain;
  explicit Phased(const std::string& toml)
      : problem(make_problem<double>(settings_of(toml), [](std::string_view) {})), chain(problem.chain(0, noise)) {}
};

TEST(Phases, EachMovesInItsOwnWayFromWhereTheLastEnded) {
  Phased run(two_phases);
  EXPECT_EQ(run.problem.settings.steps, 12);
  run.chain.start(Vec{1});
  double q = 1, p = 0;
  const double h = 0.3;
  for (int n = 0; n < 3; ++n) {
    run.chain.step();
    p -= h / 2 * 2 * q, q += h * p, p -= h / 2 * 2 * q;
    EXPECT_NEAR(run.chain.q()[0], q, 1e-15);
  }
  for (int n = 0; n < 4; ++n) {
    run.chain.step();
    q -= 0.1 * 2 * q;
    EXPECT_NEAR(run.chain.q()[0], q, 1e-15);
  }
  double m = 0, v = 0;
  for (int n = 1; n <= 7; ++n) {  // the last phase goes on for as long as there are steps
    run.chain.step();
    m = 0.9 * m + 0.1 * 2 * q, v = 0.999 * v + 0.001 * 4 * q * q;
    q -= 0.3 * (m / (1 - std::pow(0.9, n))) / (std::sqrt(v / (1 - std::pow(0.999, n))) + 1e-8);
    EXPECT_NEAR(run.chain.q()[0], q, 1e-13);
  }
}

TEST(Phases, MomentaLastWhereTheyMeanSomething) {
  const std::string text = R"(
model.toy = { name = "gaussian", stiffness = 2.0, dimension = 1 }
[part.all]
step = 0.3
temperature = 0
[[phase]]
steps = 3
part.all.scheme = "BAB"
[[phase]]
steps = 4
part.all.scheme = "BAB"
)";
  Phased run(text);
  Walker<double> plain(gaussian({2}), moving("BAB", 0.3, 1, 0));
  run.chain.start(Vec{1}), plain.chain.place(Vec{1}, Vec{0});
  for (int n = 0; n < 7; ++n) run.chain.step(), plain.chain.step();
  EXPECT_EQ(run.chain.q()[0], plain.chain.q()[0]) << "a phase that changes nothing changes nothing";
}

TEST(Phases, AfterKicksByPiecesUIsWholeAgain) {
  Phased run(R"(
model.toy = { name = "two_scales", slow = 1.0, fast = 9.0 }
[part.all]
step = 0.1
temperature = 0
[[phase]]
steps = 2
part.all.scheme = "B1B2AB2B1"
[[phase]]
steps = 2
part.all.scheme = "BAB"
)");
  run.chain.start(Vec{1});
  run.chain.step(), run.chain.step();
  for (int n = 0; n < 2; ++n) {
    run.chain.step_and_read();
    EXPECT_DOUBLE_EQ(run.chain.reading().energy, 5 * run.chain.q()[0] * run.chain.q()[0]) << n;
  }
}

TEST(Phases, GoOnBitForBitFromAnyStep) {
  for (int stop = 0; stop <= 12; ++stop) {
    Phased whole(two_phases), first(two_phases), second(two_phases);
    whole.chain.start(Vec{1}), first.chain.start(Vec{1});
    for (int n = 0; n < 12; ++n) whole.chain.step();
    for (int n = 0; n < stop; ++n) first.chain.step_and_read();
    second.chain.restore(first.chain.state());
    for (int n = stop; n < 12; ++n) second.chain.step();
    EXPECT_EQ(whole.chain.q()[0], second.chain.q()[0]) << stop;
    EXPECT_LE(second.chain.evaluations(), whole.chain.evaluations() + 1) << stop;
  }
}

TEST(Phases, TheRecordReadsAsTheSameSettings) {
  const RunSettings s = settings_of(two_phases);
  const Value record = as_value(s);
  EXPECT_EQ(as_value(read_run_settings(recorded_settings(record))), record);
}

TEST(Phases, APresetMayHaveItsOwnPhase) {
  const RunSettings s = settings_of(R"(
model.layers = [2, 5, 1]
[[phase]]
steps = 25
preset = { name = "dhsgd", step = 0.2 }
[[phase]]
steps = 75
preset = { name = "sgd", step = 0.1 }
)");
  EXPECT_EQ(s.steps, 100);
  EXPECT_EQ(s.phase[0].part.at("output").scheme, "BARAB");
  EXPECT_EQ(s.phase[1].part.at("output").scheme, "S");
  EXPECT_EQ(s.phase[1].part.at("hidden").step.number("value"), 0.1);
}

TEST(Phases, OverridesCountThemFromOne) {
  Value file = parse_toml(
      "model.layers = [2, 3, 1]\n[[phase]]\nsteps = 10\n[[phase]]\nsteps = 20\npreset = { name = 'sgd' }", "test");
  override_with(file, "phase.2.preset.step=0.3");
  override_with(file, "phase.1.steps=7");
  const RunSettings settings = read_run_settings(file);
  EXPECT_EQ(settings.phase[0].steps, 7);
  EXPECT_EQ(settings.phase[1].part.at("layer2").step.number("value"), 0.3);
  for (const char* wrong : {"phase.3.steps=1", "phase.0.steps=1", "phase.x.steps=1", "phase.2x.steps=1"})
    EXPECT_THAT(error_of([&] { override_with(file, wrong); }), HasSubstr("one of 2 entries, which are counted from 1"));
}

TEST(Phases, MistakesAreNamed) {
  EXPECT_THAT(error_of([] { settings_of("model.layers = [1, 1]\n[phase]\nsteps = 3"); }),
              HasSubstr("write [[phase]] before the settings of each"));
  EXPECT_THAT(error_of([] { settings_of(two_phases + "part.all.prior = 1.0"); }), HasSubstr("cannot change"));
  EXPECT_THAT(error_of([] { settings_of("warmup = 12\n" + two_phases); }), HasSubstr("steps must be at least 1"));
  EXPECT_THAT(error_of([] { settings_of(two_phases + "[[phase]]\nstep = 3"); }), HasSubstr("did you mean \"steps\""));
  EXPECT_THAT(error_of([] { settings_of(two_phases + "[[phase]]\n"); }), HasSubstr("phase.steps must be at least 1"));
}

// Two phases, patience and adaptive Langevin, stopped in the first phase and in the second.
TEST(Phases, AStoppedRunGoesOnAsIfItHadNot) {
  const Desk desk;
  desk.write("run.toml", R"(
log_every = 100
every = 50
walkers = 2
[data]
generator = { name = "spiral", rows = 100, validation = 50 }
[model]
layers = [2, 8, 1]
loss = "binary_cross_entropy"
[batch]
size = 10
[patience]
reduce_after = 1
factor = 0.5
[[phase]]
steps = 400
preset = "adlala"
[[phase]]
steps = 400
preset = "adam"
)");
  ASSERT_EQ(desk.kelvin("train run.toml -q -o whole").code, 0);
  ASSERT_EQ(desk.kelvin("train run.toml -q -o part --set steps=250").code, 0);
  ASSERT_EQ(desk.kelvin("resume part -q --until 630").code, 0);
  ASSERT_EQ(desk.kelvin("resume part -q --until 800").code, 0);
  const Samples whole = open_samples(desk.path("whole")), part = open_samples(desk.path("part"));
  ASSERT_EQ(whole.draws, 16u);
  for (std::size_t w = 0; w < 2; ++w) {
    EXPECT_EQ(whole.block("layer1.weight", w), part.block("layer1.weight", w));
    EXPECT_EQ(whole.statistic("xi", w)[2 * 7], part.statistic("xi", w)[2 * 7]);
    EXPECT_NE(whole.statistic("xi", w)[2 * 7], 0);
  }
}

TEST(Phases, ARunThatStopsEarlyKeepsWhereItStopped) {
  const Desk desk;
  const Outcome ran =
      desk.kelvin("train " + std::string(KELVIN_SOURCE_DIR) + "/examples/phases.toml -o run --set patience.target=0.6");
  ASSERT_EQ(ran.code, 0) << ran.error;
  EXPECT_THAT(ran.error, HasSubstr("validation.accuracy has reached"));
  const Json record = Json::parse(desk.read("run/run.json"));
  EXPECT_THAT(record.at("stopped").as<std::string>(), HasSubstr("has reached"));
  EXPECT_EQ(record.at("draws"), 1);
  EXPECT_EQ(open_samples(desk.path("run")).draws, 1u);
  const Outcome refused = desk.kelvin("train " + std::string(KELVIN_SOURCE_DIR) +
                                      "/examples/adlala.toml -o other --set patience.stop_after=2");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.error, HasSubstr("not in the log"));
  EXPECT_FALSE(std::filesystem::exists(desk.path("other")));
}

// ---- patience

LogLine line(double loss) {
  LogLine out;
  out.step = 1;
  out.validation = {.loss = loss, .accuracy = 1 - loss, .rmse = {}};
  return out;
}

TEST(Patience, StopsAtItsTarget) {
  PatienceSettings s;
  s.measure = "validation.accuracy", s.target = number(0.9);
  Patience patience(s);
  for (const double loss : {0.5, 0.3, 0.2}) patience.look(line(loss));
  EXPECT_EQ(patience.stop(), "");
  patience.look(line(0.1));
  EXPECT_THAT(patience.stop(), HasSubstr("validation.accuracy has reached 0.9"));
}

// A run that stopped there would leave no draw.
TEST(Patience, DoesNotStopInTheWarmup) {
  PatienceSettings s;
  s.target = number(0.4), s.stop_after = 1;
  Patience patience(s, 100);
  LogLine now = line(0.3);
  for (const std::uint64_t step : {20u, 40u, 60u, 80u, 100u}) now.step = step, patience.look(now);
  EXPECT_EQ(patience.stop(), "");
  now.step = 120, patience.look(now);
  EXPECT_THAT(patience.stop(), HasSubstr("has reached 0.3"));

  const Desk desk;
  ASSERT_EQ(
      desk.kelvin("sample " KELVIN_SOURCE_DIR "/examples/spiral.toml -q -o run --set warmup=2000 --set steps=2000 "
                  "--set patience.measure=train.loss --set patience.target=100")
          .code,
      0)
      << desk.read(".err");
  const Samples samples = open_samples(desk.path("run"));
  EXPECT_TRUE(samples.record.has_finished());
  EXPECT_GT(samples.record.until, 2000u);
  EXPECT_LT(samples.record.until, 4000u);
  EXPECT_GE(samples.draws, 1u);
  EXPECT_EQ(desk.kelvin("summary run").code, 0) << desk.read(".err");
}

TEST(Patience, StopsWhenNothingGetsBetter) {
  PatienceSettings s;
  s.stop_after = 3;
  Patience patience(s);
  for (const double loss : {0.5, 0.6, 0.6, 0.4, 0.4, 0.5}) patience.look(line(loss));
  EXPECT_EQ(patience.stop(), "");
  patience.look(line(0.45));
  EXPECT_THAT(patience.stop(), HasSubstr("not been better than 0.4 for 3 lines"));
}

TEST(Patience, TakesSmallerStepsOnAPlateau) {
  PatienceSettings s;
  s.reduce_after = 2, s.factor = 0.5;
  Patience patience(s);
  std::vector<double> paces;
  for (const double loss : {0.5, 0.5, 0.5, 0.5, 0.4, 0.5, 0.5})
    patience.look(line(loss)), paces.push_back(patience.pace());
  EXPECT_EQ(paces, (std::vector<double>{1, 1, 0.5, 0.5, 0.5, 0.5, 0.25}));
}

TEST(Patience, MistakesAreNamed) {
  PatienceSettings s;
  s.measure = "validation.los", s.stop_after = 1;
  EXPECT_THAT(error_of([&] { Patience(s).look(line(1)); }), HasSubstr("did you mean \"loss\"?"));
  s.measure = "test.loss";
  EXPECT_THAT(error_of([&] { Patience(s).look(line(1)); }), HasSubstr("not in the log"));
  EXPECT_THAT(error_of([] { settings_of("model.toy = 'gaussian'\npatience.factor = 2"); }),
              HasSubstr("between 0 and 1"));
}

TEST(Patience, PaceMultipliesTheStep) {
  Walker<double> w(gaussian({2}), moving("S", 0.1, 1, 0));
  w.chain.place(Vec{1}, Vec{0});
  w.chain.pace(0.5);
  w.chain.step();
  EXPECT_DOUBLE_EQ(w.chain.q()[0], 1 - 0.05 * 2);
}

// ---- pieces

TEST(Pieces, AddUpToTheWhole) {
  const Choice prior = Choice::number_of("gaussian", "scale", 0.5), l1 = Choice::number_of("l1", "strength", 0.2);
  Energy<double> u = with_terms(std::make_unique<Coupled>(), {{"layer1.weight", prior}}, {{"layer2.weight", l1}});
  const Vec q{0.3, -0.5, 0.2, -0.4, 0.1, 0.6};
  Vec loss(6), g[3] = {Vec(6), Vec(6), Vec(6)};
  double U[3];
  for (const int piece : {2, 0, 1}) U[piece] = u(q, {.piece = piece}, g[piece]);
  EXPECT_NEAR(U[0], U[1] + U[2], 1e-15);
  Coupled plain;
  EXPECT_EQ(U[1], evaluated(plain, q, {}, loss));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(g[0][i], g[1][i] + g[2][i], 1e-15);
    EXPECT_EQ(g[1][i], loss[i]);
  }
  EXPECT_DOUBLE_EQ(g[2][1], -0.5 / 0.25);
}

TEST(Pieces, ReadingsAreThoseOfTheWholeAndChangeNothing) {
  const Choice toy("two_scales");
  Walker<double> read(toy, moving("B1(B2AOAB2)3B1", 0.3)), not_read(toy, moving("B1(B2AOAB2)3B1", 0.3));
  for (int n = 0; n < 20; ++n) read.chain.step_and_read(), not_read.chain.step();
  EXPECT_EQ(read.chain.q()[0], not_read.chain.q()[0]);
  EXPECT_DOUBLE_EQ(read.chain.reading().energy, 10 * read.chain.q()[0] * read.chain.q()[0] / 2);
}

// ---- masks

struct Masked {
  Noise<double> noise;
  Chain<double> chain;
  Masked(const Choice& mask, const PartSettings& part)
      : chain(with_masks(std::make_unique<Coupled>(), {{"layer1.weight", mask}}),
              make_recipe({{"all", part}}, {}, Coupled().blocks(), {}), Batches({}, 0, 4, 0), noise, 4, 0) {
    chain.start(start());
  }
  static Vec start() { return {0.3, -0.5, 0.2, -0.4, 0.1, 0.6}; }
};

// Every k steps a new subset; it is 0 for k steps of the rest, then comes back for one step k times as long.
TEST(Masks, RandomSubsetMultirateFollowsItsAlgorithm) {
  const int k = 4;
  const double h = 0.05;
  Masked run(Choice("subset", {{"share", 0.5}, {"every", double(k)}}), moving("S", h, 1, 0));
  Vec q = Masked::start(), g(6);
  Coupled U;
  int zeroed = 0;
  for (int round = 0; round < 10; ++round) {
    const Stream stream{stream_key(4, "evaluation"), 0, std::uint64_t(round), 0};
    bool slow[3];
    for (std::size_t i = 0; i < 3; ++i) zeroed += slow[i] = uniform(stream, i) < 0.5;
    Vec stored = q;
    for (std::size_t i = 0; i < 3; ++i) q[i] = slow[i] ? 0 : q[i];
    for (int n = 0; n < k; ++n) {
      run.chain.step();
      evaluated(U, q, {}, g);
      for (std::size_t i = 0; i < 6; ++i) q[i] -= i < 3 && slow[i] ? 0 : h * g[i];
    }
    for (std::size_t i = 0; i < 3; ++i) q[i] = slow[i] ? stored[i] : q[i];
    run.chain.step();
    evaluated(U, q, {}, g);
    for (std::size_t i = 0; i < 6; ++i) q[i] -= (i < 3 && slow[i] ? h * k : h) * g[i];
    for (std::size_t i = 0; i < 6; ++i) ASSERT_NEAR(run.chain.q()[i], q[i], 1e-14) << round;
  }
  EXPECT_GT(zeroed, 5);
  EXPECT_LT(zeroed, 25);
}

TEST(Masks, DropoutLeavesOutWholeInputsAndKeepsTheMean) {
  // U = sum of the weights, 2 x 3: its mean over masks is U itself
  struct Sum : Potential<double> {
    std::vector<Block> list{{.name = "w", .shape = {2, 3}}, {.name = "b", .shape = {2}, .offset = 6}};
    const std::vector<Block>& blocks() const override { return list; }
    double operator()(Weights<const double> q, const Evaluation&, Weights<double> g) override {
      double U = 0;
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < list[b].size(); ++i) {
          U += q[b][i];
          g[b][i] = 1;
        }
      return U;
    }
    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Sum>(*this); }
  };
  const Choice mask("dropout", {{"share", 0.2}});
  Energy<double> u = with_masks(std::make_unique<Sum>(), {{"w", mask}, {"b", mask}});
  const Vec q{1, 2, 3, 4, 5, 6, 7, 8};
  Vec g(8);
  double mean = 0;
  const int evaluations = 20000;
  for (int n = 0; n < evaluations; ++n) {
    u.estimate.prepare({3, 0, std::uint64_t(n), 0});
    mean += u(q, {}, g) / evaluations;
    for (std::size_t j = 0; j < 3; ++j) ASSERT_EQ(g[j], g[3 + j]) << "an input goes with all its weights";
    for (std::size_t j = 0; j < 3; ++j) ASSERT_TRUE(g[j] == 0 || g[j] == 1.25);
    ASSERT_EQ(g[6], 1) << "biases stay";
  }
  // variance of a mask's factor is 0.25: sqrt(0.25 (5^2 + 7^2 + 9^2) / 20000)
  EXPECT_NEAR(mean, 36, 4 * std::sqrt(0.25 * 155 / evaluations));
}

TEST(Masks, AreAFunctionOfTheEvaluation) {
  const Choice mask("connections", {{"share", 0.5}});
  Masked a(mask, moving("S", 0.05, 1, 0)), b(mask, moving("S", 0.05, 1, 0));
  for (int n = 0; n < 9; ++n) a.chain.step();
  b.chain.restore(a.chain.state());
  for (int n = 0; n < 9; ++n) a.chain.step(), b.chain.step_and_read();
  EXPECT_TRUE(std::ranges::equal(a.chain.q(), b.chain.q()));
}

TEST(Masks, MistakesAreNamed) {
  EXPECT_THAT(error_of([] { Masked(Choice("dropout", {{"share", 1.0}}), moving("S", 0.1)); }), HasSubstr("share is 1"));
  EXPECT_THAT(error_of([] {
                Masked(Choice("dropout", {{"share", 0.1}}), moving("R{BAB}", 0.1));
              }),
              HasSubstr("braces"));
}

}  // namespace
}  // namespace kelvin
