// SPDX-License-Identifier: Apache-2.0
// How a tempered run fared: the law of alpha, its round trips between target and wall, and the bias.
#include "kelvin/energy/tempering.h"

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/analysis.h"
#include "kelvin/analysis/stored_run.h"
#include "kelvin/numeric/mean.h"

namespace kelvin {
namespace {

constexpr std::size_t trace_points = 1000;  // of a trace

// From alpha = 0 to near the wall and through 0 again; draws that are far apart miss some.
std::size_t round_trips(const std::vector<double>& alpha, double width) {
  std::size_t count = 0;
  bool been_away = false;
  for (std::size_t n = 1; n < alpha.size(); ++n) {
    been_away |= std::abs(alpha[n]) > 0.95 * width;
    if (been_away && alpha[n] * alpha[n - 1] <= 0) {
      ++count;
      been_away = false;
    }
  }
  return count;
}

double share_within(const std::vector<double>& alpha, double delta) {
  const auto inside = std::ranges::count_if(alpha, [&](double a) { return std::abs(a) <= delta; });
  return double(inside) / double(alpha.size());
}

Curve histogram(const std::vector<std::vector<double>>& alpha, double width, std::size_t bins) {
  Curve curve{.name = "all walkers", .y = std::vector<double>(bins, 0.0), .style = "bars"};
  double total = 0;
  for (const auto& walker : alpha)
    for (const double a : walker) {
      const double z = (a / width + 1) / 2;
      if (z < 0 || z > 1) continue;
      curve.y[std::min(bins - 1, std::size_t(z * double(bins)))] += 1;
      total += 1;
    }
  for (std::size_t k = 0; k < bins; ++k) {
    curve.x.push_back(width * (2 * (double(k) + 0.5) / double(bins) - 1));
    curve.y[k] *= double(bins) / (2 * width * std::max(1.0, total));
  }
  return curve;
}

struct TemperingOptions {
  long bins = 40;
  template <class Visit>
  void fields(Visit&& field) {
    field("bins", bins, "number of bins");
  }
};

// What each walker has learnt.
void add_bias(const Samples& samples, const TemperingBias& bias, const BiasGround& ground, Found& out) {
  constexpr std::size_t points = 201;
  Figure learnt{.name = "tempering_bias",
                .title = "Bias in units of T",
                .x_label = "alpha",
                .y_label = "V",
                .caption = "minus the free energy of alpha, if learnt"};
  Array places{{points}, {}}, energies{{samples.walkers, points}, {}};
  for (std::size_t k = 0; k < points; ++k)
    places.values.push_back(samples.record.settings.tempering.width * (2 * double(k) / (points - 1) - 1));
  for (std::size_t w = 0; w < samples.walkers; ++w) {
    const auto state = samples.record.tempering->biases.at(w);
    if (state.size() != bias.start(ground).size())
      throw Error("\"{}\" is damaged: its bias has {} numbers", (samples.run / "run.json").string(), state.size());
    Curve curve{.name = fmt::format("walker {}", w), .x = places.values};
    for (const double a : places.values) curve.y.push_back(bias.energy(ground, state, a));
    energies.values.insert(energies.values.end(), curve.y.begin(), curve.y.end());
    learnt.curves.push_back(std::move(curve));
  }
  out.finding.figures.push_back(std::move(learnt));
  out.arrays["tempering.npz"] = {{"alpha", places}, {"bias", energies}};
}

Found find_tempering(const Subject& subject, const TemperingOptions& options, const Progress&) {
  const Samples& given = subject.run();
  if (!given.record.tempering) throw Error("\"{}\" was not tempered; there is no alpha to look at", given.run.string());
  if (options.bins < 2) throw Error("--bins must be at least 2, not {}", options.bins);
  const Samples samples = open_samples(given.run, Which::every);
  const TemperingSettings& s = samples.record.settings.tempering;
  const TemperingRecord& about = *samples.record.tempering;
  const double T = about.temperature, planned = about.round_trip_steps;
  const BiasGround ground = ground_of(s, T);
  const TemperingBias& bias = bias_of(s);

  Found out;
  out.finding.title = "Tempering";
  std::vector<std::vector<double>> alpha;
  Table table;
  Figure trace{.name = "tempering_trace",
               .title = "Temperature of the tempered energy over that asked for",
               .x_label = "step",
               .y_label = "1 / g(alpha)",
               .caption = "every rise and fall is a chance to change the basin"};
  std::size_t trips = 0;
  double inside = 0, steps = 0, heat = 0;
  for (std::size_t w = 0; w < samples.walkers; ++w) {
    alpha.push_back(samples.statistic("alpha", w));
    const auto step = samples.statistic("step", w);
    const double share = share_within(alpha[w], s.delta),
                 warmth = mean_of(samples.statistic("alpha_temperature", w)).value / T;
    const std::size_t count = round_trips(alpha[w], s.width);
    table.row({{"walker", w},
               {"share_at_target", share},
               {"round_trips", count},
               {"alpha_temperature_over_T", cell(warmth)}});
    trips += count;
    steps += step.back() - step.front();
    inside += share / double(samples.walkers);
    heat += warmth / double(samples.walkers);
    Curve curve{.name = fmt::format("walker {}", w)};
    const std::size_t every = (step.size() + trace_points - 1) / trace_points;
    for (std::size_t n = 0; n < step.size(); n += every) {
      curve.x.push_back(step[n]);
      curve.y.push_back(1 / ground.ramp.value(alpha[w][n]));
    }
    trace.curves.push_back(std::move(curve));
  }
  auto& words = out.finding.words;
  words.push_back(
      fmt::format("{:.1f} % of the draws have |alpha| <= {} and count; {} round trips of alpha in {:.4g} steps",
                  100 * inside, s.delta, trips, steps));
  if (trips < 10)
    words.push_back(
        "fewer than 10 round trips: what the draws say of barriers is not to be trusted yet; run longer, or "
        "temper less (docs/tempering.md)");
  if (planned > 0 && s.capacity > 0)
    words.push_back(
        fmt::format("the pilot found Var(U/T) = {:.4g}, forgotten in {:.3g} steps, and foretold {:.3g} steps for "
                    "a round trip",
                    s.capacity, s.correlation, planned));
  if (heat > 1.05)
    words.push_back(
        fmt::format("alpha is {:.0f} % too hot, so that even the draws at the target are off: noise of U or the "
                    "wall heats it; give tempering.mass a larger number",
                    100 * (heat - 1)));
  out.finding.tables.push_back({"Walkers", table});
  out.finding.figures.push_back(std::move(trace));
  Figure law{.name = "tempering_alpha",
             .title = "Law of alpha",
             .x_label = "alpha",
             .y_label = "density",
             .curves = {histogram(alpha, s.width, std::size_t(options.bins))},
             .caption = "level if the bias has learnt its work"};
  out.finding.figures.push_back(std::move(law));

  if (bias.learns && !about.biases.empty()) add_bias(samples, bias, ground, out);
  return out;
}

}  // namespace

Question ask_tempering() { return ask(find_tempering); }

}  // namespace kelvin
