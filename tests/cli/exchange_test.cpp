// SPDX-License-Identifier: Apache-2.0
// Replica exchange: how often positions are exchanged, what the cold walker samples, and what may not be asked for.
#include <gmock/gmock.h>

#include <numeric>

#include "kelvin/trajectory/samples.h"
#include "tests/program.h"
#include "tests/walkers.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

// Walkers of a run file that exchange positions, and what happens at each attempt.
struct Ladder : CoupledWalkers {
  std::vector<std::vector<double>> chance;  // of each pair of neighbours, at its attempts
  std::vector<std::vector<double>> seen;    // of each walker: its first coordinate

  explicit Ladder(const std::string& toml) : CoupledWalkers(toml) {
    couplings.begin(walkers);
    chance.resize(exchange().now().tries.size());
    seen.resize(walkers.size());
  }
  Exchange<double>& exchange() { return *couplings.find<Exchange<double>>(); }

  void go(std::uint64_t steps, std::uint64_t every = 1) {
    Plan plan;
    plan.steps = steps, plan.round = exchange().every(), plan.every = every;
    std::vector<double> tries(chance.size(), 0), sums(tries);
    kelvin::run<double>(
        walkers, plan, couplings, [&](const Draw<double>& d) { seen[d.walker].push_back(d.q[0]); },
        [&](std::uint64_t) {
          const ExchangeState& s = exchange().now();
          for (std::size_t k = 0; k < chance.size(); ++k) {
            if (s.tries[k] > tries[k]) chance[k].push_back((s.chance[k] - sums[k]) / (s.tries[k] - tries[k]));
            tries[k] = s.tries[k], sums[k] = s.chance[k];
          }
        });
  }
};

std::string well(const std::string& exchange, double step = 0.1) {
  return fmt::format(
      "steps = 1\nmodel.toy = {{ name = \"double_well\", height = 3.0, tilt = 0.25 }}\n"
      "part.all = {{ step = {}, temperature = 0.5 }}\nexchange = {{ {} }}\n",
      step, exchange);
}

std::vector<double> right_of_0(std::vector<double> x) {
  for (double& v : x) v = v > 0;
  return x;
}

TEST(Exchange, AColdWalkerOfHigherEnergyAlwaysSwaps) {
  EXPECT_EQ(log_swap_chance(0.5, 3), 0);
  EXPECT_DOUBLE_EQ(log_swap_chance(0.5, -3), -1.5);
  EXPECT_DOUBLE_EQ(log_swap_chance(0.5, -3, 2), -1.5 - 0.25);  // an error that is known: b^2 error / 2
}

// <exp(-u)> over the scatter of an error estimated from n normals is exp(-x/2) for the true x, to the order of the
// series; without its higher terms it is not.
TEST(Exchange, ThePenaltyAllowsForTheErrorOfTheError) {
  constexpr std::size_t n = 8, repeats = 200000;
  constexpr double x = 0.5;
  std::vector<double> mean, plain;
  std::vector<double> z(n);
  for (std::size_t r = 0; r < repeats; ++r) {
    normals({stream_key(3, "penalty"), 0, r, 0}, 0, std::span(z));
    const double middle = std::accumulate(z.begin(), z.end(), 0.0) / n;
    double square = 0;
    for (const double v : z) square += x * (v - middle) * (v - middle) / (n - 1);
    mean.push_back(std::exp(log_swap_chance(1, -100, square, n) + 100));
    plain.push_back(std::exp(log_swap_chance(1, -100, square) + 100));
  }
  EXPECT_LT(std::abs(estimate(mean).deviation(std::exp(-x / 2))), 4);
  EXPECT_GT(std::abs(estimate(plain).deviation(std::exp(-x / 2))), 10);
}

struct GaussianCase {
  int dimension;
  double ratio, acceptance;
  std::uint64_t attempts;
};

// 2 I_{1/(1 + ratio)}(d/2, d/2), which BAOAB does not bias.
TEST(Exchange, OfGaussiansIsAcceptedAsTheLawSays) {
  for (const auto& [dimension, ratio, acceptance, attempts] :
       {GaussianCase{2, 2, 2.0 / 3, 4000}, GaussianCase{10, 1.5, 0.533135, 4000},
        GaussianCase{100, 1.2, 0.363506, 3000}, GaussianCase{1000, 1.05, 0.440583, 1000}}) {
    Ladder ladder(
        fmt::format("steps = 1\nmodel.toy = {{ name = \"gaussian\", dimension = {} }}\npart.all = {{ step = 0.5, "
                    "temperature = 1 }}\n"
                    "exchange = {{ temperatures = [1, {}], every = 8 }}\n",
                    dimension, ratio));
    std::vector<double> q(std::size_t(dimension), 0);
    for (Chain<double>& chain : ladder.walkers) {
      normals({stream_key(5, "settle"), chain.walker(), 0, 0}, 0, std::span(q));
      for (double& x : q) x *= std::sqrt(chain.walker() ? ratio : 1);
      chain.start(q);
    }
    ladder.go(16 * attempts, 16 * attempts);
    const Estimate e = estimate(ladder.chance[0]);
    EXPECT_LT(std::abs(e.deviation(acceptance)), 4) << dimension << ": " << e.mean << " +- " << e.error;
    EXPECT_LT(e.error, 0.02);
  }
}

// Neighbouring temperatures and the law at each of them, on a double well whose barrier is 6 T. Alone, a walker that
// starts on the right is found there far too often.
TEST(Exchange, BringsEveryWalkerOverTheBarrierAtItsOwnTemperature) {
  Ladder ladder(well("temperatures = [1, 1.8, 3.4, 6], every = 5"));
  ladder.go(300000);
  const double exact[] = {0.7476, 0.7669, 0.8432};
  for (std::size_t k = 0; k < 3; ++k) {
    const Estimate e = estimate(ladder.chance[k]);
    EXPECT_LT(std::abs(e.mean - exact[k]), 4 * e.error + 0.003) << k << ": " << e.mean << " +- " << e.error;  // O(h^2)
    EXPECT_LT(e.error, 0.005);
  }
  // P(x > 0) and <x^2> at T = 0.5, 0.9, 1.7 and 3, by quadrature
  const double right[] = {0.276823, 0.375400, 0.437275, 0.465579};
  const double square[] = {0.959965, 0.906133, 0.846472, 0.834095};
  for (std::size_t k = 0; k < 4; ++k) {
    const Estimate P = estimate(right_of_0(ladder.seen[k]));
    EXPECT_LT(std::abs(P.mean - right[k]), 4 * P.error + 0.002) << k << ": " << P.mean << " +- " << P.error;
    EXPECT_LT(P.error, 0.008);
    std::vector<double> squares = ladder.seen[k];
    for (double& x : squares) x *= x;
    const Estimate S = estimate(squares);
    EXPECT_LT(std::abs(S.mean - square[k]), 4 * S.error + 0.003) << k << ": " << S.mean << " +- " << S.error;
    // the control: the next temperature's law would be told apart
    if (k < 2) {
      EXPECT_GT(std::abs(P.mean - right[k + 1]), 4 * P.error + 0.002) << k;
    }
  }
  EXPECT_GT(ladder.exchange().now().trips, 100);
}

// 25 equal modes, 2 apart with deviation 0.2: barriers of 12 T. Each has its share 1/25 in the cold walkers' draws.
TEST(Exchange, FindsEveryModeOfAMixtureAsOftenAsItsWeightSays) {
  Ladder ladder(
      "steps = 1\nmodel.toy = { name = \"mixture\", sd = 0.2 }\npart.all = { step = 0.1, temperature = 1 }\n"
      "exchange = { rungs = 5, highest = 16.0, every = 5, ladders = 2 }\n");
  std::vector<std::vector<double>> visits(25);
  Plan plan;
  plan.steps = plan.round = 200000, plan.every = 4;
  kelvin::run<double>(
      ladder.walkers, plan, ladder.couplings,
      [&](const Draw<double>& d) {
        if (d.walker % 5 != 0) return;
        const auto tooth = [](double x) { return std::clamp(std::lround(x / 2), -2L, 2L) + 2; };
        for (std::size_t k = 0; k < 25; ++k) visits[k].push_back(std::size_t(5 * tooth(d.q[0]) + tooth(d.q[1])) == k);
      },
      [](std::uint64_t) {});
  double worst = 0, chi = 0;
  for (const auto& mode : visits) {
    const Estimate e = estimate(mode);
    EXPECT_LT(e.error, 0.01);
    worst = std::max(worst, std::abs(e.deviation(0.04))), chi += std::pow(e.deviation(0.04), 2);
  }
  EXPECT_LT(worst, 4);
  EXPECT_LT(chi, 25 + 4 * std::sqrt(50.0));
  // The control: alone, a walker stays where it starts, in the middle.
  Walker<double> alone(Choice("mixture", {{"sd", 0.2}}), moving("BAOAB", 0.1));
  std::size_t middle = 0;
  for (int n = 0; n < 100000; ++n) {
    alone.chain.step();
    middle += std::abs(alone.chain.q()[0]) < 1 && std::abs(alone.chain.q()[1]) < 1;
  }
  EXPECT_GT(middle, 50000u);
}

TEST(Exchange, LaddersKnowNothingOfEachOther) {
  Ladder one(well("temperatures = [1, 2, 4], every = 7")),
      two(well("temperatures = [1, 2, 4], every = 7, ladders = 2"));
  one.go(2000), two.go(2000);
  EXPECT_EQ(one.seen[0], two.seen[0]);
  EXPECT_NE(two.seen[0], two.seen[3]);
  std::vector<int> seen(6, 0);
  for (const auto& chain : two.walkers) {
    ++seen[chain.replica()];
    EXPECT_EQ(chain.replica() / 3, chain.walker() / 3);
  }
  EXPECT_EQ(seen, std::vector<int>(6, 1));
}

TEST(Exchange, DoesNotDependOnThreads) {
  Ladder a(well("temperatures = [1, 2, 4], every = 7")), b(well("temperatures = [1, 2, 4], every = 7"));
  std::vector<double> first, second;
  a.run_for(500, [&](const Draw<double>& d) {
    if (d.walker == 0) first.push_back(d.q[0]);
  });
  b.run_for(
      500,
      [&](const Draw<double>& d) {
        if (d.walker == 0) second.push_back(d.q[0]);
      },
      3);
  EXPECT_EQ(first, second);
}

// What travels is found again where it arrives: the point on its manifold, momenta tangent to it, scaled by the heat.
TEST(Exchange, MomentaTravelWithTheirPoint) {
  Ladder ladder(
      "steps = 1\nmodel.toy = { name = \"gaussian\", dimension = 3 }\n"
      "part.all = { step = 0.1, temperature = 1, constraint = { name = \"norm\", radius = 1.0, biases = true } }\n"
      "exchange = { temperatures = [1, 4], every = 3 }\n");
  ladder.go(3000);
  EXPECT_GT(ladder.exchange().now().swaps[0], 100);  // U is constant on the sphere
  for (Chain<double>& chain : ladder.walkers) {
    chain.step_and_read();
    EXPECT_LT(chain.reading().parts[0].residual, 1e-9);
    EXPECT_LT(chain.reading().parts[0].tangency, 1e-9);
  }
  const std::vector<double> p(ladder.walkers[1].p().begin(), ladder.walkers[1].p().end());
  ladder.walkers[0].take(ladder.walkers[1].replica_now());
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_DOUBLE_EQ(ladder.walkers[0].p()[i], p[i] / 2);
}

// 10 dimensions: a ladder with one wide and two narrow gaps becomes geometric.
TEST(Exchange, LearnsTemperaturesOfEqualAcceptance) {
  EXPECT_EQ(evened_out({1, 2, 4}, {0.5, 0.5}), (std::vector<double>{1, 2, 4}));
  EXPECT_NEAR(evened_out({1, 2, 4}, {0.4, 0.8})[1], std::pow(2.0, 2.0 / 3), 1e-12);
  CoupledWalkers ladder(
      "steps = 1\nwarmup = 40000\nmodel.toy = { name = \"gaussian\", dimension = 10 }\n"
      "part.all = { step = 0.5, temperature = 1 }\n"
      "exchange = { temperatures = [1, 1.1, 1.2, 8], every = 8, adapt = true }\n");
  ladder.couplings.begin(ladder.walkers);
  Plan plan;
  plan.warmup = 40000, plan.steps = 40000, plan.round = 10000, plan.every = 40000;
  kelvin::run<double>(
      ladder.walkers, plan, ladder.couplings, [](const Draw<double>&) {}, [](std::uint64_t) {});
  const ExchangeState& s = ladder.couplings.find<Exchange<double>>()->now();
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(s.rungs[k], std::pow(2.0, double(k)), 0.1 * std::pow(2.0, double(k)));
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(s.chance[k] / s.tries[k], s.chance[0] / s.tries[0], 0.04);
  EXPECT_EQ(s.counted, 4999u);  // of the warm-up none
  EXPECT_THAT(ladder.said.back(), HasSubstr("exchange.adapt has found the temperatures [1, "));
}

TEST(Exchange, RefusesWhatMakesNoSense) {
  const auto refused = [](const std::string& more, const std::string& because) {
    try {
      Ladder ladder(more);
      ADD_FAILURE() << more;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(because)) << more;
    }
  };
  refused(well("temperatures = [2, 4]"), "two or more factors that rise from 1");
  refused(well("temperatures = [1]"), "two or more factors that rise from 1");
  refused(well("temperatures = [1, 4, 2]"), "two or more factors that rise from 1");
  refused(well("rungs = 3"), "make no ladder");
  refused(well("rungs = 3, highest = 0.5"), "make no ladder");
  refused(well("temperatures = [1, 2], highest = 4.0"), "exclude each other");
  refused(well("temperatures = [1, 2], every = 0"), "exchange.every must be at least 1");
  refused(well("temperatures = [1, 2], ladders = 0"), "exchange.ladders must be at least 1");
  refused(well("temperatures = [1, 2], batches = 1"), "at least 2");
  refused(well("temperatures = [1, 2], batches = 8"), "needs minibatches");
  refused(well("temperatures = [1, 2], adapt = true"), "needs a warm-up");
  refused("walkers = 3\n" + well("temperatures = [1, 2]"), "takes 2 walkers, not 3");
  refused("coupling = { method = \"ensemble\", blending = 1.0 }\n" + well("temperatures = [1, 2, 4]"), "keep one");
  refused("switching = 4.0\nwarmup = 1000\n" + well("temperatures = [1, 2, 4]"), "keep one");
  refused(well("temperatures = [1, 2], tempratures = 3"), "did you mean");
  std::string cooling = well("temperatures = [1, 2]");
  cooling.replace(cooling.find("temperature = 0.5"), 17, "temperature = { name = \"linear\", from = 1.0, to = 0.5 }");
  refused(cooling, "one constant temperature above 0");
  std::string paced = well("temperatures = [1, 2]");
  paced.replace(paced.find("temperature = 0.5"), 17, "temperature = 0.5, scheme = \"samadams\"");
  refused(paced, "plain time and momenta");
}

TEST(Exchange, LeavesTheColdWalkersToBeLookedAt) {
  const Desk desk;
  std::string file = well("temperatures = [1, 2, 4], every = 10, ladders = 2");
  file.replace(file.find("steps = 1\n"), 10, "steps = 1000\nevery = 10\n");
  desk.write("run.toml", file);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o run").code, 0) << desk.read(".err");
  const Samples cold = open_samples(desk.path("run")), all = open_samples(desk.path("run"), Which::every);
  EXPECT_EQ(cold.walkers, 2u);
  ASSERT_EQ(all.walkers, 6u);
  EXPECT_EQ(cold.block("q", 1), all.block("q", 3));
  EXPECT_EQ(cold.running_mean("q", 1), all.running_mean("q", 3));
  EXPECT_EQ(cold.statistic("replica", 1), all.statistic("replica", 3));
  const Outcome summary = desk.kelvin("summary run");
  EXPECT_THAT(summary.out, HasSubstr("2 walkers"));
}

}  // namespace
}  // namespace kelvin
