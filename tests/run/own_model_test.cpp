// SPDX-License-Identifier: Apache-2.0
// Runs of what settings cannot say: an energy, a function and a letter that the program gives.
#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "kelvin/function/network.h"
#include "kelvin/trajectory/disk.h"
#include "kelvin/trajectory/inputs.h"
#include "kelvin/trajectory/samples.h"
#include "tests/files.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::vector<double> stiffness = {1, 4, 25};

// U = sum of k_i q_i^2 / 2, of the blocks "wide" and "narrow".
template <class Real>
struct Springs : Potential<Real> {
  std::vector<Block> list = {{.name = "wide", .shape = {2}}, {.name = "narrow", .shape = {1}}};
  const std::vector<Block>& blocks() const override { return list; }
  double operator()(Weights<const Real> q, const Evaluation&, Weights<Real> g) override {
    double U = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t b = i / 2, k = i % 2;
      g[b][k] = Real(stiffness[i]) * q[b][k];
      U += double(g[b][k]) * double(q[b][k]) / 2;
    }
    return U;
  }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<Springs>(*this); }
};

// Letter O with twice the friction.
template <class Real>
void strong_bath(const Part<Real>& s, double h, std::span<const Real> z) {
  const double keep = std::exp(-2 * s.gamma * h), spread = std::sqrt(s.m * s.T * (1 - keep * keep));
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] = Real(keep * double(s.p[i]) + spread * double(z[i]));
}

std::shared_ptr<const OwnLetters> with_strong_bath() {
  Letter row{};
  row.symbol = 'Q';
  row.moves_p = true;
  row.normals = 1;
  row.thermal = true;
  row.meaning = "twice the friction";
  const auto own = std::make_shared<OwnLetters>();
  own->add(row, {strong_bath<float>, strong_bath<double>});
  return own;
}

std::shared_ptr<const Model> springs() {
  const auto model = std::make_shared<Model>();
  model->with_float.potential = std::make_shared<Springs<float>>();
  model->with_double.potential = std::make_shared<Springs<double>>();
  model->letters = with_strong_bath();
  return model;
}

RunSettings settings_from_text(const std::string& toml) { return read_run_settings(parse_toml(toml, "test")); }

const std::string two_parts =
    "model.own = \"springs\"\n"
    "part.a = { blocks = [\"wide\"], scheme = \"BAQAB\", step = 0.5, temperature = 0.5 }\n"
    "part.b = { blocks = [\"narrow\"], scheme = \"BAOAB\", step = 0.2, temperature = 0.5 }\n";
const std::string short_run = "steps = 300\nwarmup = 30\nevery = 3\nwalkers = 3\ncheckpoint_every = 90\n" + two_parts;

RunEnvironment given(std::shared_ptr<const Model> model, std::size_t threads = 1) {
  RunEnvironment environment = inputs_from();
  environment.threads = threads;
  environment.model = std::move(model);
  return environment;
}

// Numbers of each walker's draws, in their order, and what is needed to go on.
struct Recorded : Observer {
  std::map<std::uint32_t, std::vector<double>> draws;
  std::vector<Checkpoint> checkpoints;
  template <class Real>
  void keep(const Draw<Real>& draw) {
    auto& mine = draws[draw.walker];
    mine.insert(mine.end(), draw.q.begin(), draw.q.end());
  }
  void begin(const RunRecord& record, const Problem<float>&) override { make_room(record); }
  void begin(const RunRecord& record, const Problem<double>&) override { make_room(record); }
  void make_room(const RunRecord& record) {  // draws come from several threads at once
    for (std::uint32_t w = 0; w < std::uint32_t(record.settings.walkers); ++w) draws[w];
  }
  void draw(const Draw<float>& draw) override { keep(draw); }
  void draw(const Draw<double>& draw) override { keep(draw); }
  void checkpoint(const Checkpoint& now) override { checkpoints.push_back(now); }
};

Recorded run_of(const RunSettings& settings, const RunEnvironment& environment, RunRecord* record = nullptr) {
  kelvin::Run run(settings, environment);
  Recorded seen;
  run.watch(seen);
  run.go();
  if (record) *record = run.record();
  return seen;
}

TEST(OwnModel, IsSampledByItsLaw) {
  const Recorded seen =
      run_of(settings_from_text("steps = 200000\nwarmup = 100\nevery = 1\n" + two_parts), given(springs()));
  const std::vector<double>& draws = seen.draws.at(0);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> squares;
    for (std::size_t k = i; k < draws.size(); k += 3) squares.push_back(draws[k] * draws[k]);
    // Exact at any step, for letter Q as for O. 4 standard errors; a friction or temperature 10 % off is seen below.
    EXPECT_LT(std::abs(estimate(squares).deviation(0.5 / stiffness[i])), 4) << i;
    EXPECT_GT(std::abs(estimate(squares).deviation(0.55 / stiffness[i])), 4) << i << ": negative control";
  }
}

template <class Real>
void expect_the_chains_own_path() {
  const RunSettings settings = settings_from_text((sizeof(Real) == 4 ? "precision = \"float\"\n" : "") + short_run);
  const Recorded seen = run_of(settings, given(springs(), 2));
  const Springs<Real> U;
  const Noise<Real> noise;
  const auto seed = std::uint64_t(settings.seed);
  const Recipe recipe = make_recipe(settings.part, {}, U.blocks(), {330}, springs()->letters);
  for (std::uint32_t w = 0; w < 3; ++w) {
    Chain<Real> chain(U.clone(), recipe, Batches({}, 0, seed, w), noise, seed, w);
    chain.start(std::vector<Real>(3, 0));
    std::vector<double> draws;
    for (int n = 1; n <= 330; ++n) {
      chain.step_and_read();
      if (n > 30 && n % 3 == 0) draws.insert(draws.end(), chain.q().begin(), chain.q().end());
    }
    EXPECT_EQ(seen.draws.at(w), draws) << w;
  }
}

TEST(OwnModel, MovesAsItDoesInAChain) {
  expect_the_chains_own_path<float>();
  expect_the_chains_own_path<double>();
}

TEST(OwnModel, GoesOnBitForBitIfItIsGivenAgain) {
  RunRecord record;
  const RunSettings settings = settings_from_text(short_run);
  const Recorded whole = run_of(settings, given(springs()), &record);
  record.finished.reset();
  RunRecord read;  // as from a file
  read_recorded(read, recorded(record), "");
  kelvin::Run again({read, whole.checkpoints[2], {}}, given(springs(), 2));
  Recorded rest;
  again.watch(rest);
  again.go();
  for (std::uint32_t w = 0; w < 3; ++w) {
    const auto &all = whole.draws.at(w), &later = rest.draws.at(w);
    ASSERT_FALSE(later.empty());
    EXPECT_TRUE(std::equal(later.begin(), later.end(), all.end() - long(later.size())));
  }
}

TEST(OwnModel, IsStoredAndRefusesToGoOnWithoutItself) {
  const Directory directory{in_memory()};
  const std::string place = directory.path("run");
  const auto no_time = [] { return 0.0; };
  {
    Disk disk(place, no_time, false, short_run);
    kelvin::Run run(settings_from_text(short_run), given(springs()));
    run.watch(disk);
    run.advance(200);
  }
  const auto resume = [&](std::shared_ptr<const Model> model) {
    Disk disk(place, no_time);
    kelvin::Run run(disk.resumption(), given(std::move(model)));
    run.watch(disk);
    run.go();
  };
  EXPECT_EQ(error_of([&] { resume(nullptr); }),
            "model.own = \"springs\" is a model that only the program which gives it to its runs has; start, resume or "
            "evaluate them there");
  resume(springs());
  const Samples samples = open_samples(place);
  EXPECT_EQ(samples.draws, 100u);
  const Recorded whole = run_of(settings_from_text(short_run), given(springs()));
  const auto narrow = samples.array("posterior/narrow", 2, 0, 100);
  for (std::size_t d = 0; d < 100; ++d) EXPECT_EQ(narrow[d], whole.draws.at(2)[3 * d + 2]);
}

// A network of the settings, given as a function of one's own, is the same run.
TEST(OwnModel, MayBeAFunctionWithRowsAndALoss) {
  const std::string rest =
      "steps = 50\nevery = 5\nbatch = 20\ndata = { generator = { name = \"spiral\", rows = 60 } }\n"
      "part.all = { step = 0.05 }\n";
  const std::string loss = ", loss = \"binary_cross_entropy\", prior = 1.0 }\n";
  const RunSettings known = settings_from_text(rest + "model = { layers = [2, 5, 1]" + loss);
  const RunSettings own = settings_from_text("precision = \"float\"\n" + rest + "model = { own = \"net\"" + loss);
  const auto model = std::make_shared<Model>();
  model->with_float.function = make_network<float>(known.model, {2});
  EXPECT_EQ(run_of(own, given(model)).draws, run_of(known, given(nullptr)).draws);
}

TEST(OwnModel, MistakesAreNamed) {
  const auto refusal = [](const std::string& toml, std::shared_ptr<const Model> model) {
    return error_of([&] { run_of(settings_from_text(toml), given(std::move(model))); });
  };
  EXPECT_THAT(refusal(short_run + "model.toy = \"double_well\"\n", springs()), HasSubstr("keep one"));
  EXPECT_THAT(refusal("steps = 1\nmodel.toy = \"double_well\"\n", springs()), HasSubstr("set model.own"));
  EXPECT_THAT(refusal(short_run, std::make_shared<Model>()), HasSubstr("as a potential or as a function"));
  EXPECT_THAT(refusal("store.predictions = true\n" + short_run, springs()), HasSubstr("need a network"));
}

}  // namespace
}  // namespace kelvin
