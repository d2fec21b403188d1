// SPDX-License-Identifier: Apache-2.0
// The stretch move: its law on a Gaussian that single walkers hardly move on, and what it must not depend on.
#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "kelvin/run/run.h"
#include "kelvin/trajectory/inputs.h"
#include "tests/files.h"
#include "tests/walkers.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

// U = (x^2 - 2 r x y + y^2) / (2 (1 - r^2)) has the covariance ((1, r), (r, 1)).
constexpr double correlation = 0.95;
class CorrelatedGaussian final : public Potential<double> {
 public:
  const std::vector<Block>& blocks() const override { return list_; }
  double operator()(Weights<const double> q, const Evaluation&, Weights<double> g) override {
    const double x = q[0][0], y = q[0][1], r = correlation, c = 1 / (1 - r * r);
    g[0][0] = c * (x - r * y);
    g[0][1] = c * (y - r * x);
    return c * (x * x - 2 * r * x * y + y * y) / 2;
  }
  std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<CorrelatedGaussian>(*this); }

 private:
  std::vector<Block> list_{{.name = "q", .shape = {2}}};
};

// Stretches without the factor z^(d-1): shrinking is then as welcome as growing, though it comes from less room.
class WithoutTheFactor final : public Coupling<double> {
 public:
  std::uint64_t next_meeting(std::uint64_t after) const override { return after + 1; }
  bool due(std::size_t, std::uint64_t step) const override { return step != last_; }
  void meet(Walkers mine, std::size_t, std::uint64_t step, Threads&) override {
    last_ = step;
    for (const std::size_t half : {0, 1})
      for (Chain<double>& chain : mine) {
        if (chain.walker() % 2 != half) continue;
        const Stream stream{stream_key(1, "spoilt"), chain.walker(), step, 0};
        const std::vector<double> from(mine[2 * below(4, stream, 0) + 1 - half].q().begin(),
                                       mine[2 * below(4, stream, 0) + 1 - half].q().end());
        const double z = std::pow(uniform(stream, 1) + 1, 2) / 2, before = chain.energy_on({});
        const Replica<double> here = chain.replica_now();
        Replica<double> there = here;
        for (std::size_t i = 0; i < 2; ++i) there.q[i] = from[i] + z * (here.q[i] - from[i]);
        chain.take(there);
        if (!(std::log(uniform(stream, 2)) < before - chain.energy_on({}))) chain.take(here);
      }
  }
  std::string state() const override { return ""; }
  void restore(const std::string&, Walkers) override {}

 private:
  std::uint64_t last_ = 0;
};

struct Moments {
  Estimate x, square, product;
};

// Eight walkers whose own steps are far too small to get anywhere.
Moments moments_with(Couplings<double>& couplings, const Recipe& recipe) {
  const CorrelatedGaussian potential;
  const Noise<double> noise;
  std::vector<Chain<double>> walkers;
  for (std::uint32_t w = 0; w < 8; ++w) {
    walkers.emplace_back(potential.clone(), recipe, Batches({}, 0, 1, w), noise, 1, w);
    walkers.back().start(std::vector<double>{0.1 * w - 0.4, 0.3 - 0.05 * w * w});
  }
  Plan plan;
  plan.warmup = 2000, plan.steps = plan.round = 40000, plan.every = 4;
  std::vector<double> x, square, product;
  run<double>(
      walkers, plan, couplings,
      [&](const Draw<double>& d) {
        x.push_back(d.q[0]);
        square.push_back(d.q[0] * d.q[0]);
        product.push_back(d.q[0] * d.q[1]);
      },
      [](std::uint64_t) {});
  return {estimate(x), estimate(square), estimate(product)};
}

EnsembleSettings eight_stretched(double scale) {
  EnsembleSettings settings;
  settings.walkers = 8;
  settings.coupling.method = Choice("stretch", {{"scale", scale}});
  settings.coupling.refresh = 1;
  return settings;
}

TEST(Stretch, SamplesACorrelatedGaussian) {
  const Recipe recipe = recipe_for(CorrelatedGaussian(), moving("BAOAB", 1e-5));
  Comm alone;
  const Remark silent = [](std::string_view) {};
  for (const double scale : {1.5, 2.0, 4.0}) {
    const EnsembleSettings settings = eight_stretched(scale);
    Couplings<double> couplings(CoupledRun{settings, recipe, alone, silent});
    const Moments found = moments_with(couplings, recipe);
    EXPECT_LT(found.square.error, 0.05);
    EXPECT_LT(std::abs(found.x.deviation(0)), 4) << scale;
    EXPECT_LT(std::abs(found.square.deviation(1)), 4)
        << scale << ": " << found.square.mean << " +- " << found.square.error;
    EXPECT_LT(std::abs(found.product.deviation(correlation)), 4) << scale;
  }
  // The controls: walkers alone do not get there, and a move without its factor has another law.
  Couplings<double> none;
  EXPECT_LT(moments_with(none, recipe).square.mean, 0.7);
  Couplings<double> spoilt;
  spoilt.add("spoilt", std::make_unique<WithoutTheFactor>());
  EXPECT_LT(moments_with(spoilt, recipe).square.deviation(1), -6);
}

const std::string stretched =
    "steps = 300\nevery = 1\nwalkers = 6\nlog_every = 100\ncheckpoint_every = 70\n"
    "model.toy = { name = \"gaussian\", stiffness = [1.0, 100.0, 10.0] }\npart.all = { step = 0.1, temperature = 1 }\n"
    "coupling = { method = { name = \"stretch\", scale = 3.0 }, refresh = 7 }\n";

struct Watcher : Observer {
  std::vector<std::vector<double>> draws = std::vector<std::vector<double>>(6);
  std::vector<Checkpoint> checkpoints;
  std::vector<LogLine> lines;
  void draw(const Draw<double>& d) override { draws[d.walker].insert(draws[d.walker].end(), d.q.begin(), d.q.end()); }
  void checkpoint(const Checkpoint& now) override { checkpoints.push_back(now); }
  void line(const LogLine& line) override { lines.push_back(line); }
};

Watcher watched(kelvin::Run& run) {
  Watcher watcher;
  run.watch(watcher);
  run.go();
  return watcher;
}

RunEnvironment threads(std::size_t count) {
  RunEnvironment environment = inputs_from();
  environment.threads = count;
  return environment;
}

TEST(Stretch, HasTheSameBytesOnAnyThreadsAndWhenResumed) {
  const RunSettings settings = read_run_settings(parse_toml(stretched, "test"));
  kelvin::Run one(settings, threads(1)), two(settings, threads(2));
  const Watcher first = watched(one), second = watched(two);
  EXPECT_EQ(first.draws, second.draws);
  for (const std::size_t k : {1, 3}) {
    RunRecord record = one.record();
    record.finished.reset();
    kelvin::Run again({record, first.checkpoints[k], {}}, threads(2));
    const Watcher later = watched(again);
    EXPECT_EQ(later.checkpoints.back().walkers, first.checkpoints.back().walkers);
    EXPECT_EQ(later.checkpoints.back().couplings, first.checkpoints.back().couplings);
  }
  const Value& told = first.lines.back().others.at("stretch");
  EXPECT_EQ(told.as<long>("attempts"), 42 * 6) << "every seventh step";
  EXPECT_GT(told.as<double>("acceptance"), 0.2);
  EXPECT_LT(told.as<double>("acceptance"), 0.95);
}

TEST(Stretch, MovesNothingThatIsFrozen) {
  CoupledWalkers w(stretched + "model.freeze = [\"q[1]=0.25\"]\n");
  w.settle({1, 100, 10});
  w.run_for(100, [&](const Draw<double>& d) { EXPECT_EQ(d.q[1], 0.25); });
}

TEST(Stretch, RefusesWhatItCannotDo) {
  const auto refused = [](const std::string& more) { return error_of([&] { CoupledWalkers w(stretched + more); }); };
  EXPECT_EQ(refused(""), "");
  EXPECT_THAT(error_of([] {
                CoupledWalkers w(
                    "steps = 10\nwalkers = 4\nmodel.toy = { name = \"gaussian\", dimension = 3 }\n"
                    "part.all = { temperature = 1, constraint = { name = \"norm\", radius = 1.0, biases = true } }\n"
                    "coupling = \"stretch\"\n");
              }),
              HasSubstr("nor after a stretch"));
  EXPECT_THAT(
      error_of([] {
        read_run_settings(parse_toml("walkers = 3\nmodel.toy = \"double_well\"\ncoupling = \"stretch\"\n", "test"));
      }),
      HasSubstr("needs at least 4 walkers"));
  EXPECT_THAT(error_of([] {
                read_run_settings(
                    parse_toml("walkers = 4\nmodel.toy = \"double_well\"\ncoupling = { method = "
                               "\"stretch\", blending = 1 }\n",
                               "test"));
              }),
              HasSubstr("does nothing with coupling.method = \"stretch\""));
}

}  // namespace
}  // namespace kelvin
