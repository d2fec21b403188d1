// SPDX-License-Identifier: Apache-2.0
// Coupled walkers: who counts for whom, what follows from their spread, and what is refused.
#include "kelvin/ensemble/coupling.h"

#include <gmock/gmock.h>

#include "kelvin/chain/stiffness.h"
#include "kelvin/core/pack.h"
#include "tests/allocations.h"
#include "tests/files.h"
#include "tests/walkers.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string oscillators =
    "steps = 1000\nwalkers = 6\nmodel.toy = { name = \"gaussian\", stiffness = [1, 100, 10] }\n"
    "part.all = { step = 0.05, temperature = 1 }\n";

std::vector<std::vector<double>> paths(const std::string& coupling, std::size_t threads = 1) {
  CoupledWalkers w(oscillators + coupling);
  w.settle({1, 100, 10});
  std::vector<std::vector<double>> out(w.walkers.size());
  w.run_for(
      400, [&](const Draw<double>& d) { out[d.walker].insert(out[d.walker].end(), d.q.begin(), d.q.end()); }, threads);
  return out;
}

TEST(Couplings, NoWalkerCountsForItself) {
  for (const MetricMethod& row : metric_methods())
    for (std::size_t i = 0; row.counts && i < 6; ++i) {
      EXPECT_FALSE(row.counts(i, i)) << row.name;
      EXPECT_TRUE(row.counts(i, i + 1)) << row.name << ": its neighbour does";
    }
}

TEST(Couplings, WithoutBlendingAreIndependentWalkersToTheBit) {
  const auto alone = paths("");
  EXPECT_EQ(alone, paths("coupling = { method = \"ensemble\", blending = 0, refresh = 100 }\n"));
  EXPECT_EQ(alone, paths("coupling = { method = \"halves\", blending = 0, refresh = 100 }\n"));
  EXPECT_NE(alone, paths("coupling = { method = \"ensemble\", blending = 1, refresh = 100 }\n"));
}

TEST(Couplings, BytesDoNotDependOnThreads) {
  for (const char* method : {"ensemble", "halves"}) {
    const std::string coupling = fmt::format("coupling = {{ method = \"{}\", blending = 10, refresh = 50 }}\n", method);
    EXPECT_EQ(paths(coupling, 1), paths(coupling, 3)) << method;
  }
}

TEST(Couplings, EnsemblesKnowNothingOfEachOther) {
  const std::string two = "coupling = { method = \"ensemble\", blending = 10, refresh = 50, ensembles = 2 }\n";
  const auto both = paths(two);
  CoupledWalkers w(oscillators + two);
  w.settle({1, 100, 10});
  w.walkers[5].start(std::vector<double>{3, 0.3, 1});
  std::vector<std::vector<double>> other(6);
  w.run_for(400, [&](const Draw<double>& d) { other[d.walker].insert(other[d.walker].end(), d.q.begin(), d.q.end()); });
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(both[k], other[k]);
  for (std::size_t k = 3; k < 6; ++k) EXPECT_NE(both[k], other[k]) << "it is in the metric of " << k;
}

TEST(Couplings, OneOfTheHalvesRestsWhileTheOtherMoves) {
  CoupledWalkers w(oscillators + "coupling = { method = \"halves\", blending = 10, refresh = 10 }\n");
  w.settle({1, 100, 10});
  w.run_for(40, [&](const Draw<double>& d) {
    const std::uint64_t group = d.walker % 2, end = (d.reading.step + 9) / 10 * 10;
    for (const auto& chain : w.walkers)
      if (chain.walker() % 2 != group) {
        EXPECT_EQ(chain.steps(), group ? end : end - 10);
      }
  });
  for (const auto& chain : w.walkers) EXPECT_EQ(chain.steps(), 40u);
}

// In the middle of an interval, with everything that a checkpoint holds.
TEST(Couplings, ARestoredRunGoesOnBitForBit) {
  for (const char* method : {"ensemble", "halves"}) {
    const std::string file =
        oscillators + fmt::format("coupling = {{ method = \"{}\", blending = 20, refresh = 64 }}\n", method);
    CoupledWalkers whole(file), first(file), second(file);
    whole.settle({1, 100, 10}), first.settle({1, 100, 10});
    const auto nothing = [](const Draw<double>&) {};
    whole.run_for(300, nothing);
    // Stops at some step inside an interval, walkers at different ones.
    std::atomic<bool> interrupt = false;
    Plan plan;
    plan.steps = 300, plan.round = 300, plan.interrupt = &interrupt;
    run<double>(
        first.walkers, plan, first.couplings,
        [&](const Draw<double>& d) {
          if (d.walker == 2 && d.reading.step == 150) interrupt = true;
        },
        [](std::uint64_t) {});
    ASSERT_NE(first.walkers[4].steps(), first.walkers[0].steps());
    second.couplings.restore(first.couplings.states(), second.walkers);
    for (std::size_t w = 0; w < 6; ++w) second.walkers[w].restore(first.walkers[w].state());
    second.run_for(300, nothing);
    for (std::size_t w = 0; w < 6; ++w)
      EXPECT_TRUE(std::ranges::equal(whole.walkers[w].q(), second.walkers[w].q())) << method << ' ' << w;
  }
}

TEST(Couplings, FrozenEntriesStayWhereTheyAre) {
  CoupledWalkers w(
      oscillators +
      "model.freeze = [\"q[1]=0.25\"]\ncoupling = { method = \"ensemble\", blending = 10, refresh = 10 }\n");
  w.settle({1, 100, 10});
  w.run_for(100, [&](const Draw<double>& d) { EXPECT_EQ(d.q[1], 0.25); });
}

TEST(Couplings, StartsAtOnePointArePartedAndItIsSaid) {
  CoupledWalkers w(oscillators + "coupling = { method = \"ensemble\", blending = 10, spread = 0.5 }\n");
  std::vector<std::vector<double>> starts(6, {1, 2, 3});
  w.metric().part_starts(starts, 0);
  EXPECT_NE(starts[0], starts[1]);
  EXPECT_THAT(w.said.back(), HasSubstr("walkers 0 to 5 start at one point"));
  const auto apart = starts;
  w.metric().part_starts(starts, 0);
  EXPECT_EQ(starts, apart) << "nothing to do";
}

TEST(Couplings, ACollapsePutsAllWalkersAtTheFirstOrAtTheirMean) {
  for (const std::string where : {"first", "mean"}) {
    CoupledWalkers w(oscillators + "coupling = { collapse = \"" + where + "\", refresh = 10 }\n");
    w.settle({1, 100, 10});
    double mean = 0;
    for (auto& chain : w.walkers) mean += chain.q()[0] / 6;
    const double expected = where == "mean" ? mean : w.walkers[0].q()[0];
    Threads one(1);
    w.metric().meet(w.walkers, 0, 0, one);
    for (auto& chain : w.walkers) EXPECT_NEAR(chain.q()[0], expected, 1e-14);
    EXPECT_THAT(w.said.back(), HasSubstr("no samples of the posterior"));
  }
}

TEST(Couplings, StepsAllocateNothing) {
  CoupledWalkers w(oscillators + "coupling = { method = \"ensemble\", blending = 10 }\n");
  w.settle({1, 100, 10});
  Threads one(1);
  w.metric().meet(w.walkers, 0, 0, one);
  w.walkers[0].step();
  const std::size_t before = allocations;
  for (int n = 0; n < 10; ++n) w.walkers[0].step();
  EXPECT_EQ(allocations, before);
}

TEST(Stiffness, IsTheSquareOfTheStepTimesTheLargestCurvature) {
  std::vector<double> stiffness_of(64);
  for (std::size_t i = 0; i < 64; ++i) stiffness_of[i] = 2 + 198.0 * double(i) / 63;
  Walker<double> walker(gaussian(stiffness_of), moving("BAOAB", 0.125));
  const double found = stiffness(walker.chain, 30), few = stiffness(walker.chain);
  EXPECT_NEAR(found, 0.125 * 0.125 * 200, 1e-4);
  EXPECT_LT(few, found);
  EXPECT_GT(few, 0.95 * found);
  Walker<double> proposing(gaussian(stiffness_of), moving("R{(BAB)5}", 0.5));
  EXPECT_NEAR(stiffness(proposing.chain, 30), 0.1 * 0.1 * 200, 1e-4);
  Walker<double> overdamped(gaussian(stiffness_of), moving("S", 0.005));
  EXPECT_NEAR(stiffness(overdamped.chain, 30), 2 * 0.005 * 200, 1e-4) << "S is stable up to h a = 2";
}

// The Gaussian of 64 dimensions on which 8 walkers with blending 10 blow up at h = 0.125.
TEST(Couplings, ThatWouldBlowUpAreBlendedLessAndItIsSaid) {
  std::vector<double> stiffness_of(64);
  std::string list;
  for (std::size_t i = 0; i < 64; ++i) {
    stiffness_of[i] = 2 + 198.0 * double(i) / 63;
    list += (i ? ", " : "") + fmt::format("{}", stiffness_of[i]);
  }
  const std::string file = "steps = 1000\nwalkers = 8\nmodel.toy = { name = \"gaussian\", stiffness = [" + list +
                           "] }\npart.all = { step = 0.125, temperature = 1 }\n"
                           "coupling = { method = \"ensemble\", blending = 10, refresh = 1000 }\n";
  CoupledWalkers w(file);
  w.settle(stiffness_of);
  double energy = 0;
  w.run_for(4000, [&](const Draw<double>& d) { energy += d.reading.energy / 32000; });
  ASSERT_FALSE(w.said.empty());
  EXPECT_THAT(w.said.front(), HasSubstr("where 4 is the limit of stability; coupling.blending is halved to 5"));
  EXPECT_LT(w.metric().blending().front(), 10);
  EXPECT_GT(w.metric().blending().front(), 0);
  EXPECT_NEAR(energy, 32, 1) << "n T / 2";

  // Without that it would blow up indeed.
  CoupledWalkers same(file);
  same.settle(stiffness_of);
  std::vector<LargeArray<double>> points;
  for (auto& chain : same.walkers) points.emplace_back(chain.q().begin(), chain.q().end());
  const auto spread = std::make_shared<const PointCloud<double>>(cloud_of(points, {{0, 64}}));
  Chain<double>& chain = same.walkers[0];
  chain.move_in(std::make_unique<LowRankMetric<double>>(spread, std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7}, 10),
                points[0]);
  EXPECT_THAT(error_of([&] {
                for (int n = 0; n < 20000; ++n) chain.step();
              }),
              HasSubstr("has left the region"));
}

// 6 walkers spread as their law: the soft direction has 1 / softest of the variance, three others 1 each.
TEST(Couplings, SayWhereOneDirectionHoldsAllOfTheSpread) {
  const auto said = [](double softest) {
    CoupledWalkers w(
        fmt::format("steps = 1000\nwalkers = 6\nmodel.toy = {{ name = \"gaussian\", stiffness = [1, {}, 1, 1] }}\n"
                    "part.all = {{ step = 0.1, temperature = 1 }}\n"
                    "coupling = {{ method = \"ensemble\", blending = 1, refresh = 100 }}\n",
                    softest));
    w.settle({1, softest, 1, 1});
    w.run_for(500, [](const Draw<double>&) {});
    return w.said;
  };
  EXPECT_THAT(said(1e-6), ElementsAre(HasSubstr("one direction holds 100.0 % of the walkers' spread"))) << "once";
  EXPECT_THAT(said(0.05), ElementsAre()) << "87 % on average";
}

TEST(Couplings, RefuseWhatTheyCannotDo) {
  const auto error = [](const std::string& coupling) {
    return error_of([&] { CoupledWalkers w(oscillators + coupling); });
  };
  EXPECT_THAT(error("coupling = \"ensmble\"\n"), HasSubstr("no coupling \"ensmble\""));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", blending = -1 }\n"), HasSubstr("0 or above, not -1"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", blending = nan }\n"), HasSubstr("must be a number, not nan"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", refresh = 0 }\n"), HasSubstr("at least 1, not 0"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", ensembles = 4 }\n"), HasSubstr("6 walkers cannot be shared"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", ensembles = 3 }\n"), HasSubstr("at least 3 walkers"));
  EXPECT_THAT(error("coupling = { method = \"halves\", collapse = \"mean\" }\n"), HasSubstr("some rest"));
  EXPECT_THAT(error("coupling = { blending = 2 }\n"), HasSubstr("does nothing"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", over = \"layer\" }\n"), HasSubstr("known: all, part, block"));
}

const std::string two_parts =
    "steps = 10\nwalkers = 4\ndata = { generator = { name = \"spiral\", rows = 20 } }\nprecision = \"double\"\n"
    "model = { layers = [2, 3, 1], loss = \"binary_cross_entropy\", prior = 1.0 }\n";

TEST(Couplings, AcrossPartsNeedOneTemperature) {
  const std::string parts =
      "[part.a]\nblocks = [\"layer1.*\"]\ntemperature = 0.1\n[part.b]\nblocks = [\"layer2.*\"]\ntemperature = 0.2\n";
  const std::string coupling = "[coupling]\nmethod = \"ensemble\"\nblending = 1\n";
  EXPECT_THAT(error_of([&] { CoupledWalkers w(two_parts + parts + coupling); }),
              HasSubstr("part \"b\" has another temperature than \"a\""));
  CoupledWalkers apart(two_parts + parts + coupling + "over = \"part\"\n");
  apart.run_for(10, [](const Draw<double>&) {});
  CoupledWalkers blocks(two_parts + parts + coupling + "over = \"block\"\n");
  blocks.run_for(10, [](const Draw<double>&) {});
}

TEST(Couplings, ChooseTheCoordinatesAloneAndInFlatSpace) {
  const std::string coupling = "[coupling]\nmethod = \"ensemble\"\nblending = 1\n";
  EXPECT_THAT(
      error_of([&] {
        CoupledWalkers w(two_parts + "[part.all]\nconstraint = { name = \"circle\", radius = 1.0 }\n" + coupling);
      }),
      HasSubstr("constraint of part \"all\""));
  EXPECT_THAT(error_of([&] { CoupledWalkers w(two_parts + "warmup = 10\nadapt.metric = \"diagonal\"\n" + coupling); }),
              HasSubstr("both change the coordinates"));
}

// A part that waits at some gradients still needs those of the others there: B' g mixes them.
TEST(Couplings, AcrossPartsTakeAllGradientsThatTheyMix) {
  const std::string parts =
      "[part.a]\nblocks = [\"layer1.*\"]\nscheme = \"(OBA)2\"\n[part.b]\nblocks = [\"layer2.*\"]\nscheme = \"OBA.A\"\n";
  CoupledWalkers w(two_parts + parts + "[coupling]\nmethod = \"ensemble\"\nblending = 1000\n");
  w.run_for(10, [](const Draw<double>&) {});
  Chain<double>& chain = w.walkers[0];
  chain.step();  // the last gradient was asked for by part a alone
  std::vector<double> x(chain.x().begin(), chain.x().end()), g(x.size()), q(chain.q().begin(), chain.q().end()),
      raw(x.size());
  Energy<double> energy = *w.problem.energy;
  energy(q, {}, raw);
  chain.gradient_at(x, g);
  double along = 0, expected = 0;  // x . B'g = q . g
  for (std::size_t i = 0; i < x.size(); ++i) along += x[i] * g[i], expected += q[i] * raw[i];
  EXPECT_NEAR(along, expected, 1e-12);
}

TEST(Couplings, ShortIntervalsGetAdvice) {
  CoupledWalkers w(oscillators + "coupling = { method = \"ensemble\", blending = 1, refresh = 10 }\n");
  EXPECT_THAT(w.said, ElementsAre(HasSubstr("coupling.refresh = 10 is short")));
  CoupledWalkers halves(oscillators + "coupling = { method = \"halves\", blending = 1, refresh = 10 }\n");
  EXPECT_TRUE(halves.said.empty());
}

}  // namespace
}  // namespace kelvin
