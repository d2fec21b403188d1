// SPDX-License-Identifier: Apache-2.0
// Series of single quantities: their averages and their autocorrelation.
#include <algorithm>
#include <cmath>

#include "kelvin/analysis/posterior/ensembles.h"
#include "kelvin/analysis/posterior/selection.h"

namespace kelvin {
namespace {

struct SeriesOptions : ParameterSelection {
  std::vector<std::string> quantities;
  bool per_walker = false;
  template <class Visit>
  void fields(Visit&& field) {
    ParameterSelection::fields(field);
    field("quantities", quantities,
          "names with * and ?: statistics (potential, \"kinetic_temperature of all\") and parameters "
          "(layer1.weight[0,2]); by default energies and temperatures, and up to 20 parameters");
    field("per_walker", per_walker, "each walker alone besides all of them together");
  }
};

constexpr std::size_t most_curves = 8, points_of_a_curve = 200;

// The quantity over all chosen walkers, and over each of them if asked for.
template <class Visit>
void each_series(const ChosenQuantity& q, const Chosen& chosen, bool per_walker, Visit&& visit) {
  visit("all", q.walkers);
  if (per_walker)
    for (std::size_t w = 0; w < q.walkers.size(); ++w) visit(std::to_string(chosen.walkers[w]), Chains{q.walkers[w]});
}

std::string count_of(std::size_t n, const std::string& what) {
  return fmt::format("{} {}", n, n == 1 ? what : what.substr(0, what.size() - 1) + "ies");
}

double steps_between_draws(const Chosen& chosen) {
  if (chosen.draws.size() < 2) return NAN;
  const auto steps = chosen.samples.statistic("step", chosen.walkers[0]);
  return steps[chosen.draws[1]] - steps[chosen.draws[0]];
}

// The mean of the first draws of all walkers, as their number grows.
Curve running_mean(const ChosenQuantity& q) {
  Curve curve{.name = q.name};
  const std::size_t draws = q.walkers.front().size(), stride = std::max<std::size_t>(1, draws / points_of_a_curve);
  double sum = 0;
  for (std::size_t d = 0; d < draws; ++d) {
    for (const auto& x : q.walkers) sum += x[d] / double(q.walkers.size());
    if ((d + 1) % stride == 0) {
      curve.x.push_back(double(d + 1));
      curve.y.push_back(sum / double(d + 1));
    }
  }
  return curve;
}

// Draws already have the law that is sampled: an average over them is their plain mean, whatever its energy is.
Found find_averages(const Subject& subject, const SeriesOptions& options, const Progress&) {
  const Samples& samples = subject.run();
  const Chosen chosen = choose(samples, options);
  const auto found = usual_quantities(chosen, options.quantities);
  Table table;
  Figure figure{.name = "running_means",
                .title = "Running means",
                .x_label = "draws",
                .y_label = "mean so far",
                .caption = "A mean that still drifts at the right end has not been averaged long enough.",
                .log_x = true};
  std::size_t unknown = 0;
  for (const ChosenQuantity& q : found) {
    each_series(q, chosen, options.per_walker, [&](const std::string& walker, const Chains& x) {
      const double error = mcse_mean(ensemble_means(x, walkers_together(chosen.samples, x.size()))),
                   spread = deviation(x);
      unknown += !std::isfinite(error);
      table.row({{"quantity", q.name},
                 {"walker", walker},
                 {"mean", cell(mean(x))},
                 {"error", cell(error)},
                 {"sd", cell(spread)},
                 {"independent_draws", cell(spread * spread / (error * error))}});
    });
    if (figure.curves.size() < most_curves) figure.curves.push_back(running_mean(q));
  }
  Found out{{"",
             "Averages",
             {fmt::format("Means of {} over {}.", count_of(found.size(), "quantity"), chosen.words())},
             {{"Means with their Monte Carlo errors", table}},
             {figure}},
            {}};
  if (unknown)
    out.finding.words.push_back(
        fmt::format("{} of them have no error: constant, not finite, or too few draws.", unknown));
  return out;
}

Found find_autocorrelation(const Subject& subject, const SeriesOptions& options, const Progress&) {
  const Samples& samples = subject.run();
  constexpr double shown = 10;  // autocorrelation times along the figure
  const Chosen chosen = choose(samples, options);
  const auto found = usual_quantities(chosen, options.quantities);
  Table table;
  Figure figure{.name = "autocorrelation",
                .title = "Autocorrelation",
                .x_label = "lag in draws",
                .y_label = "correlation",
                .caption = "How long draws remember; what is left beyond a few autocorrelation times is noise."};
  std::vector<std::string> refusals;
  const double spacing = steps_between_draws(chosen);
  for (const ChosenQuantity& q : found) {
    each_series(q, chosen, options.per_walker, [&](const std::string& walker, const Chains& x) {
      const Chains means = ensemble_means(x, walkers_together(chosen.samples, x.size()));
      const auto windowed = windowed_autocorrelation_time(means), reduced = reduced_autocorrelation_time(means);
      const double narrower = std::pow(deviation(x) / deviation(means), 2);
      const auto& longer = windowed.missing >= reduced.missing ? windowed : reduced;
      const bool fine = !longer.missing;
      if (!fine)
        refusals.push_back(fmt::format("{} ({}): {}.", q.name, walker == "all" ? "all walkers" : "walker " + walker,
                                       longer.refusal()));
      table.row({{"quantity", q.name},
                 {"walker", walker},
                 {"tau_windowed", fine ? cell(windowed.tau) : Table::Cell()},
                 {"tau_reduced", fine ? cell(reduced.tau) : Table::Cell()},
                 {"tau_in_steps", fine ? cell(windowed.tau * spacing) : Table::Cell()},
                 {"independent_draws",
                  fine ? cell(narrower * double(means.size() * means.front().size()) / windowed.tau) : Table::Cell()},
                 {"draws_missing", longer.missing}});
    });
    if (figure.curves.size() == most_curves) continue;
    const Chains means = ensemble_means(q.walkers, walkers_together(chosen.samples, q.walkers.size()));
    const auto rho = autocorrelation(means);
    const double tau = windowed_autocorrelation_time(means).tau;
    if (rho.empty() || !std::isfinite(tau)) continue;
    const std::size_t lags = std::min(rho.size(), std::size_t(std::ceil(shown * std::max(1.0, tau))) + 1);
    Curve curve{.name = q.name};
    for (std::size_t t = 0; t < lags; t += std::max<std::size_t>(1, lags / points_of_a_curve)) {
      curve.x.push_back(double(t));
      curve.y.push_back(rho[t]);
    }
    figure.curves.push_back(std::move(curve));
  }
  Found out{{"", "Autocorrelation", {}, {{"Autocorrelation times, in draws", table}}, {figure}}, {}};
  out.finding.words.push_back(refusals.empty()
                                  ? fmt::format("Every one of {} has 50 autocorrelation times of draws or more ({}).",
                                                count_of(found.size(), "quantity"), chosen.words())
                                  : fmt::format("{} of {} autocorrelation times are refused: too few draws.",
                                                refusals.size(), table.rows.size()));
  if (const std::string words = words_on_ensembles(walkers_together(chosen.samples, chosen.walkers.size()));
      !words.empty())
    out.finding.words.push_back(words);
  constexpr std::size_t most_refusals = 10;
  for (std::size_t k = 0; k < std::min(refusals.size(), most_refusals); ++k) out.finding.words.push_back(refusals[k]);
  if (refusals.size() > most_refusals)
    out.finding.words.push_back(
        fmt::format("And {} more; the column draws_missing has them.", refusals.size() - most_refusals));
  return out;
}

}  // namespace

Question ask_averages() { return ask(find_averages); }
Question ask_autocorrelation() { return ask(find_autocorrelation); }

}  // namespace kelvin
