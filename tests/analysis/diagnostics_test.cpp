// SPDX-License-Identifier: Apache-2.0
// Diagnostics against R's package posterior (tests/posterior_reference.R made the files) and against exact values.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "kelvin/core/error.h"
#include "kelvin/numeric/distribution.h"
#include "kelvin/numeric/statistics.h"
#include "tests/files.h"
#include "tests/json.h"

namespace kelvin {
namespace {

double number(const Json& value) { return value.null() ? NAN : value.as<double>(); }

// R's numbers have 15 digits; sums are taken in another order and transforms have another length.
void expect_same(double ours, const Json& theirs, const std::string& what) {
  if (theirs.null()) EXPECT_TRUE(std::isnan(ours)) << what << " is " << ours << ", not NA";
  else EXPECT_NEAR(ours, double(theirs), 1e-9 * std::abs(double(theirs)) + 1e-14) << what;
}

TEST(Diagnostics, AgreeWithPosteriorOnEveryStoredDrawSet) {
  struct Row {
    const char* name;
    double (*value)(const Chains&);
  };
  const Row rows[] = {{"mean", mean},         {"deviation", deviation}, {"rhat", rhat},
                      {"ess_bulk", ess_bulk}, {"ess_tail", ess_tail},   {"ess_mean", ess_mean},
                      {"ess_sd", ess_sd},     {"mcse_mean", mcse_mean}, {"mcse_sd", mcse_sd}};
  struct ShareRow {
    const char* name;
    double (*value)(const Chains&, double);
  };
  const ShareRow share_rows[] = {
      {"quantile", quantile}, {"ess_quantile", ess_quantile}, {"mcse_quantile", mcse_quantile}};
  std::size_t sets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KELVIN_SOURCE_DIR "/tests/reference")) {
    const std::string name = entry.path().stem();
    if (!name.starts_with("posterior_")) continue;
    ++sets;
    const Json file = Json::parse(bytes_of(entry.path()));
    Chains chains;
    for (const Json& draws : file["draws"]) {
      auto& mine = chains.emplace_back();
      for (const Json& x : draws) mine.push_back(number(x));
    }
    for (const Row& r : rows) expect_same(r.value(chains), file[r.name], name + " " + r.name);
    const double shares[] = {0.05, 0.5, 0.95};
    for (const ShareRow& r : share_rows)
      for (std::size_t k = 0; k < 3; ++k)
        expect_same(r.value(chains, shares[k]), file[r.name][k], name + " " + r.name + " " + std::to_string(k));
    const Convergence all = convergence(chains);
    expect_same(all.rhat, file["rhat"], name + " rhat at once");
    expect_same(all.ess_bulk, file["ess_bulk"], name + " ess_bulk at once");
    expect_same(all.ess_tail, file["ess_tail"], name + " ess_tail at once");
    expect_same(all.mcse_mean, file["mcse_mean"], name + " mcse_mean at once");
    expect_same(all.low, file["quantile"][0], name + " 5 % at once");
  }
  EXPECT_EQ(sets, 16u);
}

TEST(Diagnostics, AnInfiniteDrawOrNoneAtAllGivesNan) {
  Chains chains = {{1, 2, 3, 4, 5, 6, 7, 8}, {2, 1, 4, 3, 6, 5, 8, INFINITY}};
  for (const auto f : {rhat, ess_bulk, ess_tail, ess_mean, ess_sd, mcse_sd}) {
    EXPECT_TRUE(std::isnan(f(chains)));
    EXPECT_TRUE(std::isnan(f({{}, {}})));
    EXPECT_TRUE(std::isnan(f({})));
  }
  EXPECT_TRUE(std::isnan(windowed_autocorrelation_time(chains).tau));
  EXPECT_TRUE(std::isnan(reduced_autocorrelation_time({}).tau));
  chains[1].pop_back();
  EXPECT_THROW(rhat(chains), Error);
}

Chains autoregressive(std::size_t walkers, std::size_t draws, double rho, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Chains chains(walkers);
  for (auto& x : chains) {
    x.push_back(normal(random));
    while (x.size() < draws) x.push_back(rho * x.back() + std::sqrt(1 - rho * rho) * normal(random));
  }
  return chains;
}

using Estimator = AutocorrelationTime (*)(const Chains&);

// tau = (1 + rho) / (1 - rho) = 19 for rho = 0.9. Over 24 seeds the mean must lie within four of its standard errors,
// which must be small enough to tell 19 from 17 (expected: tau sqrt(2 (2 * 5 tau + 1) / draws / seeds) = 0.27 for the
// window).
TEST(Diagnostics, AutocorrelationTimeOfAnAutoregressionIsNineteen) {
  for (const Estimator estimator : {windowed_autocorrelation_time, reduced_autocorrelation_time}) {
    double sum = 0, square = 0;
    constexpr unsigned seeds = 24;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      const AutocorrelationTime time = estimator(autoregressive(4, 20000, 0.9, seed));
      EXPECT_EQ(time.missing, 0u);
      EXPECT_EQ(time.refusal(), "");
      sum += time.tau, square += time.tau * time.tau;
    }
    const double mean = sum / seeds, error = std::sqrt((square / seeds - mean * mean) / (seeds - 1));
    EXPECT_LT(error, 0.6);
    EXPECT_NEAR(mean, 19, 4 * error);
  }
}

TEST(Diagnostics, AutocorrelationTimeOfIndependentDrawsIsOneAndOfAntitheticOnesLess) {
  for (const Estimator estimator : {windowed_autocorrelation_time, reduced_autocorrelation_time}) {
    EXPECT_NEAR(estimator(autoregressive(4, 20000, 0, 5)).tau, 1, 0.05);
    EXPECT_NEAR(estimator(autoregressive(4, 20000, -0.5, 5)).tau, 1. / 3, 0.05);
    std::vector<double> wave(20000);
    for (std::size_t n = 0; n < wave.size(); ++n) wave[n] = std::cos(double(n) * std::acos(-1.0) / 6);
    EXPECT_DOUBLE_EQ(estimator({wave}).tau, 1 / std::log10(20000.0))
        << "autocorrelations up to a window sum to less than 0";
  }
}

TEST(Diagnostics, AShortChainIsRefusedWithTheNumberOfDrawsMissing) {
  for (const Estimator estimator : {windowed_autocorrelation_time, reduced_autocorrelation_time}) {
    const AutocorrelationTime time = estimator(autoregressive(2, 300, 0.9, 3));
    EXPECT_EQ(time.draws, 300u);
    EXPECT_EQ(time.draws + time.missing, std::size_t(std::ceil(50 * time.tau)));
    EXPECT_GT(time.missing, 100u);
    EXPECT_NE(time.refusal().find(std::to_string(time.missing) + " more draws"), std::string::npos) << time.refusal();
  }
}

TEST(Diagnostics, AutocovarianceEqualsItsSum) {
  const std::vector<double> x = autoregressive(1, 37, 0.6, 9)[0];
  const double m = mean({x});
  const auto measured = autocovariance(x);
  for (std::size_t t = 0; t < x.size(); ++t) {
    double sum = 0;
    for (std::size_t i = 0; i + t < x.size(); ++i) sum += (x[i] - m) * (x[i + t] - m);
    EXPECT_NEAR(measured[t], sum / double(x.size()), 1e-14);
  }
}

// From R: qnorm, pbeta, qbeta, qchisq.
TEST(Diagnostics, QuantilesOfDistributionsAreThoseOfR) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-13);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-16);
  EXPECT_NEAR(normal_quantile(1 - 1e-9), -normal_quantile(1e-9), 1e-7);
  EXPECT_NEAR(beta_share(2, 3, 0.4), 0.5248, 1e-14);
  EXPECT_NEAR(beta_quantile(0.1586553, 51, 951), 0.0439743803308283, 1e-13);
  for (const double p : {0.01, 0.5, 0.99})
    EXPECT_NEAR(beta_share(12.5, 340.25, beta_quantile(p, 12.5, 340.25)), p, 1e-12);
  EXPECT_NEAR(chi_square_quantile(0.975, 10), 20.4831773508074, 1e-11);
  EXPECT_NEAR(chi_square_quantile(0.005, 100), 67.32756330547917, 1e-11);
  EXPECT_NEAR(chi_square_quantile(0.005, 1), 3.92704222205159e-05, 1e-15);
  EXPECT_NEAR(chi_square_quantile(0.995, 1e6), 1003646.529258481, 1e-5);
}

TEST(Diagnostics, RanksOfTiesAreTheirAverage) { EXPECT_EQ(ranks({{3, 1}, {1, 7}}), (Chains{{3, 1.5}, {1.5, 4}})); }

}  // namespace
}  // namespace kelvin
