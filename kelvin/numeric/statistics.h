// SPDX-License-Identifier: Apache-2.0
// Convergence statistics: R-hat, effective sample sizes and Monte Carlo errors (Vehtari, Gelman, Simpson, Carpenter and
// Buerkner 2021; the numbers of R's package posterior), and autocorrelation times. All take the draws of one quantity,
// one vector a walker, all of one length. They are nan for draws that are constant or not all finite.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kelvin {

using Chains = std::vector<std::vector<double>>;  // walkers x draws

double rhat(const Chains&);      // larger of those of ranks and of folded ranks, halves as chains
double ess_bulk(const Chains&);  // of the ranks
double ess_tail(const Chains&);  // the smaller of those of the 5 % and 95 % quantiles
double ess_mean(const Chains&);  // of the draws as they are
double ess_sd(const Chains&);    // of |x - <x>|
double ess_quantile(const Chains&, double share);

double mcse_mean(const Chains&);
double mcse_sd(const Chains&);
double mcse_quantile(const Chains&, double share);

double mean(const Chains&);
double deviation(const Chains&);                                          // with n - 1
double quantile_of_sorted(std::span<const double> sorted, double share);  // R's type 7
double quantile(const Chains&, double share);

// All that a row of a summary shows; sorts once, so it is cheaper than one by one.
struct Convergence {
  double mean, deviation, mcse_mean, low, median, high, ess_bulk, ess_tail, rhat;
};
Convergence convergence(const Chains&);

// At the first lags, divided by the number of draws.
std::vector<double> autocovariance(std::span<const double>, std::size_t lags = ~std::size_t(0));
std::vector<double> autocorrelation(const Chains&);  // averaged over walkers, each about its own mean

// tau = 1 + 2 sum of autocorrelations: so many draws are worth one independent draw.
struct AutocorrelationTime {
  double tau = 0;
  std::size_t draws = 0;        // that each walker has
  std::size_t missing = 0;      // draws to come until each walker has 50 tau of them; until then tau is a guess
  std::string refusal() const;  // says so in one sentence; empty if nothing is missing
};
// Sum up to the first lag that is 5 tau or more, and 10 (Sokal 1989), autocorrelations averaged over walkers.
AutocorrelationTime windowed_autocorrelation_time(const Chains&);
// Adds neighbours until lags up to 10 are enough (Goodman's acor), covariances averaged over walkers.
AutocorrelationTime reduced_autocorrelation_time(const Chains&);

// Of one series whose entries carry noise of a known variance, correlated with no other: what lies below the noise,
// with tau taken up to the first lag that is 5 tau/2 or more. However short the series, it answers.
struct NoisySeries {
  double mean = 0, variance = 0, tau = 1;
};
NoisySeries noisy_series(std::span<const double>, double noise);

// Ranks of all draws, ties averaged, first rank 1; walkers x draws.
Chains ranks(const Chains&);

}  // namespace kelvin
