// SPDX-License-Identifier: Apache-2.0
// Statistics of coupled walkers: an ensemble is one chain.
#include "kelvin/analysis/posterior/ensembles.h"

#include <cmath>

#include "kelvin/core/noise.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using testing::Not;

// x' = a x + sqrt(1 - a^2) z: variance 1, tau = (1 + a)/(1 - a).
std::vector<double> autoregressive(std::uint32_t walker, double a, std::size_t draws) {
  std::vector<double> x(draws);
  normals({stream_key(5, "series"), walker, 0, 0}, 0, std::span(x));
  for (std::size_t i = 1; i < draws; ++i) x[i] = a * x[i - 1] + std::sqrt(1 - a * a) * x[i];
  return x;
}

TEST(EnsembleStatistics, WalkersThatMoveAsOneCountOnce) {
  const auto x = autoregressive(0, 0.5, 8000), y = autoregressive(1, 0.5, 8000);
  const Convergence together = ensemble_convergence({x, x, x, x, y, y, y, y}, 4), alone = convergence({x, y}),
                    naive = convergence({x, x, x, x, y, y, y, y});
  EXPECT_NEAR(together.mcse_mean / alone.mcse_mean, 1, 1e-6);
  EXPECT_NEAR(together.ess_bulk / alone.ess_bulk, 1, 0.05);  // of ranks or of the draws as they are
  EXPECT_NEAR(together.ess_tail / alone.ess_tail, 1, 0.05);
  EXPECT_NEAR(together.rhat, alone.rhat, 1e-12);
  EXPECT_GT(naive.ess_bulk, 3 * together.ess_bulk) << "the control";
  EXPECT_NEAR(together.ess_bulk, 16000 / 3.0, 0.15 * 16000 / 3);
}

TEST(EnsembleStatistics, IndependentWalkersLoseNothing) {
  Chains walkers;
  for (std::uint32_t w = 0; w < 8; ++w) walkers.push_back(autoregressive(w, 0.5, 4000));
  const Convergence together = ensemble_convergence(walkers, 4), alone = convergence(walkers);
  EXPECT_NEAR(together.mcse_mean / alone.mcse_mean, 1, 0.15);
  EXPECT_NEAR(together.ess_bulk / alone.ess_bulk, 1, 0.3);
  EXPECT_NEAR(together.ess_tail / alone.ess_tail, 1, 0.3);
  EXPECT_EQ(together.mean, alone.mean);
  EXPECT_EQ(together.median, alone.median);
  EXPECT_LT(together.rhat, 1.01);
}

TEST(EnsembleStatistics, EnsemblesThatDisagreeAreFoundOut) {
  Chains walkers;
  for (std::uint32_t w = 0; w < 8; ++w) {
    walkers.push_back(autoregressive(w, 0.5, 4000));
    for (double& x : walkers.back()) x += w < 4 ? 0 : 0.2;
  }
  EXPECT_GT(ensemble_convergence(walkers, 4).rhat, 1.03);
  EXPECT_LT(convergence(walkers).rhat, 1.03) << "walkers one by one would be less sure of it";
}

TEST(EnsembleStatistics, OfOneWalkerAreThoseOfChains) {
  const Chains walkers = {autoregressive(0, 0.5, 1000), autoregressive(1, 0.5, 1000)};
  EXPECT_EQ(ensemble_convergence(walkers, 1).ess_bulk, convergence(walkers).ess_bulk);
  EXPECT_EQ(ensemble_means(walkers, 1), walkers);
}

TEST(EnsembleStatistics, AreWhatDiagnoseAndSummaryTell) {
  const Desk desk;
  desk.write(
      "run.toml",
      "steps = 20000\nwarmup = 1000\nevery = 10\nwalkers = 8\n"
      "model = { toy = { name = \"gaussian\", stiffness = [1.0, 10.0] } }\npart.all = { step = 0.2, temperature = 1 }\n"
      "coupling = { method = \"ensemble\", blending = 5, refresh = 500 }\n");
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o one").code, 0) << desk.read(".err");
  EXPECT_THAT(desk.kelvin("diagnose one").out, HasSubstr("use coupling.ensembles = 2"));
  EXPECT_THAT(desk.kelvin("summary one").out, HasSubstr("coupled, 8 in an ensemble"));
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o two --set coupling.ensembles=2").code, 0) << desk.read(".err");
  const std::string healthy = desk.kelvin("diagnose two").out;
  EXPECT_THAT(healthy, HasSubstr("Healthy"));
  EXPECT_THAT(healthy, HasSubstr("every ensemble of walkers has"));
  EXPECT_THAT(healthy, Not(HasSubstr("cannot disagree")));
}

// Walkers that start at one point and are put back to it at every look move as one for a while: an ensemble of them has
// hardly more to tell than one walker, and an analysis that takes them one by one is sure of too much.
TEST(EnsembleStatistics, AreWhatAnalysesTell) {
  const Desk desk;
  desk.write("run.toml",
             "steps = 40000\nwarmup = 1000\nevery = 10\nwalkers = 8\n"
             "model = { toy = { name = \"gaussian\", stiffness = [1.0, 10.0] } }\n"
             "part.all = { step = 0.2, temperature = 1, friction = 20 }\n"
             "coupling = { method = \"ensemble\", blending = 0.001, refresh = 20, collapse = \"first\" }\n");
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o run").code, 0) << desk.read(".err");
  const auto found = [&](const std::string& arguments) {
    return Json::parse(desk.kelvin("analyse " + arguments + " --json").out);
  };
  const auto first = [](const Json& finding) { return finding.at("tables").at(0).at("rows").at(0); };
  const double mean_error = first(found("averages run --quantities 'q[0]'")).at("error");
  const auto times = found("autocorrelation run --quantities 'q[0]'");
  const auto row = first(times);
  const double sd = first(found("averages run --quantities 'q[0]'")).at("sd");
  EXPECT_NEAR(row.at("independent_draws").as<double>() * mean_error * mean_error / (sd * sd), 1, 0.25)
      << "two estimates of one error";
  EXPECT_LT(row.at("independent_draws").as<double>() * row.at("tau_windowed").as<double>(), 0.5 * 8 * 4000)
      << "walkers one by one would count as 8 chains";
  EXPECT_THAT(times.at("words").dump(), HasSubstr("8 count as one"));
  const auto spectrum = found("covariance run"), alone = found("covariance run --walker 0");
  EXPECT_THAT(spectrum.at("words").dump(), HasSubstr("8 count as one"));
  EXPECT_THAT(alone.at("words").dump(), Not(HasSubstr("count as one")));
  const double together = first(spectrum).at("error"), one = first(alone).at("error");
  EXPECT_GT(together, 0.6 * one) << "8 independent walkers would have 0.35 of it";
}

}  // namespace
}  // namespace kelvin
