// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/free_energy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kelvin/analysis/posterior/selection.h"
#include "kelvin/io/npy.h"

namespace kelvin {
namespace {

constexpr std::size_t stretches_in_all = 32, fewest_stretches = 5, fewest_draws = 100;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Shares of the bins in each stretch (rows) of equal length, and the shares over all of them.
struct Shares {
  std::vector<std::vector<double>> stretches;
  std::vector<double> all;
  // Standard error of -T log(p_i / p_j), to first order in the deviations of the stretches.
  double error(std::size_t i, std::size_t j, double temperature) const {
    if (seen(i) < fewest_stretches || seen(j) < fewest_stretches) return NAN;
    double square = 0;
    for (const auto& p : stretches) square += std::pow(temperature * (p[i] / all[i] - p[j] / all[j]), 2);
    const double n = double(stretches.size());
    return std::sqrt(square / (n - 1) / n);
  }
  std::size_t seen(std::size_t i) const {
    return std::size_t(std::count_if(stretches.begin(), stretches.end(), [i](const auto& p) { return p[i] > 0; }));
  }
};

template <class Bin>
Shares shares_of(const Chains& chains, std::size_t bins, Bin&& bin) {
  Shares out;
  out.all.assign(bins, 0.0);
  const std::size_t draws = chains.front().size();
  const std::size_t per_walker =
      std::clamp<std::size_t>((stretches_in_all + chains.size() - 1) / chains.size(), 1, draws);
  const std::size_t length = draws / per_walker;
  for (const auto& x : chains)
    for (std::size_t s = 0; s < per_walker; ++s) {
      auto& mine = out.stretches.emplace_back(bins, 0.0);
      for (std::size_t i = s * length; i < (s + 1) * length; ++i) mine[bin(x[i])] += 1 / double(length);
    }
  for (const auto& p : out.stretches)
    for (std::size_t i = 0; i < bins; ++i) out.all[i] += p[i] / double(out.stretches.size());
  return out;
}

// The rise that ends a stay in `other`, on the way to the deepest bin.
FreeEnergy::Barrier barrier_from(const FreeEnergy& f, std::size_t other, const Shares& shares, double T) {
  const auto [first, last] = std::minmax(other, f.deepest);
  std::size_t top = first;
  const auto height = [&](std::size_t i) { return std::isnan(f.value[i]) ? infinity : f.value[i]; };
  for (std::size_t i = first; i <= last; ++i)
    if (height(i) > height(top)) top = i;
  return {other,
          top,
          f.value[top],
          f.error[top],
          f.value[top] - f.value[other],
          shares.error(top, other, T),
          !std::isnan(f.value[top])};
}

// Share of the draws on that side of the top.
double beyond(const std::vector<double>& shares, std::size_t top, std::size_t side) {
  const auto at = shares.begin() + long(top);
  return side > top ? std::accumulate(at, shares.end(), 0.0) : std::accumulate(shares.begin(), at, 0.0);
}

}  // namespace

FreeEnergy free_energy(const Chains& chains, double temperature, std::size_t bins) {
  constexpr double clearly = 4, outliers = 0.05;  // standard errors; share of the draws
  double low = infinity, high = -infinity;
  for (const auto& x : chains)
    for (const double v : x) {
      if (!std::isfinite(v)) throw Error("some draws of the coordinate are not finite; leave them out with --skip");
      low = std::min(low, v);
      high = std::max(high, v);
    }
  if (const std::size_t draws = chains.size() * chains.front().size(); draws < fewest_draws)
    throw Error("a free energy needs at least {} draws; there are {}", fewest_draws, draws);
  if (!(high > low)) throw Error("the coordinate is the same in all draws, so it has no free energy");
  FreeEnergy f;
  f.low = low;
  f.width = (high - low) / double(bins);
  const Shares shares =
      shares_of(chains, bins, [&](double x) { return std::min(std::size_t((x - low) / f.width), bins - 1); });
  f.deepest = std::size_t(std::max_element(shares.all.begin(), shares.all.end()) - shares.all.begin());
  for (std::size_t i = 0; i < bins; ++i) {
    f.value.push_back(shares.all[i] > 0 ? temperature * std::log(shares.all[f.deepest] / shares.all[i]) : NAN);
    f.error.push_back(shares.error(i, f.deepest, temperature));
  }
  // Of all bins, the one whose way out rises most, by more than noise explains; a gap without draws counts if it cuts
  // off more than some outliers.
  double best = 0, most = 0;
  for (std::size_t j = 0; j < bins; ++j) {
    if (std::isnan(f.value[j]) || j == f.deepest) continue;
    const auto b = barrier_from(f, j, shares, temperature);
    if (b.top == j || (b.visited && std::isnan(f.error[j]))) continue;
    const double error = std::isnan(b.back_error) ? temperature : b.back_error;
    const double clear = b.visited ? b.back - clearly * error : beyond(shares.all, b.top, j) >= outliers ? infinity : 0;
    if (clear > best || (clear == best && clear > 0 && shares.all[j] > most)) {
      best = clear;
      most = shares.all[j];
      f.barriers = {b};
    }
  }
  return f;
}

namespace {

// x.v - mean.v for a direction that `analyse covariance` kept.
ChosenQuantity along_direction(const Chosen& chosen, const std::string& name) {
  const std::string file = (chosen.samples.run / "analysis" / "directions.npz").string();
  if (!std::filesystem::exists(file))
    throw Error("\"{}\" is not there; run `kelvin analyse covariance {}` first", file, chosen.samples.run.string());
  const auto arrays = read_npz(file);
  const auto v = arrays.find(name), mean = arrays.find("mean");
  if (v == arrays.end() || mean == arrays.end())
    throw Error("\"{}\" has no direction \"{}\"; it has v0 to v{}", file, name, arrays.size() - 2);
  if (v->second.values.size() != chosen.size || mean->second.values.size() != chosen.size)
    throw Error(
        "\"{}\" holds directions of {} numbers but the run has {} parameters; repeat `kelvin analyse covariance`", file,
        v->second.values.size(), chosen.size);
  ChosenQuantity q{name, "", Chains(chosen.walkers.size())};
  for (std::size_t w = 0; w < chosen.walkers.size(); ++w)
    each_piece(chosen, chosen.walkers[w], [&](std::span<const double> rows) {
      for (std::size_t r = 0; r < rows.size(); r += chosen.size) {
        double sum = 0;
        for (std::size_t i = 0; i < chosen.size; ++i)
          sum += (rows[r + i] - mean->second.values[i]) * v->second.values[i];
        q.walkers[w].push_back(sum);
      }
    });
  return q;
}

bool names_direction(const std::string& name) {
  return name.size() > 1 && name[0] == 'v' &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct FreeEnergyOptions : DrawSelection {
  std::string coordinate, part;
  long bins = 40;
  double temperature = 0;
  template <class Visit>
  void fields(Visit&& field) {
    field("coordinate", coordinate,
          "a statistic, a parameter (layer1.bias[0]), or v0, v1, ...: a direction that `analyse covariance` kept");
    DrawSelection::fields(field);
    field("bins", bins, "number of bins");
    field("temperature", temperature, "in place of the part's own; 0 takes that");
    field("part", part, "the part whose temperature it is");
  }
};

ChosenQuantity coordinate_of(const Samples& samples, const FreeEnergyOptions& options) {
  const Chosen chosen = choose(samples, {options, "", {}});
  if (options.coordinate.empty()) {
    if (chosen.size == 1) return quantities(chosen, {chosen.blocks[0].entry(0)}).front();
    throw Error("give --coordinate: a statistic such as potential, a parameter such as {}, or a direction such as v0",
                chosen.blocks[0].entry(0));
  }
  if (names_direction(options.coordinate)) return along_direction(chosen, options.coordinate);
  auto found = quantities(chosen, {options.coordinate});
  if (found.size() > 1)
    throw Error("--coordinate \"{}\" stands for {} quantities, {} and {} among them; give one", options.coordinate,
                found.size(), found[0].name, found[1].name);
  return found.front();
}

std::string with_error(double x, double error) {
  return std::isnan(error) ? fmt::format("{:.4g}", x) : fmt::format("{:.4g} +- {:.2g}", x, error);
}

Found find_free_energy(const Subject& subject, const FreeEnergyOptions& options, const Progress&) {
  const Samples& samples = subject.run();
  if (options.bins < 2) throw Error("--bins must be at least 2, not {}", options.bins);
  if (!(options.temperature >= 0)) throw Error("--temperature must be above 0, not {}", options.temperature);
  const ChosenQuantity q = coordinate_of(samples, options);
  const double T = options.temperature > 0 ? options.temperature
                                           : temperature_of(samples, options.part.empty() ? q.part : options.part);
  const FreeEnergy f = free_energy(q.walkers, T, std::size_t(options.bins));
  Table table;
  Curve curve{.name = q.name};
  for (std::size_t i = 0; i < f.value.size(); ++i) {
    table.row({{"coordinate", f.centre(i)}, {"free_energy", cell(f.value[i])}, {"error", cell(f.error[i])}});
    curve.x.push_back(f.centre(i));
    curve.y.push_back(f.value[i]);
    curve.low.push_back(f.value[i] - f.error[i]);
    curve.high.push_back(f.value[i] + f.error[i]);
  }
  Found out{{"", "Free energy along " + q.name, {}, {}, {}}, {}};
  if (f.barriers.empty()) {
    out.finding.words.push_back(fmt::format("No barrier along {} stands out of the noise.", q.name));
  } else {
    const auto& b = f.barriers.front();
    out.finding.words.push_back(
        b.visited
            ? fmt::format("A barrier at {} = {:.4g}: {} above the well at {:.4g}, {} above the one at {:.4g}.", q.name,
                          f.centre(b.top), with_error(b.out, b.out_error), f.centre(f.deepest),
                          with_error(b.back, b.back_error), f.centre(b.other))
            : fmt::format("Wells at {:.4g} and {:.4g} with no draws at {:.4g} between them: the barrier is higher than "
                          "this run can tell.",
                          f.centre(f.deepest), f.centre(b.other), f.centre(b.top)));
  }
  out.finding.words.push_back(fmt::format(
      "F = -T log p with T = {:g}, {} bins of {:.3g}, from the lowest; errors from stretches of the chains.", T,
      f.value.size(), f.width));
  out.finding.tables.push_back({"Free energy", table});
  out.finding.figures.push_back({.name = "free_energy",
                                 .title = out.finding.title,
                                 .x_label = q.name,
                                 .y_label = "F - lowest F",
                                 .curves = {curve},
                                 .caption = "Valleys are likely values, tops are crossed rarely."});
  return out;
}

}  // namespace

Question ask_free_energy() { return ask(find_free_energy); }

}  // namespace kelvin
