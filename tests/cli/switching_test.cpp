// SPDX-License-Identifier: Apache-2.0
// Infinite-switch simulated tempering: the force is that of one energy, and weighted draws follow the law asked for.
#include <gmock/gmock.h>

#include "tests/evaluated.h"
#include "kelvin/energy/switched.h"
#include "kelvin/trajectory/samples.h"
#include "tests/program.h"
#include "tests/walkers.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

constexpr double highest = 1 / 0.15;

std::string well(const std::string& more = "") {
  return "steps = 1\nmodel.toy = \"double_well\"\nswitching = { highest = 6.6667, nodes = 12 }\n" + more;
}
const std::string moves = "warmup = 20000\npart.all = { step = 0.1, temperature = 0.5 }\n";

// W as a function of q, by differences of W; and its weights, from U alone.
TEST(Switching, ForceAndWeightsAreThoseOfOneEnergy) {
  const Choice toy("double_well");
  auto plain = make_toy<double>(toy);
  Energy<double> switched(make_toy<double>(toy));
  switched.law = switching_law<double>({0.5, highest, 12, 300});
  std::vector<double> q = {0.3}, g(1), other(1), slope(1);
  for (int n = 0; n < 400; ++n) {  // three looks, at points all over; then frozen
    q[0] = 1.5 * std::sin(n);
    switched(q, {}, g);
  }
  const std::vector<double> learnt(switched.memory().begin(), switched.memory().end());
  double previous = NAN, before = NAN;
  for (double x = -1.4; x < 1.4; x += 0.1) {
    const double eps = 1e-5;
    const double ahead = switched(std::vector<double>{x + eps}, {}, other);
    const double behind = switched(std::vector<double>{x - eps}, {}, other);
    const double W = switched(std::vector<double>{x}, {}, g);
    EXPECT_NEAR(g[0], (ahead - behind) / (2 * eps), 1e-8);  // the error of a central difference is eps^2
    const double U = evaluated(*plain, std::vector<double>{x}, {}, slope);
    EXPECT_DOUBLE_EQ(switched.asked_for(W, std::vector<double>{x}).energy, U);
    EXPECT_NEAR(switched.asked_for(W, std::vector<double>{x}).slope * g[0], slope[0], 1e-12);
    // exp(-U/T) / exp(-W/T), up to a constant
    const double weight = switched.log_weight(std::vector<double>{x}) + (U - W) / 0.5;
    if (!std::isnan(previous)) {
      EXPECT_NEAR(weight, previous, 1e-12);
    }
    EXPECT_NE(W - U, before);
    previous = weight, before = W - U;
  }
  EXPECT_EQ(learnt, std::vector<double>(switched.memory().begin(), switched.memory().end()));
}

struct Weighed {
  std::vector<double> weights, right, energies;
  // Ratio of means; its error from 50 batches of both.
  Estimate mean(const std::vector<double>& x) const {
    std::vector<double> product;
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += weights[i] * x[i], total += weights[i];
    for (std::size_t i = 0; i < x.size(); ++i) product.push_back(weights[i] * (x[i] - sum / total));
    Estimate e = estimate(product);
    return {sum / total, e.error * double(x.size()) / total};
  }
  double worth() const {
    double sum = 0, squares = 0;
    for (const double w : weights) sum += w, squares += w * w;
    return sum * sum / squares / double(weights.size());
  }
};

Weighed drawn(Chain<double>& chain, std::uint64_t warmup, std::uint64_t steps) {
  Weighed out;
  for (std::uint64_t n = 0; n < warmup; ++n) chain.step();
  for (std::uint64_t n = 0; n < steps; ++n) {
    chain.step_and_read();
    out.weights.push_back(std::exp(chain.reading().log_weight));
    out.right.push_back(chain.q()[0] > 0), out.energies.push_back(chain.reading().energy);
  }
  return out;
}

// The double well at T = 0.5, with Z learnt in the warm-up. Unweighted, the same draws are far from it.
TEST(Switching, WeightedDrawsFollowTheLawOfTheDoubleWell) {
  CoupledWalkers w(well(moves));
  const Weighed draws = drawn(w.walkers[0], 20000, 400000);
  const Estimate right = draws.mean(draws.right), energy = draws.mean(draws.energies);
  EXPECT_LT(std::abs(right.mean - 0.276823), 4 * right.error + 0.002) << right.mean << " +- " << right.error;
  EXPECT_LT(std::abs(energy.mean - 0.162211), 4 * energy.error + 0.002) << energy.mean << " +- " << energy.error;
  EXPECT_LT(right.error, 0.012) << "too few to tell";
  EXPECT_NEAR(draws.worth(), 0.74, 0.05);
  EXPECT_GT(std::abs(estimate(draws.right).deviation(0.276823)), 4);
  EXPECT_GT(std::abs(estimate(draws.energies).deviation(0.162211)), 10);
}

// On a Gaussian Z_k is known: its slope in log g_k is -d/2.
TEST(Switching, LearnsThePartitionFunctionsOfAGaussian) {
  CoupledWalkers w(
      "steps = 1\nwarmup = 60000\nmodel.toy = { name = \"gaussian\", dimension = 4 }\n"
      "switching = { highest = 4.0, nodes = 9 }\npart.all = { step = 0.5, temperature = 1 }\n");
  for (int n = 0; n < 60001; ++n) w.walkers[0].step();
  const auto memory = w.walkers[0].state().anchor;
  const double origin = memory[2 * 9 + 1];
  for (std::size_t k = 0; k < 9; ++k) {
    const double g = std::pow(4.0, -double(k) / 8);
    // log Z_k of U less where it is counted from, and less that of the first
    EXPECT_NEAR(memory[k], -2 * std::log(g) - (1 - g) * origin, 0.1) << k;
  }
  EXPECT_NEAR(memory[8], 2 * std::log(4.0) - 0.75 * origin, 0.1);
}

TEST(Switching, IsFrozenAfterTheWarmupAndGoesOnBitForBit) {
  CoupledWalkers one(well(moves)), two(well(moves));
  for (int n = 0; n < 5000; ++n) one.walkers[0].step();
  const ChainState<double> kept = one.walkers[0].state();
  two.walkers[0].restore(kept);
  for (int n = 0; n < 20000; ++n) one.walkers[0].step(), two.walkers[0].step();
  one.walkers[0].step_and_read(), two.walkers[0].step_and_read();
  EXPECT_EQ(one.walkers[0].state().q, two.walkers[0].state().q);
  EXPECT_EQ(one.walkers[0].state().anchor, two.walkers[0].state().anchor);
  EXPECT_EQ(one.walkers[0].reading().log_weight, two.walkers[0].reading().log_weight);
  const auto frozen = one.walkers[0].state().anchor;
  EXPECT_NE(frozen, kept.anchor);
  for (int n = 0; n < 500; ++n) one.walkers[0].step();
  EXPECT_EQ(one.walkers[0].state().anchor, frozen);
}

TEST(Switching, RefusesWhatItCannotWeigh) {
  const auto refused = [](const std::string& more, const std::string& because) {
    try {
      CoupledWalkers w(more);
      ADD_FAILURE() << more;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(because)) << more;
    }
  };
  const std::string warm = "warmup = 1000\n";
  refused(well("part.all = { temperature = 0.5 }\n"), "at least 1000 steps");
  refused(well(warm + "part.all = { temperature = 0.0 }\n"), "one constant temperature above 0");
  refused(well(warm + "part.all = { temperature = 0.5, scheme = \"ABOBA\" }\n"), "evaluated last");
  refused(well(warm + "part.all = { temperature = 0.5, scheme = \"R{(BAB)5}\" }\n"), "evaluated last");
  refused(well(warm + "part.all = { temperature = 0.5, scheme = \"nuts\" }\n"), "evaluated last");
  refused(well(warm + "adapt.step = true\npart.all = { temperature = 0.5 }\n"), "[adapt]");
  refused("switching = 0.5\nsteps = 1\nmodel.toy = \"double_well\"\n", "a factor above 1");
  refused("switching = { highest = 4.0, nodes = 1 }\nsteps = 1\nmodel.toy = \"double_well\"\n", "switching.nodes");
  refused(
      "steps = 1\nwarmup = 1000\nbatch = 5\nswitching = 4.0\ndata = { generator = { name = \"spiral\", rows = 50 } }\n"
      "model = { layers = [2, 3, 1], loss = \"binary_cross_entropy\", prior = 1.0 }\npart.all = { temperature = 1.0 "
      "}\n",
      "minibatches");
}

// What a run leaves is its weighted draws: means over those that are shown are those of the law.
TEST(Switching, ARunShowsDrawsOfTheLawAskedFor) {
  const Desk desk;
  std::string file = well(moves);
  file.replace(file.find("steps = 1\n"), 10, "steps = 100000\nevery = 5\n");
  desk.write("run.toml", file);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o run").code, 0) << desk.read(".err");
  const Samples samples = open_samples(desk.path("run"));
  EXPECT_NEAR(samples.worth, 0.74, 0.06);
  const Estimate energy = estimate(samples.statistic("potential", 0));
  EXPECT_LT(std::abs(energy.mean - 0.162211), 4 * energy.error + 0.002) << energy.mean << " +- " << energy.error;
}

}  // namespace
}  // namespace kelvin
