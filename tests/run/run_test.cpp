// SPDX-License-Identifier: Apache-2.0
// A run as an object: what its observers see, how it is steered, and that a steered run repeats bit for bit.
#include "kelvin/run/run.h"

#include <gmock/gmock.h>

#include <mutex>

#include "kelvin/core/toml.h"
#include "kelvin/trajectory/inputs.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string wells =
    "steps = 600\nwarmup = 100\nevery = 3\nwalkers = 3\nlog_every = 50\ncheckpoint_every = 70\n"
    "model.toy = \"double_well\"\npart.all = { step = 0.1, temperature = 0.5 }\n";

RunSettings settings_from(const std::string& toml) { return read_run_settings(parse_toml(toml, "test")); }

RunEnvironment on_threads(std::size_t threads) {
  RunEnvironment environment = inputs_from();
  environment.threads = threads;
  return environment;
}

// Writes everything down, and may do something at a draw.
struct Witness : Observer {
  std::vector<std::vector<double>> draws;  // of each walker: step and position
  std::vector<std::uint64_t> lines;
  std::vector<Checkpoint> checkpoints;
  std::vector<std::string> remarks, order;
  std::function<void(std::uint64_t step)> at_draw;  // of the first walker
  RunRecord record;

  void begin(const RunRecord& about, const Problem<double>& problem) override {
    draws.resize(std::size_t(problem.settings.walkers));
    record = about;
    order.push_back("begin");
  }
  void draw(const Draw<double>& draw) override {
    auto& mine = draws[draw.walker];
    mine.push_back(double(draw.reading.step));
    mine.insert(mine.end(), draw.q.begin(), draw.q.end());
    if (draw.walker == 0 && at_draw) at_draw(draw.reading.step);
  }
  void line(const LogLine& line) override { lines.push_back(line.step); }
  void checkpoint(const Checkpoint& now) override {
    checkpoints.push_back(now);
    order.push_back(now.last ? "last checkpoint" : "checkpoint");
  }
  void steered(const RunRecord& about) override { record = about; }
  void remark(std::string_view text) override { remarks.emplace_back(text); }
  void end(const RunRecord& about) override {
    record = about;
    order.push_back("end");
  }
};

std::vector<std::vector<double>> draws_of(const RunSettings& settings, std::size_t threads = 1, RunRecord about = {}) {
  kelvin::Run run(settings, on_threads(threads), std::move(about));
  Witness witness;
  run.watch(witness);
  run.go();
  return witness.draws;
}

TEST(Run, TellsItsObserversOfEverythingInOrder) {
  kelvin::Run run(settings_from(wells), on_threads(2));
  Witness witness;
  run.watch(witness);
  EXPECT_EQ(run.now().state, RunSnapshot::State::ready);
  run.go();
  ASSERT_EQ(witness.draws.size(), 3u);
  for (const auto& draws : witness.draws) EXPECT_EQ(draws.size(), 2 * 200u);
  EXPECT_EQ(witness.lines.size(), 14u);
  EXPECT_EQ(witness.lines.back(), 700u);
  EXPECT_EQ(witness.checkpoints.size(), 12u) << "at the start, ten on the way, at the end";
  EXPECT_EQ(witness.order.front(), "begin");
  EXPECT_EQ(witness.order[witness.order.size() - 2], "last checkpoint");
  EXPECT_EQ(witness.order.back(), "end");
  EXPECT_TRUE(witness.record.has_finished());
  EXPECT_EQ(witness.record.draws, 200u);
  EXPECT_EQ(run.now().state, RunSnapshot::State::finished);
  EXPECT_EQ(run.now().step, 700u);
  EXPECT_EQ(run.now().line->step, 700u);
}

TEST(Run, InPiecesIsTheSame) {
  const RunSettings settings = settings_from(wells);
  kelvin::Run run(settings, on_threads(1));
  Witness witness;
  run.watch(witness);
  int pieces = 1;
  while (run.advance(37)) ++pieces;
  EXPECT_EQ(pieces, 19);
  EXPECT_EQ(witness.draws, draws_of(settings, 2));
  EXPECT_FALSE(run.advance(10)) << "it has ended";
}

TEST(Run, GoesOnFromAnyCheckpoint) {
  for (const std::string more : {"", "coupling = { method = \"ensemble\", blending = 0.5, refresh = 40 }\n",
                                 "patience = { measure = \"potential\", reduce_after = 2, factor = 0.9 }\n"}) {
    const RunSettings settings = settings_from(wells + more);
    kelvin::Run run(settings, on_threads(1));
    Witness witness;
    run.watch(witness);
    run.go();
    for (const std::size_t k : {0, 3, 9}) {
      RunRecord record = witness.record;
      record.finished.reset();
      const Checkpoint& from = witness.checkpoints[k];
      kelvin::Run again({record, from, {}}, on_threads(2));
      Witness later;
      again.watch(later);
      again.go();
      for (std::size_t w = 0; w < 3; ++w) {
        const auto& whole = witness.draws[w];
        const auto& rest = later.draws[w];
        ASSERT_LE(rest.size(), whole.size());
        EXPECT_TRUE(std::equal(rest.begin(), rest.end(), whole.end() - long(rest.size()))) << more << k;
      }
      EXPECT_EQ(later.checkpoints.back().walkers, witness.checkpoints.back().walkers) << more << k;
    }
  }
}

// ---- commands

std::map<std::string, Value> colder() { return {{"all", Value::Group{{"temperature", 0.05}, {"scheme", "ABOBA"}}}}; }

struct Steered {
  Witness witness;
  RunRecord record;
};

Steered steered_run(const RunSettings& settings, std::size_t threads) {
  kelvin::Run run(settings, on_threads(threads));
  Steered out;
  out.witness.at_draw = [&](std::uint64_t step) {
    if (step == 250) run.post(NewPhase{colder()});
    if (step == 400) run.post(NewPhase{{{"all", Value::Group{{"step", 0.07}}}}});
  };
  run.watch(out.witness);
  run.go();
  out.record = run.record();
  return out;
}

TEST(Run, ThatIsSteeredRepeatsBitForBit) {
  for (const std::string more :
       {"", "coupling = { method = \"halves\", blending = 0.5, refresh = 40 }\nwalkers = 4\n"}) {
    const RunSettings settings =
        settings_from((more.empty() ? wells
                                    : "steps = 600\nwarmup = 100\nevery = 3\nlog_every = 50\ncheckpoint_every = 70\n"
                                      "model.toy = \"double_well\"\npart.all = { step = 0.1, temperature = 0.5 }\n") +
                      more);
    const Steered first = steered_run(settings, 2);
    ASSERT_EQ(first.record.steered.size(), 2u);
    EXPECT_GE(first.record.steered[0].from_step, 250u);
    EXPECT_EQ(first.record.steered[0].phase.part.at("all").scheme, "ABOBA");
    EXPECT_EQ(first.record.steered[1].phase.part.at("all").scheme, "ABOBA") << "it stays as it was";
    // The record alone says it all, on any number of threads.
    RunRecord about;
    about.steered = first.record.steered;
    EXPECT_EQ(draws_of(settings, 1, about), first.witness.draws);
    EXPECT_NE(draws_of(settings), first.witness.draws) << "the commands must have changed something";
    // So does a run that is resumed before the first command, and between the two.
    for (std::size_t k = 0; k < first.witness.checkpoints.size(); k += 2) {
      RunRecord record = first.record;
      record.finished.reset();
      kelvin::Run again({record, first.witness.checkpoints[k], {}}, on_threads(1));
      Witness later;
      again.watch(later);
      again.go();
      EXPECT_EQ(later.checkpoints.back().walkers, first.witness.checkpoints.back().walkers) << k;
    }
  }
}

TEST(Run, RefusesAPhaseThatCannotBeAndGoesOn) {
  const RunSettings settings = settings_from(wells);
  for (const auto& [part, why] :
       {std::pair{std::map<std::string, Value>{{"al", Value::Group{{"step", 0.1}}}}, "there is no part \"al\""},
        {{{"all", Value::Group{{"prior", 1.0}}}}, "prior of part \"all\" cannot change"},
        {{{"all", Value::Group{{"stepp", 1.0}}}}, "did you mean \"step\"?"},
        {{{"all", Value::Group{{"scheme", "XYZ!"}}}}, "refused"}}) {
    kelvin::Run run(settings, on_threads(1));
    Witness witness;
    witness.at_draw = [&, part = part](std::uint64_t step) {
      if (step == 250) run.post(NewPhase{part});
    };
    run.watch(witness);
    run.go();
    EXPECT_THAT(witness.remarks.back(), HasSubstr(why));
    EXPECT_TRUE(run.record().steered.empty());
    EXPECT_EQ(witness.draws, draws_of(settings)) << why;
  }
}

TEST(Run, TakesMoreSteps) {
  kelvin::Run run(settings_from(wells), on_threads(1));
  Witness witness;
  witness.at_draw = [&](std::uint64_t step) {
    if (step == 250) run.post(MoreSteps{300});
  };
  run.watch(witness);
  run.go();
  EXPECT_EQ(run.record().until, 1000u);
  EXPECT_EQ(witness.draws[2].size(), 2 * 300u);
}

TEST(Run, StopsWithACheckpointAndGoesOnAsIfItHadNot) {
  const RunSettings settings = settings_from(wells);
  kelvin::Run run(settings, on_threads(2));
  Witness witness;
  witness.at_draw = [&](std::uint64_t step) {
    if (step == 301) run.post(Stop{});
  };
  run.watch(witness);
  run.go();
  EXPECT_EQ(run.now().state, RunSnapshot::State::stopped);
  EXPECT_FALSE(witness.record.has_finished());
  EXPECT_LT(witness.checkpoints.back().step, 700u);
  EXPECT_TRUE(witness.checkpoints.back().last);
  kelvin::Run again({run.record(), witness.checkpoints.back(), {}}, on_threads(1));
  Witness later;
  again.watch(later);
  again.go();
  const auto whole = draws_of(settings);
  for (std::size_t w = 0; w < 3; ++w) {
    auto both = witness.draws[w];
    both.insert(both.end(), later.draws[w].begin(), later.draws[w].end());
    EXPECT_EQ(both, whole[w]);
  }
}

TEST(Run, WaitsWhileItIsPaused) {
  kelvin::Run run(settings_from(wells), on_threads(1));
  Witness witness;
  witness.at_draw = [&](std::uint64_t step) {
    if (step == 301) run.post(Pause{});
  };
  run.watch(witness);
  std::jthread other([&] { run.go(); });
  while (run.now().state != RunSnapshot::State::paused) std::this_thread::yield();
  const std::uint64_t step = run.now().step;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(run.now().step, step);
  EXPECT_EQ(step, 301u);
  run.post(Continue{});
  other.join();
  EXPECT_EQ(witness.draws, draws_of(settings_from(wells)));
}

TEST(Commands, SurviveTheWayToOtherRanks) {
  const std::vector<Command> sent = {
      Stop{}, MoreSteps{12},
      NewPhase{
          {{"a",
            Value::Group{
                {"step", 0.5}, {"blocks", Value::List{"x", "y"}}, {"on", true}, {"n", 3}, {"v", Value::Numbers{1, 2}}}},
           {"b", Value("text")}}},
      Continue{}};
  const auto back = unpacked_commands(packed(sent));
  ASSERT_EQ(back.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(back[k].index(), sent[k].index());
  EXPECT_EQ(std::get<MoreSteps>(back[1]).steps, 12u);
  EXPECT_EQ(Value(std::get<NewPhase>(back[2]).part), Value(std::get<NewPhase>(sent[2]).part));
}

// Rounds end where something must meet, whatever the numbers of the log have in common.
TEST(Rounds, FollowFromWhatMustMeet) {
  const auto problem = make_problem<double>(settings_from(wells), inputs_from().data, [](std::string_view) {});
  const auto rounds = [&](std::uint64_t steps, std::uint64_t round) {
    const Noise<double> noise;
    std::vector<Chain<double>> walkers;
    walkers.push_back(problem.chain(0, noise));
    walkers.front().start(std::vector<double>{1});
    Plan plan;
    plan.steps = steps, plan.round = round, plan.every = steps;
    int count = 0;
    run<double>(
        walkers, plan, [](const Draw<double>&) {}, [&](std::uint64_t) { ++count; });
    return count;
  };
  EXPECT_EQ(rounds(20000, 1000), 20);
  EXPECT_EQ(rounds(19980, 999), 20);
}

}  // namespace
}  // namespace kelvin
