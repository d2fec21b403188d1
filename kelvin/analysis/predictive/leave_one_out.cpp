// SPDX-License-Identifier: Apache-2.0
// What the posterior without a row would have said of that row, from the draws of the posterior with it: Pareto
// smoothed importance sampling (Vehtari, Gelman and Gabry 2017; Vehtari, Simpson, Gelman, Yao and Gabry 2024). With
//   r_s = p(y_i | q_s)^(-1/tau),   tau = N T the posterior temperature,
// the largest r_s of a row are replaced by quantiles of a generalised Pareto law fitted to them, and
//   elpd_i = log ( sum_s r_s p(y_i | q_s) / sum_s r_s ).
// The law's shape k says whether that can be trusted: up to about 0.7.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kelvin/analysis/analysis.h"
#include "kelvin/analysis/predictive/mixture.h"
#include "kelvin/analysis/predictive/predictive.h"
#include "kelvin/energy/loss.h"
#include "kelvin/numeric/statistics.h"

namespace kelvin {
namespace {

struct LeaveOneOutOptions {
  long every = 1;
  std::size_t rows = 10000;
  bool recompute_statistics = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("every", every, "every so many stored draws");
    field("rows", rows, "training rows that are left out in turn: at most so many, evenly spaced", {.range = positive});
    field("recompute_statistics", recompute_statistics, meaning_of_recomputing);
  }
};

constexpr std::size_t fewest_draws_of_a_tail = 5, fewest_draws_to_smooth = 100;

// ---- the generalised Pareto law

struct ParetoLaw {
  double k = NAN, sigma = NAN;
  double quantile(double share) const { return sigma * std::expm1(-k * std::log1p(-share)) / k; }
};

// Of exceedances in rising order: Zhang and Stephens 2009, with a weak prior that draws k towards 1/2 for short tails.
ParetoLaw fitted(const std::vector<double>& x) {
  const double n = double(x.size());
  const auto m = std::size_t(30 + std::floor(std::sqrt(n)));
  const double quarter = x[std::size_t(n / 4 + 0.5) - 1];
  const auto shape = [&](double theta) {
    double sum = 0;
    for (const double v : x) sum += std::log1p(-theta * v);
    return sum / n;
  };
  std::vector<double> thetas, logs;
  for (std::size_t j = 1; j <= m; ++j) {
    const double theta = 1 / x.back() + (1 - std::sqrt(double(m) / (double(j) - 0.5))) / (3 * quarter);
    const double k = shape(theta);
    thetas.push_back(theta);
    logs.push_back(n * (std::log(-theta / k) - k - 1));
  }
  const double largest = *std::max_element(logs.begin(), logs.end());
  double sum = 0, theta = 0;
  for (std::size_t j = 0; j < m; ++j) {
    const double weight = std::exp(logs[j] - largest);
    sum += weight;
    theta += weight * thetas[j];
  }
  theta /= sum;
  const double k = shape(theta);
  constexpr double prior_draws = 10, prior_shape = 0.5;
  return {(k * n + prior_shape * prior_draws) / (n + prior_draws), -k / theta};
}

// Smooths the largest of the log ratios, whose maximum is 0, in place. Returns k; nan for a tail too short to have one.
double smooth_tail(std::vector<double>& log_ratios, double relative_efficiency) {
  const double draws = double(log_ratios.size());
  const auto tail = std::size_t(std::ceil(std::min(0.2 * draws, 3 * std::sqrt(draws / relative_efficiency))));
  if (tail < fewest_draws_of_a_tail) return NAN;
  std::vector<std::size_t> order(log_ratios.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return log_ratios[a] < log_ratios[b]; });
  const std::size_t first = order.size() - tail;
  const double cutoff = std::exp(log_ratios[order[first - 1]]);
  std::vector<double> exceedances;
  for (std::size_t i = first; i < order.size(); ++i) exceedances.push_back(std::exp(log_ratios[order[i]]) - cutoff);
  if (!(exceedances.front() > 0)) return NAN;  // ties: rows that the draws do not tell apart
  const ParetoLaw law = fitted(exceedances);
  if (!std::isfinite(law.k)) return NAN;
  for (std::size_t i = 0; i < tail; ++i) {
    const double smoothed = cutoff + law.quantile((double(i) + 0.5) / double(tail));
    log_ratios[order[first + i]] = std::min(0.0, std::log(smoothed));
  }
  return law.k;
}

// ---- rows

struct LeftOut {
  double elpd = 0, log_density = 0, k = 0;  // without the row; with it
};

// `log_densities`: of the row, walker after walker.
LeftOut left_out(std::span<const double> log_densities, std::size_t walkers, double tau) {
  const std::size_t draws = log_densities.size() / walkers;
  Chains densities;
  for (std::size_t w = 0; w < walkers; ++w) {
    auto& chain = densities.emplace_back();
    for (const double x : log_densities.subspan(w * draws, draws)) chain.push_back(std::exp(x));
  }
  const double efficiency = ess_mean(densities) / double(log_densities.size());
  std::vector<double> log_ratios;
  for (const double x : log_densities) log_ratios.push_back(-x / tau);
  const double largest = *std::max_element(log_ratios.begin(), log_ratios.end());
  for (double& x : log_ratios) x -= largest;
  LeftOut out;
  out.k = smooth_tail(log_ratios, std::isfinite(efficiency) ? std::min(1.0, efficiency) : 1);
  std::vector<double> products = log_ratios;
  for (std::size_t s = 0; s < products.size(); ++s) products[s] += log_densities[s];
  out.elpd = log_mean_exp(products) - log_mean_exp(log_ratios);
  out.log_density = log_mean_exp(log_densities);
  return out;
}

// Log densities of targets, given the outputs of a draw.
template <class Real>
class RowDensities {
 public:
  RowDensities(const Problem<Real>& problem, std::vector<std::uint32_t> rows)
      : data_(problem.data.train),
        loss_(loss_named(problem.settings.model.loss)),
        noise_(problem),
        rows_(std::move(rows)),
        likelihood_(*problem.train),
        outputs_(rows_.size() * likelihood_.outputs()) {
    if (!loss_.template probabilities<Real>() && !noise_.scatter().law)
      throw Error("{}, so that rows have no density to be scored by", noise_.scatter().words);
  }

  // Adds one number a row, `stride` apart.
  void at(std::span<const Real> q, double* out, std::size_t stride) {
    likelihood_.predict(q, rows_, outputs_);
    const std::size_t width = likelihood_.outputs();
    if (const auto probabilities = loss_.template probabilities<Real>()) {
      const std::size_t classes = std::max<std::size_t>(2, width);
      std::vector<Real> p(rows_.size() * classes);
      probabilities(rows_.size(), width, outputs_.data(), p.data());
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const double y = data_.targets[rows_[i]];
        const auto label = std::size_t(data_.has_classes() ? y : double(y == 1));
        out[i * stride] = std::log(std::max(double(p[i * classes + label]), 1e-300));
      }
      return;
    }
    noise_.take(q);
    std::vector<NoiseAt> said(noise_.targets());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      noise_.read(std::span<const Real>(outputs_).subspan(i * width, width), said);
      double sum = 0;
      for (std::size_t k = 0; k < said.size(); ++k) {
        const double target = data_.target_units.original(k, data_.targets[rows_[i] * said.size() + k]);
        sum += noise_.scatter().law->log_density(target, said[k]);
      }
      out[i * stride] = sum;
    }
  }

 private:
  const Dataset& data_;
  const Loss& loss_;
  RowNoise<Real> noise_;
  std::vector<std::uint32_t> rows_;
  PlacedLikelihood<Real> likelihood_;
  std::vector<Real> outputs_;
};

std::vector<std::uint32_t> some_rows(std::size_t all, std::size_t most) {
  const std::size_t stride = (all + most - 1) / most;
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < all; i += stride) rows.push_back(std::uint32_t(i));
  return rows;
}

// ---- what is found

struct Effort {
  std::size_t every, rows;
};
// For a report: draws x rows x parameters is what a second or two allow.
Effort effort_of(const Subject& subject, const LeaveOneOutOptions& options) {
  if (options.every < 1) throw Error("--every must be at least 1, not {}", options.every);
  if (!subject.brief) return {std::size_t(options.every), options.rows};
  constexpr double most_products = 2e10, enough_draws = 1000, enough_rows = 1000;
  const Samples& samples = subject.run();
  const double draws = std::min(enough_draws, double(samples.draws * samples.walkers));
  const double rows = most_products / draws / double(samples.record.parameters);
  return {std::max<std::size_t>(1, std::size_t(double(samples.draws * samples.walkers) / draws)),
          std::size_t(std::clamp(rows, 1.0, enough_rows))};
}

double sum_error(std::span<const double> each) { return mean_of(each).error * double(each.size()); }

Finding described(const std::vector<LeftOut>& each, std::span<const std::uint32_t> rows, std::size_t draws) {
  const double n = double(each.size());
  const double trusted = std::min(0.7, 1 - 1 / std::log10(double(draws)));
  std::vector<double> elpd, effective;
  Curve shapes{.name = "k", .style = "points"};
  std::vector<std::size_t> doubtful;
  for (std::size_t i = 0; i < each.size(); ++i) {
    elpd.push_back(each[i].elpd);
    effective.push_back(each[i].log_density - each[i].elpd);
    if (each[i].k > trusted) doubtful.push_back(i);
    shapes.x.push_back(double(rows[i]));
    shapes.y.push_back(each[i].k);
  }
  const double sum = n * mean_of(elpd).value, error = sum_error(elpd);
  Finding out{.title = "Leave-one-out predictions"};
  out.words.push_back(fmt::format(
      "A training row that is left out has the log density {:.4g} +- {:.2g} on average, {:.4g} in all ({} rows, {} "
      "draws).",
      sum / n, error / n, sum, each.size(), draws));
  out.words.push_back(
      doubtful.empty() ? fmt::format("The shape k is below {:.2g} for every row: the estimate can be trusted.", trusted)
                       : fmt::format("{} rows have a shape k above {:.2g}: they matter too much for draws with them "
                                     "to tell of a posterior without; take more draws, or run without them.",
                                     doubtful.size(), trusted));
  Table table;
  table.row({{"quantity", "elpd_loo"},
             {"value", sum},
             {"error", error},
             {"meaning", "sum of the log densities of rows left out"}});
  table.row({{"quantity", "p_loo"},
             {"value", n * mean_of(effective).value},
             {"error", sum_error(effective)},
             {"meaning", "what the rows gain by being there: effective number of parameters"}});
  out.tables.push_back({"Sums over rows", table});
  std::sort(doubtful.begin(), doubtful.end(), [&](std::size_t a, std::size_t b) { return each[a].k > each[b].k; });
  constexpr std::size_t most_shown = 10;
  Table worst;
  for (std::size_t i = 0; i < std::min(most_shown, doubtful.size()); ++i)
    worst.row({{"row", rows[doubtful[i]]}, {"k", each[doubtful[i]].k}, {"elpd", each[doubtful[i]].elpd}});
  if (!doubtful.empty()) out.tables.push_back({"Rows that matter most", worst});
  const double last = shapes.x.back();
  out.figures.push_back(
      {.name = "pareto_k",
       .title = "How much each row matters",
       .x_label = "training row",
       .y_label = "Pareto shape k",
       .curves = {shapes, {.name = "trusted", .x = {0, last}, .y = {trusted, trusted}, .style = "dashed"}},
       .caption = "Rows above the line matter too much for their estimate to be trusted."});
  return out;
}

template <class Real>
Found leave_out_rows(const StoredRun<Real>& run, const Subject& subject, const Effort& effort,
                     const Progress& progress) {
  check_predicts(run);
  if (const std::size_t steps = run.problem.data.train.steps; steps > 0)
    throw Error(
        "the rows of \"{}\" have a target for each of {} steps, and rows that are left out have one; see `kelvin "
        "predict` "
        "for its test rows",
        run.samples.run.string(), steps);
  const double tau = posterior_temperature(run.problem);
  if (!(tau > 0)) throw Error("leaving a row out needs one posterior temperature above 0; this run has {:.4g}", tau);
  const Samples& samples = subject.run();
  const std::vector<std::uint32_t> rows = some_rows(run.problem.data.train.rows, effort.rows);
  const std::size_t draws = samples.walkers * ((samples.draws + effort.every - 1) / effort.every);
  if (draws < fewest_draws_to_smooth)
    throw Error("leaving rows out needs at least {} draws; there are {}", fewest_draws_to_smooth, draws);
  constexpr std::size_t most_numbers = std::size_t(1) << 28;
  if (draws > most_numbers / rows.size())
    throw Error("{} draws of {} rows do not fit into memory; take fewer with --every or --rows", draws, rows.size());
  std::vector<double> log_densities(rows.size() * draws);
  RowDensities<Real> densities(run.problem, rows);
  std::size_t done = 0;
  run.each_point(effort.every, [&](std::size_t, std::size_t, std::span<const Real> q) {
    densities.at(q, log_densities.data() + done, draws);
    progress(double(++done), double(draws), "draws");
  });
  std::vector<LeftOut> each;
  Array elpd{{rows.size()}, {}}, shapes{{rows.size()}, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    each.push_back(left_out(std::span<const double>(log_densities).subspan(i * draws, draws), samples.walkers, tau));
    elpd.values.push_back(each.back().elpd);
    shapes.values.push_back(each.back().k);
  }
  return {described(each, rows, draws), {{"leave_one_out.npz", {{"elpd", elpd}, {"k", shapes}}}}};
}

Found find_left_out(const Subject& subject, const LeaveOneOutOptions& options, const Progress& progress) {
  Found found;
  with_stored_run(
      subject.run(), [](std::string_view) {},
      [&](auto run) {
        run.recomputes_statistics = options.recompute_statistics;
        found = leave_out_rows(run, subject, effort_of(subject, options), progress);
      });
  return found;
}

}  // namespace

Question ask_leave_one_out() { return ask(find_left_out); }

}  // namespace kelvin
