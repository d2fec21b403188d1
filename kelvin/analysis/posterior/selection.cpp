// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kelvin/analysis/stored_run.h"
#include "kelvin/core/choice.h"
#include "kelvin/core/entry.h"
#include "kelvin/core/text.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {
namespace {

constexpr std::size_t numbers_at_once = 1 << 22, numbers_held = std::size_t(1) << 27, most_quantities = 1000,
                      few_parameters = 20;

std::vector<ChosenBlock> blocks_of(const Samples& samples) {
  std::vector<ChosenBlock> blocks;
  std::size_t offset = 0;
  for (const std::string& name : samples.blocks) {
    if (!samples.manifest.arrays.contains("posterior/" + name))
      throw Error("\"{}\" has no draws of \"{}\"; it was run with store.weights = \"none\"", samples.run.string(),
                  name);
    const ZarrShape shape = samples.shape("posterior/" + name);
    blocks.push_back({name, "", shape.each, offset, shape.size()});
    offset += shape.size();
  }
  // A recipe puts the blocks of its parts one part after another, then the frozen ones.
  std::size_t end = 0;
  for (const std::string& part : samples.parts) {
    const std::size_t first = end;
    end += samples.record.part.at(part).size;
    for (ChosenBlock& b : blocks)
      if (b.offset >= first && b.offset < end) b.part = part;
  }
  return blocks;
}

std::string quantity_of_part(const std::string& statistic, const std::string& part) {
  return statistic + " of " + part;
}

std::vector<double> at_draws(const std::vector<double>& values, const Chosen& chosen, std::size_t width,
                             std::size_t column) {
  std::vector<double> out;
  for (const std::size_t d : chosen.draws) out.push_back(values[d * width + column]);
  return out;
}

// Statistics of the run, as its store named them.
std::vector<ChosenQuantity> statistics(const Chosen& chosen, const std::vector<std::string>& globs) {
  const Samples& samples = chosen.samples;
  std::vector<ChosenQuantity> out;
  for (const auto& [place, fingerprint] : samples.manifest.arrays) {
    constexpr std::string_view group = "sample_stats/";
    if (!place.starts_with(group)) continue;
    const std::string name = place.substr(group.size());
    const std::vector<std::size_t> each = samples.shape(place).each;
    const std::size_t width = samples.shape(place).size();
    const bool per_part = width == samples.parts.size() && !each.empty();
    for (std::size_t k = 0; k < width; ++k) {
      const std::string part = per_part ? samples.parts[k] : "",
                        full = per_part ? quantity_of_part(name, part) : entry_name(name, k, each);
      if (!matches_any(globs, full)) continue;
      ChosenQuantity q{full, part, {}};
      for (const std::size_t w : chosen.walkers)
        q.walkers.push_back(at_draws(samples.statistic(name, w), chosen, width, k));
      out.push_back(std::move(q));
    }
  }
  return out;
}

}  // namespace

std::string ChosenBlock::entry(std::size_t i) const { return entry_name(name, i, shape); }

std::string Chosen::words() const {
  return fmt::format(
      "{} draw{} of {}", draws.size(), draws.size() == 1 ? "" : "s",
      walkers.size() == 1 ? fmt::format("walker {}", walkers[0]) : fmt::format("{} walkers", walkers.size()));
}

bool matches_any(const std::vector<std::string>& globs, std::string_view name) {
  bool found = false;
  for (const std::string& glob : globs)
    if (glob.starts_with('!')) found = found && !matches(std::string_view(glob).substr(1), name);
    else found = found || matches(glob, name);
  return found;
}

Chosen choose(const Samples& samples, const ParameterSelection& options) {
  Chosen chosen{samples, {}, {}, {}, 0, 0};
  if (options.walker < -1 || options.walker >= long(samples.walkers))
    throw Error("--walker {}: the run has {} walkers, counted from 0", options.walker, samples.walkers);
  for (std::size_t w = 0; w < samples.walkers; ++w)
    if (options.walker < 0 || std::size_t(options.walker) == w) chosen.walkers.push_back(w);
  if (options.every < 1) throw Error("--every must be at least 1, not {}", options.every);
  if (options.skip < 0 || options.skip >= long(samples.draws))
    throw Error("--skip {} leaves none of {} draws; give a number from 0 to {}", options.skip, samples.draws,
                samples.draws - 1);
  for (std::size_t d = std::size_t(options.skip); d < samples.draws; d += std::size_t(options.every))
    chosen.draws.push_back(d);
  if (!options.part.empty() &&
      std::find(samples.parts.begin(), samples.parts.end(), options.part) == samples.parts.end())
    throw Error("no part \"{}\"; the run has {}{}", options.part, listed(samples.parts),
                suggestion(options.part, samples.parts));
  for (const ChosenBlock& b : blocks_of(samples)) {
    chosen.parameters += b.size;
    if (!options.part.empty() && b.part != options.part) continue;
    if (!options.blocks.empty() && !matches_any(options.blocks, b.name)) continue;
    chosen.blocks.push_back(b);
    chosen.size += b.size;
  }
  if (chosen.blocks.empty())
    throw Error("no block matches {}; the run has {}", listed(options.blocks), listed(samples.blocks));
  return chosen;
}

Chosen thinned(Chosen chosen, std::size_t most_rows) {
  const std::size_t most = std::max<std::size_t>(1, most_rows / chosen.walkers.size());
  const std::size_t stride = (chosen.draws.size() + most - 1) / most;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < chosen.draws.size(); i += stride) kept.push_back(chosen.draws[i]);
  chosen.draws = kept;
  return chosen;
}

void each_piece(const Chosen& chosen, std::size_t walker, const VisitRows& visit) {
  const std::size_t most = std::max<std::size_t>(1, numbers_at_once / chosen.size);
  const auto& draws = chosen.draws;
  std::vector<double> rows;
  for (std::size_t i = 0, j; i < draws.size(); i = j) {
    for (j = i + 1; j < draws.size() && draws[j] - draws[i] < most;) ++j;
    const std::size_t first = draws[i], count = draws[j - 1] + 1 - first;
    rows.resize((j - i) * chosen.size);
    std::size_t column = 0;
    for (const ChosenBlock& b : chosen.blocks) {
      const auto values = chosen.samples.array("posterior/" + b.name, walker, first, count);
      for (std::size_t k = i; k < j; ++k)
        std::copy_n(values.begin() + long((draws[k] - first) * b.size), b.size,
                    rows.begin() + long((k - i) * chosen.size + column));
      column += b.size;
    }
    visit(rows);
  }
}

Rows rows_of(std::vector<double> numbers, std::size_t width) {
  const std::size_t count = numbers.size() / width;
  return {count, width, [numbers = std::move(numbers)](const VisitRows& visit) { visit(numbers); }};
}

Rows rows_of(const Chosen& chosen) {
  const auto from_disk = [chosen](const VisitRows& visit) {
    for (const std::size_t w : chosen.walkers) each_piece(chosen, w, visit);
  };
  if (chosen.rows() > numbers_held / chosen.size) return {chosen.rows(), chosen.size, from_disk};
  std::vector<double> held;
  held.reserve(chosen.rows() * chosen.size);
  from_disk([&](std::span<const double> rows) { held.insert(held.end(), rows.begin(), rows.end()); });
  return rows_of(std::move(held), chosen.size);
}

std::vector<ChosenQuantity> quantities(const Chosen& chosen, const std::vector<std::string>& globs) {
  std::vector<ChosenQuantity> out = statistics(chosen, globs);
  for (const ChosenBlock& b : chosen.blocks) {
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < b.size; ++i)
      if (matches_any(globs, b.entry(i))) columns.push_back(i);
    if (columns.empty()) continue;
    if (out.size() + columns.size() > most_quantities)
      throw Error("{} matches more than {} quantities; choose fewer", listed(globs), most_quantities);
    Chosen alone = chosen;
    alone.blocks = {b};
    alone.size = b.size;
    const std::size_t before = out.size();
    for (const std::size_t i : columns) out.push_back({b.entry(i), b.part, Chains(chosen.walkers.size())});
    for (std::size_t w = 0; w < chosen.walkers.size(); ++w)
      each_piece(alone, chosen.walkers[w], [&](std::span<const double> rows) {
        for (std::size_t r = 0; r < rows.size(); r += b.size)
          for (std::size_t c = 0; c < columns.size(); ++c) out[before + c].walkers[w].push_back(rows[r + columns[c]]);
      });
  }
  if (out.empty())
    throw Error("no quantity matches {}; there are the statistics of `kelvin summary {}`, and parameters such as {}",
                listed(globs), chosen.samples.run.string(), chosen.blocks[0].entry(0));
  return out;
}

std::vector<ChosenQuantity> usual_quantities(const Chosen& chosen, const std::vector<std::string>& globs) {
  if (!globs.empty()) return quantities(chosen, globs);
  std::vector<std::string> usual = {"potential", "energy", "kinetic_temperature of *",
                                    "configurational_temperature of *"};
  const bool alone = chosen.samples.record.imported();  // perhaps without any statistic
  if (chosen.size <= (alone ? most_quantities / 2 : few_parameters)) {
    usual.push_back("*[*]");
    for (const ChosenBlock& b : chosen.blocks)
      if (b.shape.empty()) usual.push_back(b.name);
  }
  return quantities(chosen, usual);
}

double temperature_of(const Samples& samples, const std::string& part) {
  if (samples.record.imported())
    throw Error("\"{}\" tells no temperature; give --temperature (1 where the law is exp(-U))",
                samples.record.source.value());
  const RunSettings& settings = samples.record.settings;
  const Horizon horizon{double(settings.warmup + settings.steps),
                        double(std::max<std::size_t>(1, samples.record.rows))};
  double temperature = -1;
  for (const std::string& name : samples.parts) {
    if (!part.empty() && name != part) continue;
    const auto [low, high] = Schedule(settings.part.at(name).temperature, horizon).range();
    if (low != high)
      throw Error("the temperature of part \"{}\" changes from {:g} to {:g}; give --temperature", name, low, high);
    if (temperature >= 0 && low != temperature)
      throw Error("the parts have different temperatures ({:g} and {:g}); give --temperature", temperature, low);
    temperature = low;
  }
  if (!(temperature > 0)) throw Error("a run at temperature 0 has no density; give --temperature if you know better");
  return temperature;
}

}  // namespace kelvin
