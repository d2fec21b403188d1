// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/weights.h"

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/posterior/selection.h"

namespace kelvin {

WeightStatistics weight_statistics(std::span<const double> w, double threshold) {
  WeightStatistics s;
  const double n = double(w.size());
  for (const double x : w) {
    s.mean += x / n;
    s.rms += x * x / n;
    s.largest = std::max(s.largest, std::abs(x));
  }
  s.rms = std::sqrt(s.rms);
  for (const double x : w) s.near_zero += (std::abs(x) < threshold * s.rms) / n;
  return s;
}

std::vector<double> density(std::span<const double> w, double low, double high, std::size_t bins) {
  std::vector<double> out(bins, 0.0);
  const double width = (high - low) / double(bins);
  for (const double x : w)
    if (x >= low && x <= high)
      out[std::min(std::size_t((x - low) / width), bins - 1)] += 1 / (double(w.size()) * width);
  return out;
}

namespace {

constexpr std::size_t times_of_a_curve = 200;

// Some of the chosen draws, from the first to the last.
Chosen at_times(Chosen chosen, std::size_t times) {
  std::vector<std::size_t> some;
  const std::size_t last = chosen.draws.size() - 1;
  times = std::min(times, chosen.draws.size());
  for (std::size_t k = 0; k < times; ++k)
    some.push_back(
        chosen.draws[times == 1 ? last : std::size_t(std::lround(double(k) * double(last) / double(times - 1)))]);
  chosen.draws = some;
  return chosen;
}

// The block at each chosen draw, the walkers' numbers one after another.
std::vector<std::vector<double>> at_each_draw(const Chosen& chosen, const ChosenBlock& block) {
  Chosen alone = chosen;
  alone.blocks = {block};
  alone.size = block.size;
  std::vector<std::vector<double>> out(chosen.draws.size());
  for (const std::size_t w : chosen.walkers) {
    std::size_t at = 0;
    each_piece(alone, w, [&](std::span<const double> rows) {
      for (std::size_t r = 0; r < rows.size(); r += block.size, ++at)
        out[at].insert(out[at].end(), rows.begin() + long(r), rows.begin() + long(r + block.size));
    });
  }
  return out;
}

// Densities of one block at all times, on the same bins.
Figure histograms_of(const ChosenBlock& block, const std::vector<std::vector<double>>& values,
                     const std::vector<std::string>& times, std::size_t bins) {
  double low = values.front().front(), high = low;
  for (const auto& w : values) {
    const auto [least, most] = std::minmax_element(w.begin(), w.end());
    low = std::min(low, *least);
    high = std::max(high, *most);
  }
  if (!(high > low)) {
    low -= 0.5;
    high += 0.5;
  }
  Figure figure{.name = "histogram_" + block.name, .title = block.name, .x_label = "value", .y_label = "density"};
  std::vector<double> centres;
  for (std::size_t i = 0; i < bins; ++i) centres.push_back(low + (double(i) + 0.5) * (high - low) / double(bins));
  for (std::size_t k = 0; k < values.size(); ++k)
    figure.curves.push_back(
        {.name = times[k], .x = centres, .y = density(values[k], low, high, bins), .style = "steps"});
  return figure;
}

struct WeightsOptions : ParameterSelection {
  long bins = 40, times = 5;
  double threshold = 1e-3;
  template <class Visit>
  void fields(Visit&& field) {
    ParameterSelection::fields(field);
    field("bins", bins, "number of bins");
    field("threshold", threshold, "a weight counts as near zero below this times the root mean square of its block");
    field("times", times, "number of draws, from the first to the last, whose histograms are made");
  }
};

Found find_weights(const Subject& subject, const WeightsOptions& options, const Progress&) {
  const Samples& samples = subject.run();
  if (options.bins < 2) throw Error("--bins must be at least 2, not {}", options.bins);
  if (options.times < 1) throw Error("--times must be at least 1, not {}", options.times);
  if (!(options.threshold > 0)) throw Error("--threshold must be above 0, not {}", options.threshold);
  const Chosen chosen = choose(samples, options), shown = at_times(chosen, std::size_t(options.times)),
               curves = at_times(chosen, times_of_a_curve);
  std::vector<double> steps;
  std::vector<std::string> names;
  const auto all_steps = samples.statistic("step", chosen.walkers[0]);
  for (const std::size_t d : curves.draws) steps.push_back(all_steps[d]);
  for (const std::size_t d : shown.draws) names.push_back(fmt::format("step {}", all_steps[d]));

  Table table;
  Figure largest{.name = "largest",
                 .title = "Largest |w| of each block",
                 .x_label = "step",
                 .y_label = "largest |w|",
                 .caption = "A block whose largest weight keeps growing has not settled."};
  Figure zero{.name = "near_zero",
              .title = "Share near zero of each block",
              .x_label = "step",
              .y_label = "share",
              .caption = "Weights near zero do nothing: many of them mean idle units."};
  Found out{{"", "Weights over time", {}, {}, {}}, {}};
  double most_zero = 0;
  std::string idlest;
  for (const ChosenBlock& block : chosen.blocks) {
    const auto values = at_each_draw(shown, block);
    out.finding.figures.push_back(histograms_of(block, values, names, std::size_t(options.bins)));
    for (std::size_t k = 0; k < values.size(); ++k) {
      const WeightStatistics s = weight_statistics(values[k], options.threshold);
      table.row({{"block", block.name},
                 {"step", all_steps[shown.draws[k]]},
                 {"mean", cell(s.mean)},
                 {"rms", cell(s.rms)},
                 {"largest", cell(s.largest)},
                 {"near_zero", cell(s.near_zero)}});
      if (k + 1 == values.size() && s.near_zero > most_zero) {
        most_zero = s.near_zero;
        idlest = block.name;
      }
    }
    Curve tops{.name = block.name, .x = steps}, zeros = tops;
    for (const auto& w : at_each_draw(curves, block)) {
      const WeightStatistics s = weight_statistics(w, options.threshold);
      tops.y.push_back(s.largest);
      zeros.y.push_back(s.near_zero);
    }
    largest.curves.push_back(std::move(tops));
    zero.curves.push_back(std::move(zeros));
  }
  out.finding.words = {idlest.empty()
                           ? "No block has weights near zero in the last draw."
                           : fmt::format("In the last draw {} has the largest share of weights near zero, {:.3g} %.",
                                         idlest, 100 * most_zero),
                       fmt::format("Near zero: |w| below {:g} times the root mean square of its block in that draw; "
                                   "normal numbers would have {:.3g} %.",
                                   options.threshold, 100 * std::erf(options.threshold / std::sqrt(2)))};
  out.finding.tables.push_back(
      {fmt::format("Blocks over time, {}", chosen.walkers.size() == 1
                                               ? fmt::format("walker {}", chosen.walkers[0])
                                               : fmt::format("{} walkers together", chosen.walkers.size())),
       table});
  out.finding.figures.push_back(std::move(largest));
  out.finding.figures.push_back(std::move(zero));
  return out;
}

}  // namespace

Question ask_weights() { return ask(find_weights); }

}  // namespace kelvin
