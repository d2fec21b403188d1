// SPDX-License-Identifier: Apache-2.0
#include "kelvin/numeric/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <unsupported/Eigen/FFT>

#include "kelvin/core/error.h"
#include "kelvin/numeric/distribution.h"
#include "kelvin/numeric/mean.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

double variance_of(std::span<const double> x) {
  const double error = mean_of(x).error;
  return error * error * double(x.size());
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
      low = std::min(low, v);
      high = std::max(high, v);
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

// Draws in order of size, and where they came from.
struct Placed {
  double value;
  std::uint32_t walker, draw;
};
using Order = std::vector<Placed>;

Order in_order(const Chains& chains) {
  Order order;
  for (std::size_t w = 0; w < chains.size(); ++w)
    for (std::size_t i = 0; i < chains[w].size(); ++i)
      order.push_back({chains[w][i], std::uint32_t(w), std::uint32_t(i)});
  std::sort(order.begin(), order.end(), [](const Placed& a, const Placed& b) { return a.value < b.value; });
  return order;
}

// The order of |x - median|: from the middle of the order of x outwards.
Order folded_order(const Order& order, double median) {
  const auto distance = [&](Placed p) {
    p.value = std::abs(p.value - median);
    return p;
  };
  auto right = std::lower_bound(order.begin(), order.end(), median,
                                [](const Placed&p, double value) { return p.value < value; }),
       left = right;
  Order out;
  out.reserve(order.size());
  while (out.size() < order.size()) {
    const bool go_left =
        right == order.end() || (left != order.begin() && distance(left[-1]).value < distance(*right).value);
    out.push_back(distance(go_left ? *--left : *right++));
  }
  return out;
}

// f(rank) at each draw's place, ranks from 1, those of ties averaged.
template <class F>
Chains ranked(const Order& order, std::size_t walkers, F&& f) {
  Chains out(walkers, std::vector<double>(order.size() / std::max<std::size_t>(1, walkers)));
  for (std::size_t i = 0, j; i < order.size(); i = j) {
    for (j = i + 1; j < order.size() && order[j].value == order[i].value;) ++j;
    const double value = f(double(i + 1 + j) / 2);
    for (std::size_t k = i; k < j; ++k) out[order[k].walker][order[k].draw] = value;
  }
  return out;
}

// z = Phi^-1((rank - 3/8) / (S + 1/4)), known for whole ranks: z of rank S + 1 - r is -z of r.
class NormalScores {
 public:
  explicit NormalScores(std::size_t count) : count_(count) {
    for (std::size_t r = 1; 2 * r <= count; ++r) lower_.push_back(exact(double(r)));
  }
  Chains of(const Order& order, std::size_t walkers) const {
    return ranked(order, walkers, [&](double rank) { return score(rank); });
  }

 private:
  double exact(double rank) const { return normal_quantile((rank - 0.375) / (double(count_) + 0.25)); }
  double score(double rank) const {
    const double mirrored = double(count_ + 1) - rank;
    if (rank > mirrored) return -score(mirrored);
    const auto r = std::size_t(rank);
    return double(r) == rank && r <= lower_.size() ? lower_[r - 1] : exact(rank);
  }
  std::size_t count_;
  std::vector<double> lower_;
};

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
  for (const auto& x : chains) {
    means.push_back(mean_of(x).value);
    variances.push_back(variance_of(x));
  }
  return std::sqrt((n * variance_of(means) / mean_of(variances).value + n - 1) / n);
}

constexpr std::size_t few_lags = 64;  // so many are summed; for more of them a transform is faster

// Draws over tau = 1 + 2 sum rho_t: rho from all chains together, summed in pairs while these are positive, and made to
// decrease (Geyer 1992).
double basic_ess(const Chains& chains, std::size_t lags = few_lags) {
  const std::size_t n = chains.front().size();
  if (n < 3 || hopeless(chains)) return NAN;
  if (lags > few_lags) lags = n;
  lags = std::min(lags, n);
  std::vector<double> covariance(lags, 0.0), means;
  for (const auto& x : chains) {
    const auto mine = autocovariance(x, lags);
    for (std::size_t t = 0; t < lags; ++t) covariance[t] += mine[t] / double(chains.size());
    means.push_back(mean_of(x).value);
  }
  const double within = covariance[0] * double(n) / double(n - 1);
  const double total = covariance[0] + (chains.size() > 1 ? variance_of(means) : 0);
  const auto rho_at = [&](std::size_t t) { return 1 - (within - covariance[t]) / total; };
  std::vector<double> rho(lags, 0.0);
  double even = 1, odd = rho_at(1);
  rho[0] = even;
  rho[1] = odd;
  std::size_t last = 0;
  while (last + 5 < n && even + odd > 0) {
    last += 2;
    if (last + 1 >= lags) return basic_ess(chains, n);
    even = rho_at(last);
    odd = rho_at(last + 1);
    if (even + odd >= 0) {
      rho[last] = even;
      rho[last + 1] = odd;
    }
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

double smaller_known(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

double larger_known(double a, double b) { return -smaller_known(-a, -b); }

AutocorrelationTime judged(double tau, std::size_t draws) {
  constexpr double enough = 50;
  tau = std::max(tau, 1 / std::log10(double(draws)));  // shorter ones, of chains that oscillate, are lost in noise
  AutocorrelationTime time{tau, draws, 0};
  if (std::isfinite(tau) && double(draws) < enough * tau) time.missing = std::size_t(std::ceil(enough * tau)) - draws;
  return time;
}

}  // namespace

Chains ranks(const Chains& chains) {
  return ranked(in_order(chains), chains.size(), [](double rank) { return rank; });
}

std::vector<double> autocovariance(std::span<const double> x, std::size_t lags) {
  const std::size_t n = x.size();
  lags = std::min(lags, n);
  std::size_t padded = 1;
  while (padded < 2 * n) padded *= 2;
  std::vector<double> values(lags <= few_lags ? n : padded, 0.0);
  const double m = mean_of(x).value;
  for (std::size_t i = 0; i < n; ++i) values[i] = x[i] - m;
  if (lags <= few_lags) {
    std::vector<double> out(lags);
    for (std::size_t t = 0; t < lags; ++t)
      out[t] =
          dot(std::span<const double>(values).first(n - t), std::span<const double>(values).subspan(t)) / double(n);
    return out;
  }
  Eigen::FFT<double> transform;
  std::vector<std::complex<double>> waves;
  transform.fwd(waves, values);
  for (auto& w : waves) w = std::norm(w);
  transform.inv(values, waves);
  values.resize(lags);
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

NoisySeries noisy_series(std::span<const double> x, double noise) {
  constexpr double least_share = 1e-3;  // of the variance that is no noise
  NoisySeries s;
  const auto n = double(x.size());
  for (const double v : x) s.mean += v / n;
  const auto covariance = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < x.size(); ++i) sum += (x[i] - s.mean) * (x[i - lag] - s.mean);
    return sum / n;
  };
  const double all = covariance(0);
  s.variance = std::max(all - noise, least_share * all);
  double half = 0.5;  // of tau
  for (std::size_t lag = 1; lag < x.size() / 2 && double(lag) < 5 * half; ++lag) half += covariance(lag) / s.variance;
  s.tau = 2 * std::max(half, 0.5);
  return s;
}

double mean(const Chains& chains) { return mean_of(pooled(chains)).value; }
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

double rhat(const Chains& chains) { return convergence(chains).rhat; }
double ess_bulk(const Chains& chains) { return convergence(chains).ess_bulk; }
double ess_tail(const Chains& chains) { return smaller_known(ess_quantile(chains, 0.05), ess_quantile(chains, 0.95)); }
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
  const bool silent = hopeless(chains);
  if (std::isnan(mean(chains))) return {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  const Chains halves = split(chains);
  const Order order = in_order(halves);
  std::vector<double> sorted;
  if (order.size() == chains.size() * chains.front().size())
    for (const Placed& p : order) sorted.push_back(p.value);
  else sorted = sorted_draws(chains);  // of an odd number, the halves lack one
  const auto at = [&](double share) { return quantile_of_sorted(sorted, share); };
  Convergence c{mean(chains), deviation(chains), NAN, at(0.05), at(0.5), at(0.95), NAN, NAN, NAN};
  if (silent) return c;
  const NormalScores scores(order.size());
  const Chains bulk = scores.of(order, halves.size());
  c.mcse_mean = c.deviation / std::sqrt(basic_ess(halves));
  c.ess_bulk = basic_ess(bulk);
  c.ess_tail = smaller_known(ess_below(chains, sorted, 0.05), ess_below(chains, sorted, 0.95));
  c.rhat = larger_known(basic_rhat(bulk), basic_rhat(scores.of(folded_order(order, c.median), halves.size())));
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
    const double m = mean_of(walker).value;
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
