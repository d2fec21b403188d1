// SPDX-License-Identifier: Apache-2.0
// Pictures of a diagnosis: traces, ranks, autocorrelations, temperatures; learning curves of training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/verdict/diagnose.h"
#include "kelvin/numeric/distribution.h"

namespace kelvin {
namespace {

constexpr std::size_t curve_points = 500;  // of a curve
constexpr std::size_t most_walkers = 8;    // with a curve of their own

// One curve a walker, of evenly spaced draws.
std::vector<Curve> traces(const Chains& chains) {
  std::vector<Curve> out;
  for (std::size_t w = 0; w < std::min(chains.size(), most_walkers); ++w) {
    Curve curve{.name = fmt::format("walker {}", w)};
    const std::size_t n = chains[w].size(), points = std::min(n, curve_points);
    for (std::size_t k = 0; k < points; ++k) {
      curve.x.push_back(double(k * n / points));
      curve.y.push_back(chains[w][k * n / points]);
    }
    out.push_back(std::move(curve));
  }
  return out;
}

Figure rank_plot(const Quantity& q) {
  Figure figure{.name = "ranks",
                .title = "Ranks of " + q.name,
                .x_label = "rank among the draws of all walkers",
                .y_label = "share of the walker's draws",
                .caption = "Each walker should have every rank equally often: a flat line."};
  const Chains all = ranks(q.chains);
  const double total = double(all.size() * all.front().size());
  constexpr std::size_t bins = 20;
  for (std::size_t w = 0; w < std::min(all.size(), most_walkers); ++w) {
    Curve curve{.name = fmt::format("walker {}", w), .y = std::vector<double>(bins, 0.0), .style = "steps"};
    for (std::size_t b = 0; b < bins; ++b) curve.x.push_back((double(b) + 0.5) / bins * total);
    for (const double r : all[w])
      curve.y[std::min(bins - 1, std::size_t((r - 0.5) / total * bins))] += 1 / double(all[w].size());
    figure.curves.push_back(std::move(curve));
  }
  figure.curves.push_back({.name = "even", .x = {0, total}, .y = {1. / bins, 1. / bins}, .style = "dashed"});
  return figure;
}

Figure autocorrelation_plot(const JudgedQuantity& q) {
  Figure figure{.name = "autocorrelation",
                .title = "Autocorrelation of " + q.quantity.name,
                .x_label = "lag (draws)",
                .y_label = "autocorrelation",
                .caption = "Falls to 0 within the length of the run if the run is long enough."};
  const auto rho = autocorrelation(q.quantity.chains);
  const std::size_t n = std::min(rho.size(), std::size_t(std::max(20.0, 10 * q.time.tau))),
                    points = std::min(n, curve_points);
  Curve curve{.name = "all walkers"};
  for (std::size_t k = 0; k < points; ++k) {
    curve.x.push_back(double(k * n / points));
    curve.y.push_back(rho[k * n / points]);
  }
  figure.curves.push_back(std::move(curve));
  return figure;
}

void add_temperatures(std::vector<Figure>& figures, const Evidence& e) {
  Figure means{.name = "temperatures",
               .title = "Temperatures of the parts over those set",
               .x_label = "part",
               .y_label = "temperature / set",
               .caption = "Points with bars of two standard errors; both should lie on 1. Parts are numbered from 0: "};
  double k = 0;
  for (const PartEvidence& part : e.parts) {
    if (!part.warm) continue;
    const auto point = [&](const Chains& chains, const std::string& kind, double x) {
      const double m = mean(chains), error = 2 * mcse_mean(chains);
      if (std::isfinite(m))
        means.curves.push_back({.name = kind + " of " + part.name,
                                .x = {x},
                                .y = {m},
                                .low = {m - error},
                                .high = {m + error},
                                .style = "points"});
    };
    point(part.kinetic, "kinetic", k - 0.1);
    point(part.configurational, "configurational", k + 0.1);
    means.caption += fmt::format("{}{}", k > 0 ? ", " : "", part.name);
    if (!std::isnan(mean(part.kinetic))) {
      const double low = chi_square_quantile(0.005, part.freedom) / part.freedom,
                   high = chi_square_quantile(0.995, part.freedom) / part.freedom, last = double(e.samples.draws - 1);
      Figure trace{.name = "kinetic_" + part.name,
                   .title = "Kinetic temperature of " + part.name,
                   .x_label = "draw",
                   .y_label = "temperature / set",
                   .curves = traces(part.kinetic),
                   .caption = "99 % of the draws should lie in the band, a chi-square law."};
      trace.curves.push_back({.name = "99 % band",
                              .x = {0, last},
                              .y = {1, 1},
                              .low = {low, low},
                              .high = {high, high},
                              .style = "dashed"});
      figures.push_back(std::move(trace));
    }
    ++k;
  }
  means.caption += ".";
  means.curves.push_back({.name = "set", .x = {-0.5, k - 0.5}, .y = {1, 1}, .style = "dashed"});
  if (k > 0) figures.push_back(std::move(means));
}

}  // namespace

std::vector<Figure> diagnose_figures(const Evidence& e) {
  std::vector<Figure> figures;
  if (!e.curves.empty()) {
    Figure figure{.name = "learning",
                  .title = "Learning curve",
                  .x_label = "step",
                  .y_label = "mean loss",
                  .caption =
                      "Validation rising while training falls "
                      "is overfitting."};
    for (const LearningCurve& c : e.curves)
      if (c.name != "potential" || e.curves.size() == 1)
        figure.curves.push_back({.name = c.name, .x = c.steps, .y = c.loss});
    figures.push_back(std::move(figure));
  }
  if (e.training) return figures;
  if (!e.potential.empty())
    figures.push_back({.name = "potential",
                       .title = "Trace of the potential",
                       .x_label = "draw",
                       .y_label = "potential",
                       .curves = traces(e.potential),
                       .caption = "Walkers should overlap and not trend."});
  if (!e.energy.empty())
    figures.push_back({.name = "energy",
                       .title = "Trace of the energy",
                       .x_label = "draw",
                       .y_label = "U + p.p/2m",
                       .curves = traces(e.energy),
                       .caption = "A drift means that the run had not settled."});
  if (const JudgedQuantity* worst = least_agreed(e)) {
    figures.push_back(rank_plot(worst->quantity));
    figures.push_back(autocorrelation_plot(*worst));
  }
  add_temperatures(figures, e);
  return figures;
}

}  // namespace kelvin
