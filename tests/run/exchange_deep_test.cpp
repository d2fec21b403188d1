// SPDX-License-Identifier: Apache-2.0
// Exchanges that know their losses only from minibatches.
#include <bit>

#include "kelvin/ensemble/exchange.h"
#include "kelvin/run/run.h"
#include "tests/support.h"

namespace kelvin {
namespace {

// The loss of a row is that of the well plus or minus 8, by chance at every point, of which the gradient knows nothing:
// only exchanges see it. The mean of 16 batches of 4 rows has an error of deviation 1.
class RowsWithNoise final : public Potential<double> {
 public:
  const std::vector<Block>& blocks() const override { return list_; }
  std::size_t rows() const override { return 100000; }
  double operator()(Weights<const double> q, const Evaluation& e, Weights<double> g) override {
    const double x = *q[0];
    *g[0] = 12 * x * (x * x - 1) + 0.25;
    double sum = 0;
    for (const std::uint32_t row : e.rows) {
      std::uint64_t mixed = std::bit_cast<std::uint64_t>(x) + row * 0x9e3779b97f4a7c15u;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      sum += (mixed >> 63 ? 8 : -8) / double(e.rows.size());
    }
    return 3 * (x * x - 1) * (x * x - 1) + 0.25 * x + sum;
  }
  std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<RowsWithNoise>(*this); }

 private:
  std::vector<Block> list_{{.name = "q"}};
};

// P(x > 0) at the coldest of four temperatures, with `batches` of `rows` at each attempt.
Estimate with_noisy_losses(long batches, const std::string& rows) {
  EnsembleSettings settings;
  settings.walkers = 4, settings.batch = {.size = {rows}};
  settings.exchange.temperatures = {1, 1.8, 3.4, 6}, settings.exchange.every = 10, settings.exchange.batches = batches;
  const RowsWithNoise potential;
  const Recipe recipe = recipe_for(potential, moving("BAOAB", 0.12, 1, 0.5));
  Comm alone;
  const Remark silent = [](std::string_view) {};
  Couplings<double> couplings(CoupledRun{settings, recipe, alone, silent});
  const Noise<double> noise;
  std::vector<Chain<double>> walkers;
  for (std::uint32_t w = 0; w < 4; ++w)
    walkers.emplace_back(potential.clone(), recipe, Batches(settings.batch, potential.rows(), 1, w), noise, 1, w);
  couplings.begin(walkers);
  for (auto& chain : walkers) chain.start(std::vector<double>{-1});
  std::vector<double> right;
  Plan plan;
  plan.steps = plan.round = 1'000'000, plan.every = 5;
  kelvin::run<double>(
      walkers, plan, couplings,
      [&](const Draw<double>& d) {
        if (d.walker == 0) right.push_back(d.q[0] > 0);
      },
      [](std::uint64_t) {});
  return estimate(right);
}

TEST(ExchangeSlow, OfNoisyLossesIsExactWithItsPenaltyOnly) {
  const Estimate right = with_noisy_losses(16, "4");
  EXPECT_LT(std::abs(right.mean - 0.276823), 4 * right.error + 0.002) << right.mean << " +- " << right.error;
  EXPECT_LT(right.error, 0.005);
  // The control: one batch of all 64 rows has the same noise, and nothing to tell it by.
  const Estimate wrong = with_noisy_losses(1, "64");
  EXPECT_GT(wrong.deviation(0.276823), 4) << wrong.mean << " +- " << wrong.error;
  EXPECT_NEAR(wrong.mean, 0.319, 4 * wrong.error);
}

}  // namespace
}  // namespace kelvin
