// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/verdict/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kelvin/analysis/analysis.h"
#include "kelvin/analysis/posterior/ensembles.h"
#include "kelvin/analysis/stored_run.h"
#include "kelvin/io/json.h"
#include "kelvin/numeric/mean.h"
#include "kelvin/numeric/statistics.h"
#include "kelvin/trajectory/checkpoint.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

namespace {

struct CompareOptions {
  std::size_t most = 200;
  template <class Visit>
  void fields(Visit&& field) {
    field("most", most, "draws of each run that are scored, evenly spaced", {.range = positive});
  }
};

struct ComparedRun {
  std::string name;
  RunSettings settings;
  std::vector<LogLine> log;
  std::vector<ComparedNumber> numbers;
};

void add(std::vector<ComparedNumber>& out, std::string name, double value, double error = NAN) {
  if (std::isfinite(value)) out.push_back({std::move(name), value, error});
}

// Loss and accuracy, or rmse, of single draws, on each set of rows.
template <class Real>
void score_draws(const StoredRun<Real>& run, std::size_t most, const std::function<void(double)>& progress,
                 std::vector<ComparedNumber>& out) {
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

// Summed over the walkers; nan for a run without a checkpoint.
template <class Real>
double evaluations(const StoredRun<Real>& run) {
  if (!has_checkpoint(run.samples.run) && !run.samples.manifest.checkpoint) return NAN;
  return double(read_checkpoint(run.samples.run, settings_checksum(run.samples.record.settings)).run.evaluations);
}

template <class Real>
std::vector<ComparedNumber> numbers_of(const StoredRun<Real>& run, const std::vector<LogLine>& log, std::size_t most,
                                       const std::function<void(double)>& progress) {
  const Samples& samples = run.samples;
  std::vector<ComparedNumber> out;
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
std::map<std::string, std::vector<std::string>> settings_that_differ(const std::vector<ComparedRun>& runs) {
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
Table side_by_side(const std::vector<std::string>& names, const std::vector<std::vector<ComparedNumber>>& numbers) {
  std::vector<std::string> order;
  for (const auto& list : numbers)
    for (const ComparedNumber& m : list)
      if (std::find(order.begin(), order.end(), m.name) == order.end()) order.push_back(m.name);
  Table table;
  for (const std::string& name : order) {
    Table::Row row = {{"measure", name}};
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto m =
          std::find_if(numbers[k].begin(), numbers[k].end(), [&](const ComparedNumber& x) { return x.name == name; });
      const bool there = m != numbers[k].end();
      row.emplace_back(names[k], cell(there ? m->value : NAN));
      row.emplace_back(names[k] + " error", cell(there ? m->error : NAN));
    }
    table.row(std::move(row));
  }
  return table;
}

// The tables of some runs: their numbers, and how those of the others differ from the first run's.
void add_tables(const std::string& title, const std::vector<std::string>& names,
                const std::vector<std::vector<ComparedNumber>>& numbers, Finding& out) {
  out.tables.push_back({title, side_by_side(names, numbers)});
  std::vector<std::vector<ComparedNumber>> differences;
  for (std::size_t k = 1; k < names.size(); ++k) {
    differences.push_back(difference(numbers[0], numbers[k]));
    std::erase_if(differences.back(), [](const ComparedNumber& m) { return m.value == 0; });
  }
  if (differences.empty()) return;
  out.tables.push_back({fmt::format("{}: difference to {}", title, names[0]),
                        side_by_side({names.begin() + 1, names.end()}, differences)});
}

Figure learning_curve(const std::vector<ComparedRun>& runs, const std::string& path, const std::string& what) {
  Figure f{.name = what, .title = what, .x_label = "step", .y_label = what};
  std::replace(f.name.begin(), f.name.end(), ' ', '_');
  for (const ComparedRun& run : runs) {
    Curve c{.name = run.name};
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
std::string verdict(const std::vector<std::string>& names, const std::vector<std::vector<ComparedNumber>>& numbers) {
  for (const char* name : {"test loss over draws", "validation loss over draws", "train loss over draws",
                           "test loss at the end", "train loss at the end", "potential"}) {
    std::vector<std::string> said;
    for (std::size_t k = 0; k < names.size(); ++k)
      for (const ComparedNumber& m : numbers[k])
        if (m.name == name)
          said.push_back(std::isnan(m.error) ? fmt::format("{} {:.4g}", names[k], m.value)
                                             : fmt::format("{} {:.4g} +- {:.2g}", names[k], m.value, m.error));
    if (said.size() == names.size()) return fmt::format("{}: {}.", name, fmt::join(said, ", "));
  }
  return "The runs have no measure in common.";
}

}  // namespace

std::vector<ComparedNumber> average(const std::vector<std::vector<ComparedNumber>>& runs) {
  std::vector<ComparedNumber> out;
  for (const ComparedNumber& first : runs.front()) {
    std::vector<double> values;
    for (const auto& run : runs)
      for (const ComparedNumber& m : run)
        if (m.name == first.name) values.push_back(m.value);
    const auto [mean, error] = mean_of(values);
    out.push_back({first.name, mean, error});
  }
  return out;
}

std::vector<ComparedNumber> difference(const std::vector<ComparedNumber>& a, const std::vector<ComparedNumber>& b) {
  std::vector<ComparedNumber> out;
  for (const ComparedNumber& x : a)
    for (const ComparedNumber& y : b)
      if (x.name == y.name) out.push_back({x.name, y.value - x.value, std::hypot(x.error, y.error)});
  return out;
}

namespace {

void check_runs(const std::vector<Samples>& all) {
  if (all.size() < 2) throw Error("{} run is given; name at least two to compare", all.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (std::filesystem::equivalent(all[j].run, all[k].run))
        throw Error("\"{}\" is given twice; name each run once", all[k].run.string());
}

// Runs that differ in nothing but the seed, as one; in the order in which they were given.
struct SeedGroups {
  std::vector<std::string> names;
  std::vector<std::vector<ComparedNumber>> numbers;
};
SeedGroups grouped_by_settings(const std::vector<ComparedRun>& runs) {
  std::vector<std::pair<Value, std::vector<std::size_t>>> groups;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    RunSettings unseeded = runs[k].settings;
    unseeded.seed = 0;
    const Value same = as_value(unseeded);
    const auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == same; });
    if (at == groups.end()) groups.push_back({same, {k}});
    else at->second.push_back(k);
  }
  SeedGroups out;
  for (const auto& [same, members] : groups) {
    std::vector<std::string> names;
    std::vector<std::vector<ComparedNumber>> numbers;
    for (const std::size_t k : members) {
      names.push_back(runs[k].name);
      numbers.push_back(runs[k].numbers);
    }
    out.names.push_back(fmt::format("{}", fmt::join(names, " ")));
    out.numbers.push_back(members.size() > 1 ? average(numbers) : numbers.front());
  }
  return out;
}

// A sentence, and a table if there is something to put into it.
std::string describe_settings(const std::vector<ComparedRun>& runs, Table& table) {
  std::vector<std::string> listed;
  for (const auto& [path, values] : settings_that_differ(runs)) {
    Table::Row row = {{"setting", path}};
    for (std::size_t k = 0; k < runs.size(); ++k) row.emplace_back(runs[k].name, values[k]);
    table.row(std::move(row));
    listed.push_back(fmt::format("{} ({})", path, fmt::join(values, ", ")));
  }
  return listed.empty() ? "All settings are the same."
                        : fmt::format("Settings that differ: {}.", fmt::join(listed, "; "));
}

Found find_differences(const Subject& subject, const CompareOptions& options, const Progress& progress) {
  const std::vector<Samples>& all = subject.runs;
  check_runs(all);
  std::vector<ComparedRun> runs;
  const auto said_when_it_ran = [](std::string_view) {};
  for (std::size_t k = 0; k < all.size(); ++k)
    with_stored_run(all[k], said_when_it_ran, [&](const auto& run) {
      const auto log = read_log(all[k].run);
      const auto tell = [&](double share) { progress(double(k) + share, double(all.size()), "runs"); };
      runs.push_back({all[k].run.string(), all[k].record.settings, log, numbers_of(run, log, options.most, tell)});
    });
  std::vector<std::string> names;
  std::vector<std::vector<ComparedNumber>> numbers;
  for (const ComparedRun& run : runs) {
    names.push_back(run.name);
    numbers.push_back(run.numbers);
  }
  const SeedGroups groups = grouped_by_settings(runs);
  const bool grouped = groups.names.size() < runs.size();
  Table settings;
  Finding out{.title = "Runs side by side"};
  out.words.push_back(grouped ? verdict(groups.names, groups.numbers) : verdict(names, numbers));
  out.words.push_back(describe_settings(runs, settings));
  if (grouped)
    out.words.push_back(
        "Runs that differ in the seed only are averaged; errors of these means come from their scatter.");
  if (std::any_of(all.begin(), all.end(),
                  [&](const Samples& s) { return s.record.data_checksum != all[0].record.data_checksum; }))
    out.words.push_back("The data are not the same in all runs.");
  if (grouped) add_tables("Averages over seeds", groups.names, groups.numbers, out);
  add_tables("Runs", names, numbers, out);
  if (!settings.rows.empty()) out.tables.push_back({"Settings that differ", settings});
  for (const auto& [path, what] : {std::pair{"train.loss", "train loss"},
                                   {"validation.loss", "validation loss"},
                                   {"test.loss", "test loss"},
                                   {"test.accuracy", "test accuracy"},
                                   {"potential", "potential"}})
    if (Figure f = learning_curve(runs, path, what); !f.curves.empty()) out.figures.push_back(std::move(f));
  return {out};
}

}  // namespace

Question ask_compare() { return ask(find_differences); }

}  // namespace kelvin
