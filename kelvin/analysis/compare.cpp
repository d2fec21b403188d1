// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kelvin/analysis/diagnostics.h"
#include "kelvin/analysis/ensembles.h"
#include "kelvin/analysis/replay.h"
#include "kelvin/io/json.h"
#include "kelvin/numeric/mean.h"
#include "kelvin/trajectory/checkpoint.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

namespace {

struct Run {
  std::string name;
  RunSettings settings;
  std::vector<LogLine> log;
  std::vector<Measured> measures;
};

void add(std::vector<Measured>& out, std::string name, double value, double error = NAN) {
  if (std::isfinite(value)) out.push_back({std::move(name), value, error});
}

// Loss and accuracy, or rmse, of single draws, on each set of rows.
template <class Real>
void score_draws(const Replay<Real>& run, std::size_t most, const std::function<void(double)>& progress,
                 std::vector<Measured>& out) {
  const Problem<Real>& problem = run.problem;
  if (!problem.train) return;
  const Samples& samples = run.samples;
  const std::size_t all = samples.draws * samples.walkers, every = std::max<std::size_t>(1, all / most);
  const std::vector<std::pair<std::string, PlacedLikelihood<Real>*>> splits = {
      {"train", problem.train.get()}, {"validation", problem.validation.get()}, {"test", problem.test.get()}};
  std::map<std::string, Chains> series;
  std::size_t scored = 0;
  run.each_point(every, [&](std::size_t, std::size_t walker, std::span<const Real> q) {
    for (const auto& [split, network] : splits) {
      if (!network) continue;
      const Score score = network->score(q, {});
      for (const auto& [name, x] : {std::pair{"loss", score.loss}, {"accuracy", score.accuracy}, {"rmse", score.rmse}})
        if (!std::isnan(x)) {
          Chains& chains = series[split + " " + name];
          chains.resize(samples.walkers);
          chains[walker].push_back(x);
        }
    }
    progress(std::min(1.0, double(++scored * every) / double(all)));
  });
  for (const auto& [split, network] : splits)
    for (const char* name : {"loss", "accuracy", "rmse"})
      if (const auto at = series.find(split + " " + name); at != series.end())
        add(out, at->first + " over draws", mean(at->second),
            mcse_mean(ensemble_means(at->second, walkers_together(samples))));
}

// Summed over the walkers; nan for a run without a checkpoint that can be read.
template <class Real>
double evaluations(const Replay<Real>& run) {
  if (!has_checkpoint(run.samples.run)) return NAN;
  return double(read_checkpoint(run.samples.run, settings_checksum(run.samples.record.settings)).run.evaluations);
}

template <class Real>
std::vector<Measured> measured(const Replay<Real>& run, const std::vector<LogLine>& log, std::size_t most,
                               const std::function<void(double)>& progress) {
  const Samples& samples = run.samples;
  std::vector<Measured> out;
  const auto last = [&](const std::string& name) { return log.empty() ? NAN : logged(log.back(), name).value_or(NAN); };
  for (const char* split : {"train", "validation", "test"})
    for (const char* name : {"loss", "accuracy", "rmse"})
      add(out, fmt::format("{} {} at the end", split, name), last(fmt::format("{}.{}", split, name)));
  const bool weights = samples.draws > 0 && samples.manifest.arrays.contains("posterior/" + samples.blocks.front());
  if (weights) score_draws(run, most, progress, out);
  const double seconds = samples.record.seconds.value_or(samples.manifest.seconds);
  if (samples.draws > 0) {
    Chains energy;
    double acceptance = 0;
    for (std::size_t w = 0; w < samples.walkers; ++w) {
      energy.push_back(samples.statistic("potential", w));
      acceptance += mean({samples.statistic("acceptance_rate", w)}) / double(samples.walkers);
    }
    const Convergence c = ensemble_convergence(energy, walkers_together(samples));
    add(out, "potential", c.mean, c.mcse_mean);
    add(out, "rhat of potential", c.rhat);
    add(out, "ess of potential", c.ess_bulk);
    add(out, "ess of potential per second", c.ess_bulk / seconds);
    add(out, "acceptance", acceptance);
  }
  add(out, "draws", double(samples.draws * samples.walkers));
  add(out, "walkers", double(samples.walkers));
  add(out, "steps", last("step"));
  add(out, "gradient evaluations", evaluations(run));
  add(out, "seconds", seconds);
  return out;
}

// "part.all.step" -> 0.1; a row with its numbers and a list count as one value.
void flatten(const Value& settings, const std::string& path, std::map<std::string, std::string>& out) {
  if (!settings.group() || settings.contains("name")) {
    out[path] = to_json(settings);
    return;
  }
  for (const auto& [name, value] : settings.entries()) flatten(value, path.empty() ? name : path + "." + name, out);
}

// Path of each setting that is not the same in all runs -> its value in each; "-" where it does not exist.
std::map<std::string, std::vector<std::string>> settings_that_differ(const std::vector<Run>& runs) {
  std::map<std::string, std::vector<std::string>> out;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    std::map<std::string, std::string> flat;
    flatten(as_value(runs[k].settings), "", flat);
    for (const auto& [path, value] : flat) {
      auto& values = out[path];
      values.resize(runs.size(), "-");
      values[k] = value;
    }
  }
  std::erase_if(out, [](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(),
                       [&](const std::string& value) { return value == entry.second.front(); });
  });
  return out;
}

// A row for each measure, two columns for each run: the value and its error.
Table side_by_side(const std::vector<std::string>& names, const std::vector<std::vector<Measured>>& measures) {
  std::vector<std::string> order;
  for (const auto& list : measures)
    for (const Measured& m : list)
      if (std::find(order.begin(), order.end(), m.name) == order.end()) order.push_back(m.name);
  Table table;
  for (const std::string& name : order) {
    Table::Row row = {{"measure", name}};
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto m =
          std::find_if(measures[k].begin(), measures[k].end(), [&](const Measured& x) { return x.name == name; });
      const bool there = m != measures[k].end();
      row.emplace_back(names[k], cell(there ? m->value : NAN));
      row.emplace_back(names[k] + " error", cell(there ? m->error : NAN));
    }
    table.row(std::move(row));
  }
  return table;
}

// The tables of some runs: their measures, and how those of the others differ from the first run's.
void add_tables(const std::string& title, const std::vector<std::string>& names,
                const std::vector<std::vector<Measured>>& measures, Finding& out) {
  out.tables.push_back({title, side_by_side(names, measures)});
  std::vector<std::vector<Measured>> differences;
  for (std::size_t k = 1; k < names.size(); ++k) {
    differences.push_back(difference(measures[0], measures[k]));
    std::erase_if(differences.back(), [](const Measured& m) { return m.value == 0; });
  }
  if (differences.empty()) return;
  out.tables.push_back({fmt::format("{}: difference to {}", title, names[0]),
                        side_by_side({names.begin() + 1, names.end()}, differences)});
}

Figure learning_curve(const std::vector<Run>& runs, const std::string& path, const std::string& what) {
  Figure f{what, what, "step", what, {}, {}, "", false, false, false};
  std::replace(f.name.begin(), f.name.end(), ' ', '_');
  for (const Run& run : runs) {
    Curve c{run.name, {}, {}, {}, {}, "line"};
    for (const LogLine& line : run.log)
      if (const double x = logged(line, path).value_or(NAN); std::isfinite(x)) {
        c.x.push_back(double(line.step));
        c.y.push_back(x);
      }
    if (!c.x.empty()) f.curves.push_back(std::move(c));
  }
  return f;
}

// What a reader wants first: how the last set of rows, or the energy, differs.
std::string verdict(const std::vector<std::string>& names, const std::vector<std::vector<Measured>>& measures) {
  for (const char* name : {"test loss over draws", "validation loss over draws", "train loss over draws",
                           "test loss at the end", "train loss at the end", "potential"}) {
    std::vector<std::string> said;
    for (std::size_t k = 0; k < names.size(); ++k)
      for (const Measured& m : measures[k])
        if (m.name == name)
          said.push_back(std::isnan(m.error) ? fmt::format("{} {:.4g}", names[k], m.value)
                                             : fmt::format("{} {:.4g} +- {:.2g}", names[k], m.value, m.error));
    if (said.size() == names.size()) return fmt::format("{}: {}.", name, fmt::join(said, ", "));
  }
  return "The runs have no measure in common.";
}

}  // namespace

std::vector<Measured> average(const std::vector<std::vector<Measured>>& runs) {
  std::vector<Measured> out;
  for (const Measured& first : runs.front()) {
    std::vector<double> values;
    for (const auto& run : runs)
      for (const Measured& m : run)
        if (m.name == first.name) values.push_back(m.value);
    const auto [mean, error] = mean_of(values);
    out.push_back({first.name, mean, error});
  }
  return out;
}

std::vector<Measured> difference(const std::vector<Measured>& a, const std::vector<Measured>& b) {
  std::vector<Measured> out;
  for (const Measured& x : a)
    for (const Measured& y : b)
      if (x.name == y.name) out.push_back({x.name, y.value - x.value, std::hypot(x.error, y.error)});
  return out;
}

Finding compare(const std::vector<Samples>& all, const CompareOptions& options) {
  if (all.size() < 2) throw Error("{} run is given; name at least two to compare", all.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (std::filesystem::equivalent(all[j].run, all[k].run))
        throw Error("\"{}\" is given twice; name each run once", all[k].run.string());
  std::vector<Run> runs;
  for (std::size_t k = 0; k < all.size(); ++k)
    with_replay(
        all[k], [](std::string_view) {},
        [&](const auto& run) {
          const auto log = read_log(all[k].run);
          runs.push_back({all[k].run.string(), all[k].record.settings, log,
                          measured(run, log, options.most, [&](double share) { options.progress(k, share); })});
        });

  Finding out{"compare", "Runs side by side", {}, {}, {}};
  std::vector<std::string> names;
  std::vector<std::vector<Measured>> measures;
  for (const Run& run : runs) names.push_back(run.name), measures.push_back(run.measures);

  const auto differ = settings_that_differ(runs);
  Table settings;
  std::vector<std::string> listed;
  for (const auto& [path, values] : differ) {
    Table::Row row = {{"setting", path}};
    for (std::size_t k = 0; k < runs.size(); ++k) row.emplace_back(runs[k].name, values[k]);
    settings.row(std::move(row));
    listed.push_back(fmt::format("{} ({})", path, fmt::join(values, ", ")));
  }

  // Runs that differ in nothing but the seed, in the order in which they were given.
  std::vector<std::pair<Value, std::vector<std::size_t>>> groups;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    RunSettings unseeded = runs[k].settings;
    unseeded.seed = 0;
    const Value same = as_value(unseeded);
    const auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == same; });
    if (at == groups.end()) groups.push_back({same, {k}});
    else at->second.push_back(k);
  }
  std::vector<std::string> group_names;
  std::vector<std::vector<Measured>> group_measures;
  for (const auto& [same, members] : groups) {
    std::vector<std::string> mine;
    std::vector<std::vector<Measured>> theirs;
    for (const std::size_t k : members) mine.push_back(names[k]), theirs.push_back(measures[k]);
    group_names.push_back(fmt::format("{}", fmt::join(mine, " ")));
    group_measures.push_back(members.size() > 1 ? average(theirs) : theirs.front());
  }
  const bool grouped = groups.size() < runs.size();
  out.words.push_back(grouped ? verdict(group_names, group_measures) : verdict(names, measures));
  out.words.push_back(listed.empty() ? std::string("All settings are the same.")
                                     : fmt::format("Settings that differ: {}.", fmt::join(listed, "; ")));
  if (grouped)
    out.words.push_back(
        "Runs that differ in the seed only are averaged; errors of these means come from their scatter.");
  if (std::any_of(all.begin(), all.end(),
                  [&](const Samples& s) { return s.record.data_checksum != all[0].record.data_checksum; }))
    out.words.push_back("The data are not the same in all runs.");
  if (grouped) add_tables("Averages over seeds", group_names, group_measures, out);
  add_tables("Runs", names, measures, out);
  if (!settings.rows.empty()) out.tables.push_back({"Settings that differ", settings});
  for (const auto& [path, what] : {std::pair{"train.loss", "train loss"},
                                   {"validation.loss", "validation loss"},
                                   {"test.loss", "test loss"},
                                   {"test.accuracy", "test accuracy"},
                                   {"potential", "potential"}})
    if (Figure f = learning_curve(runs, path, what); !f.curves.empty()) out.figures.push_back(std::move(f));
  return out;
}

}  // namespace kelvin
