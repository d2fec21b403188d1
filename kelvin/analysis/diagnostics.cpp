// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <unsupported/Eigen/FFT>

#include "kelvin/analysis/distribution.h"
#include "kelvin/core/error.h"

namespace kelvin {
namespace {

double mean_of(std::span<const double> x) {
  double sum = 0, rest = 0;
  for (const double v : x) sum += v;
  sum /= double(x.size());
  for (const double v : x) rest += v - sum;  // what rounding left out
  return sum + rest / double(x.size());
}

double variance_of(std::span<const double> x) {
  const double m = mean_of(x);
  double square = 0;
  for (const double v : x) square += (v - m) * (v - m);
  return square / (double(x.size()) - 1);
}

std::vector<double> pooled(const Chains& chains) {
  std::vector<double> all;
  for (const auto& x : chains) all.insert(all.end(), x.begin(), x.end());
  return all;
}

std::vector<double> sorted_draws(const Chains& chains) {
  auto all = pooled(chains);
  std::sort(all.begin(), all.end());
  return all;
}

// Too few, not finite or all the same: nothing can be said.
bool hopeless(const Chains& chains) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto& x : chains) {
    if (x.size() != chains.front().size())
      throw Error("chains have {} and {} draws; give chains of one length", chains.front().size(), x.size());
    for (const double v : x) {
      if (!std::isfinite(v)) return true;
      low = std::min(low, v), high = std::max(high, v);
    }
  }
  return low > high || high - low < std::numeric_limits<double>::epsilon();
}

template <class F>
Chains mapped(const Chains& chains, F&& f) {
  Chains out = chains;
  for (auto& x : out)
    for (double& v : x) v = f(v);
  return out;
}

// Halves as chains of their own; of an odd number the middle draw is left out.
Chains split(const Chains& chains) {
  Chains halves;
  for (const auto& x : chains) {
    const std::size_t n = x.size(), half = n / 2;
    if (n < 2) return chains;
    halves.emplace_back(x.begin(), x.begin() + long(half));
    halves.emplace_back(x.end() - long(half), x.end());
  }
  return halves;
}

// z = Phi^-1((rank - 3/8) / (S + 1/4)).
Chains normal_scores(const Chains& chains) {
  const double count = double(chains.size() * chains.front().size());
  return mapped(ranks(chains), [&](double rank) { return normal_quantile((rank - 0.375) / (count + 0.25)); });
}

Chains folded(const Chains& chains, double median) {
  return mapped(chains, [&](double x) { return std::abs(x - median); });
}

Chains below(const Chains& chains, double limit) {
  return mapped(chains, [&](double x) { return double(x <= limit); });
}

// sqrt((B / W + n - 1) / n): variance between chains B (times n) over that within W.
double basic_rhat(const Chains& chains) {
  if (hopeless(chains)) return NAN;
  const double n = double(chains.front().size());
  std::vector<double> means, variances;
  for (const auto& x : chains) means.push_back(mean_of(x)), variances.push_back(variance_of(x));
  return std::sqrt((n * variance_of(means) / mean_of(variances) + n - 1) / n);
}

// Draws over tau = 1 + 2 sum rho_t: rho from all chains together, summed in pairs while these are positive, and made to
// decrease (Geyer 1992).
double basic_ess(const Chains& chains) {
  const std::size_t n = chains.front().size();
  if (n < 3 || hopeless(chains)) return NAN;
  std::vector<double> covariance(n, 0.0), means;
  for (const auto& x : chains) {
    const auto mine = autocovariance(x);
    for (std::size_t t = 0; t < n; ++t) covariance[t] += mine[t] / double(chains.size());
    means.push_back(mean_of(x));
  }
  const double within = covariance[0] * double(n) / double(n - 1);
  const double total = covariance[0] + (chains.size() > 1 ? variance_of(means) : 0);
  const auto rho_at = [&](std::size_t t) { return 1 - (within - covariance[t]) / total; };
  std::vector<double> rho(n, 0.0);
  double even = 1, odd = rho_at(1);
  rho[0] = even, rho[1] = odd;
  std::size_t last = 0;
  while (last + 5 < n && even + odd > 0) {
    last += 2;
    even = rho_at(last), odd = rho_at(last + 1);
    if (even + odd >= 0) rho[last] = even, rho[last + 1] = odd;
  }
  if (even > 0) rho[last] = even;
  for (std::size_t t = 2; t + 2 <= last; t += 2)
    if (rho[t] + rho[t + 1] > rho[t - 2] + rho[t - 1]) rho[t] = rho[t + 1] = (rho[t - 2] + rho[t - 1]) / 2;
  double sum = last == 0 ? rho[0] : 0;
  for (std::size_t t = 0; t < last; ++t) sum += rho[t];
  const double draws = double(n * chains.size());
  return draws / std::max(2 * sum - 1 + rho[last], 1 / std::log10(draws));
}

double ess_below(const Chains& chains, std::span<const double> sorted, double share) {
  if (share == 1) share = 1 - 0.5 / double(sorted.size());
  return basic_ess(split(below(chains, quantile_of_sorted(sorted, share))));
}

double smaller(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

double rhat_about(const Chains& chains, double median) {
  const double bulk = basic_rhat(normal_scores(split(chains)));
  const double tail = basic_rhat(normal_scores(split(folded(chains, median))));
  return -smaller(-bulk, -tail);
}

AutocorrelationTime judged(double tau, std::size_t draws) {
  constexpr double enough = 50;
  AutocorrelationTime time{tau, draws, 0};
  if (std::isfinite(tau) && double(draws) < enough * tau) time.missing = std::size_t(std::ceil(enough * tau)) - draws;
  return time;
}

}  // namespace

Chains ranks(const Chains& chains) {
  struct Place {
    double value;
    std::size_t walker, draw;
  };
  std::vector<Place> places;
  for (std::size_t w = 0; w < chains.size(); ++w)
    for (std::size_t i = 0; i < chains[w].size(); ++i) places.push_back({chains[w][i], w, i});
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.value < b.value; });
  Chains out = chains;
  for (std::size_t i = 0, j; i < places.size(); i = j) {
    for (j = i + 1; j < places.size() && places[j].value == places[i].value;) ++j;
    for (std::size_t k = i; k < j; ++k) out[places[k].walker][places[k].draw] = double(i + 1 + j) / 2;
  }
  return out;
}

std::vector<double> autocovariance(std::span<const double> x) {
  const std::size_t n = x.size();
  std::size_t padded = 1;
  while (padded < 2 * n) padded *= 2;
  std::vector<double> values(padded, 0.0);
  const double m = mean_of(x);
  for (std::size_t i = 0; i < n; ++i) values[i] = x[i] - m;
  Eigen::FFT<double> transform;
  std::vector<std::complex<double>> waves;
  transform.fwd(waves, values);
  for (auto& w : waves) w = std::norm(w);
  transform.inv(values, waves);
  values.resize(n);
  for (double& v : values) v /= double(n);
  return values;
}

std::vector<double> autocorrelation(const Chains& chains) {
  if (chains.empty() || hopeless(chains)) return {};
  std::vector<double> rho(chains.front().size(), 0.0);
  std::size_t moving = 0;
  for (const auto& x : chains) {
    const auto mine = autocovariance(x);
    if (!(mine[0] > 0)) continue;
    ++moving;
    for (std::size_t t = 0; t < rho.size(); ++t) rho[t] += mine[t] / mine[0];
  }
  for (double& r : rho) r = moving ? r / double(moving) : NAN;
  return rho;
}

double mean(const Chains& chains) { return mean_of(pooled(chains)); }
double deviation(const Chains& chains) { return std::sqrt(variance_of(pooled(chains))); }

double quantile_of_sorted(std::span<const double> sorted, double share) {
  if (sorted.empty()) return NAN;
  const double at = 1 + double(sorted.size() - 1) * share, below = std::floor(at), h = at - below;
  const std::size_t i = std::size_t(below) - 1, j = std::size_t(std::ceil(at)) - 1;
  return sorted[i] == sorted[j] ? sorted[i] : (1 - h) * sorted[i] + h * sorted[j];
}

double quantile(const Chains& chains, double share) {
  const auto sorted = sorted_draws(chains);
  return std::any_of(sorted.begin(), sorted.end(), [](double x) { return std::isnan(x); })
             ? NAN
             : quantile_of_sorted(sorted, share);
}

double rhat(const Chains& chains) { return hopeless(chains) ? NAN : rhat_about(chains, quantile(chains, 0.5)); }
double ess_bulk(const Chains& chains) { return hopeless(chains) ? NAN : basic_ess(normal_scores(split(chains))); }
double ess_tail(const Chains& chains) { return smaller(ess_quantile(chains, 0.05), ess_quantile(chains, 0.95)); }
double ess_mean(const Chains& chains) { return hopeless(chains) ? NAN : basic_ess(split(chains)); }
double ess_sd(const Chains& chains) { return hopeless(chains) ? NAN : basic_ess(split(folded(chains, mean(chains)))); }
double ess_quantile(const Chains& chains, double share) {
  return hopeless(chains) ? NAN : ess_below(chains, sorted_draws(chains), share);
}

double mcse_mean(const Chains& chains) { return deviation(chains) / std::sqrt(ess_mean(chains)); }

// Var(sd) = Var(variance) / (4 variance).
double mcse_sd(const Chains& chains) {
  if (hopeless(chains)) return NAN;
  const double m = mean(chains);
  const Chains squares = mapped(chains, [&](double x) { return (x - m) * (x - m); });
  const double square = mean(squares), fourth = mean(mapped(squares, [](double s) { return s * s; }));
  return std::sqrt((fourth - square * square) / ess_mean(squares) / square / 4);
}

// Half the distance between the order statistics at the +-1 sigma quantiles of the share's beta distribution.
double mcse_quantile(const Chains& chains, double share) {
  const double ess = ess_quantile(chains, share);
  if (std::isnan(ess)) return NAN;
  const auto sorted = sorted_draws(chains);
  const double count = double(sorted.size());
  const auto at = [&](double p) { return count * beta_quantile(p, ess * share + 1, ess * (1 - share) + 1); };
  const double low = std::max(std::floor(at(0.1586553)), 1.0), high = std::min(std::ceil(at(0.8413447)), count);
  return (sorted[std::size_t(high) - 1] - sorted[std::size_t(low) - 1]) / 2;
}

Convergence convergence(const Chains& chains) {
  if (chains.empty() || chains.front().empty()) return {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  const auto sorted = sorted_draws(chains);
  const bool numbers = std::none_of(sorted.begin(), sorted.end(), [](double x) { return std::isnan(x); });
  const auto at = [&](double share) { return numbers ? quantile_of_sorted(sorted, share) : NAN; };
  Convergence c{mean(chains), deviation(chains), NAN, at(0.05), at(0.5), at(0.95), NAN, NAN, NAN};
  if (hopeless(chains)) return c;
  c.mcse_mean = c.deviation / std::sqrt(ess_mean(chains));
  c.ess_bulk = ess_bulk(chains);
  c.ess_tail = smaller(ess_below(chains, sorted, 0.05), ess_below(chains, sorted, 0.95));
  c.rhat = rhat_about(chains, c.median);
  return c;
}

std::string AutocorrelationTime::refusal() const {
  if (!missing) return {};
  return fmt::format(
      "an autocorrelation time needs 50 of itself: tau is about {:.3g} draws and each walker has {}, so {} more draws "
      "a walker are missing",
      tau, draws, missing);
}

AutocorrelationTime windowed_autocorrelation_time(const Chains& chains) {
  constexpr double window = 5, shortest = 10;  // a window of few lags ends too soon where autocorrelations alternate
  const auto rho = autocorrelation(chains);
  const std::size_t draws = chains.empty() ? 0 : chains.front().size();
  if (rho.empty()) return {NAN, draws, 0};
  double tau = 1;
  for (std::size_t t = 1; t < rho.size() && double(t) < std::max(shortest, window * tau); ++t) tau += 2 * rho[t];
  return judged(tau, draws);
}

// Sums of neighbours y_i = x_2i + x_2i+1 have half the autocorrelation time and sum_s cov(y_0, y_s) = 2 sum_s cov(x_0,
// x_s): halve until that time is so short that ten lags hold all of the sum.
AutocorrelationTime reduced_autocorrelation_time(const Chains& chains) {
  constexpr std::size_t lags = 10, fewest = 5 * lags;
  constexpr double short_enough = 2;
  const std::size_t draws = chains.empty() ? 0 : chains.front().size();
  if (chains.empty() || hopeless(chains)) return {NAN, draws, 0};
  Chains x = chains;
  for (auto& walker : x) {
    const double m = mean_of(walker);
    for (double& v : walker) v -= m;
  }
  double variance = 0, total = 0;
  for (double scale = 1;; scale *= 2) {
    const std::size_t n = x.front().size();
    double covariance = 0, own = 0;
    for (const auto& v : x)
      for (std::size_t s = 0; s <= std::min(lags, n - 1); ++s) {
        double sum = 0;
        for (std::size_t i = 0; i + s < n; ++i) sum += v[i] * v[i + s];
        sum /= double((n - s) * x.size());
        covariance += s ? 2 * sum : sum;
        if (s == 0) own += sum;
      }
    if (scale == 1) variance = own;
    total = covariance / scale;
    if (covariance < short_enough * own || n / 2 < fewest) break;
    for (auto& v : x) {
      for (std::size_t i = 0; i < n / 2; ++i) v[i] = v[2 * i] + v[2 * i + 1];
      v.resize(n / 2);
    }
  }
  return judged(total / variance, draws);
}

}  // namespace kelvin
