// SPDX-License-Identifier: Apache-2.0
// `kelvin experiment`: repeats an experiment of experiments/ with all its seeds, beside what was published.
#include <csignal>
#include <ctime>
#include <fstream>
#include <mutex>

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "kelvin/core/parallel.h"
#include "kelvin/core/toml.h"
#include "kelvin/core/version.h"
#include "kelvin/experiment/outcome.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {
namespace {

namespace fs = std::filesystem;

struct ExperimentArguments {
  std::vector<std::string> names;
  std::string folder = "experiments", out = "runs/experiments", group;
  std::size_t threads = all_threads();
  long seeds = 0;
  bool list = false, quick = false, store = false, quiet = false, json = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("names", names, "folders of experiments/; `all` for every one", optional_argument);
    field("list", list, "what there is");
    field("quick", quick, "fewer seeds");
    field("seeds", seeds, "so many seeds", {.range = positive});
    field("group", group, "all experiments of a group");
    field("threads", threads, "runs at a time; no result depends on it", {.range = positive});
    field("folder", folder, "where experiments are");
    field("out", out, "where runs and results are kept");
    field("store", store, "put the result beside the experiment, for docs/experiments.md");
    field("quiet", quiet, "no progress");
    field("json", json, "print JSON");
  }
};

std::atomic<bool> stopping = false;

std::vector<std::string> known_experiments(const std::string& folder) {
  std::vector<std::string> names;
  if (fs::is_directory(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      if (fs::exists(entry.path() / "experiment.toml")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  if (names.empty())
    throw Error(
        "\"{}\" holds no experiments; run this where the project's folder \"experiments\" is, or name it with "
        "--folder",
        folder);
  return names;
}

Experiment open_experiment(const ExperimentArguments& options, const std::string& name) {
  const fs::path file = fs::path(options.folder) / name / "experiment.toml";
  if (!fs::exists(file))
    throw Error("no experiment \"{}\" in \"{}\"{}; `kelvin experiment --list` names them", name, options.folder,
                suggestion(name, known_experiments(options.folder)));
  return read_experiment(read_toml(file), name);
}

// Outcomes of an earlier, interrupted turn that were made with these very settings.
std::vector<Outcome> earlier_outcomes(const Experiment& experiment, const fs::path& file, long seeds) {
  std::vector<Outcome> outcomes;
  std::ifstream lines(file);
  for (std::string text; std::getline(lines, text);) {
    Value line;
    try {
      line = parse_json(text, file.string());
    } catch (const Error&) {
      continue;  // cut off by a kill
    }
    if (auto outcome = read_outcome(experiment, line); outcome && outcome->seed <= seeds)
      outcomes.push_back(std::move(*outcome));
  }
  return outcomes;
}

std::string commit_here() {
  std::string text;
  if (FILE* pipe = popen("git rev-parse --short HEAD 2>/dev/null", "r")) {
    char line[64];
    if (std::fgets(line, sizeof line, pipe)) text = line;
    pclose(pipe);
  }
  return text.substr(0, text.find('\n'));
}

Value repeat_experiment(const ExperimentArguments& options, const std::string& name) {
  const Experiment experiment = open_experiment(options, name);
  const long seeds = options.seeds   ? options.seeds
                     : options.quick ? experiment.settings.quick
                                     : experiment.settings.seeds;
  const fs::path out = fs::path(options.out) / name, file = out / "runs.jsonl";
  make_directories(out);
  const RunLock lock(out);
  std::vector<Outcome> outcomes = earlier_outcomes(experiment, file, seeds);
  std::vector<std::pair<std::size_t, long>> missing;  // the slowest method's runs should not come last, so seed by seed
  for (long seed = 1; seed <= seeds; ++seed)
    for (std::size_t c = 0; c < experiment.cells.size(); ++c)
      if (std::none_of(outcomes.begin(), outcomes.end(),
                       [&](const Outcome& o) { return o.cell == c && o.seed == seed; }))
        missing.emplace_back(c, seed);

  Progress progress(double(outcomes.size() + missing.size()), "runs", options.quiet, double(outcomes.size()));
  std::ofstream log(file, std::ios::app);
  log << (outcomes.empty() ? "" : "\n");  // after a line that a kill cut off
  std::mutex writing;
  parallel(missing.size(), options.threads, [&](std::size_t k) {
    if (stopping) return;
    Outcome outcome = perform(experiment, missing[k].first, missing[k].second);
    const std::lock_guard held(writing);
    if (!(log << to_json(as_value(experiment, outcome)) << std::endl))
      throw WriteError("cannot write \"{}\"; is the disk full?", file.string());
    progress.show(double(outcomes.size() + 1), experiment.cells[outcome.cell].name);
    outcomes.push_back(std::move(outcome));
  });
  progress.finish();
  if (stopping) {
    remark(fmt::format("stopped with {} of {} runs done; the same command goes on", outcomes.size(),
                       std::size_t(seeds) * experiment.cells.size()));
    throw Exit{130};
  }
  std::sort(outcomes.begin(), outcomes.end(),
            [](const Outcome& a, const Outcome& b) { return std::pair(a.cell, a.seed) < std::pair(b.cell, b.seed); });
  const Finding finding = conclude(experiment, outcomes);
  keep(out, finding);
  Value::Group result = {{"experiment", name},
                         {"date", utc("%Y-%m-%d")},
                         {"commit", commit_here()},
                         {"kelvin", version()},
                         {"seeds", seeds},
                         {"seconds", missing.empty() ? Value() : Value(progress.seconds())},
                         {"finding", as_value(finding)}};
  write_file(out / "result.json", to_json(result) + "\n");
  if (options.store) {
    Finding slim = finding;
    slim.figures.clear();  // they are large, and the same command makes them again
    result["finding"] = as_value(slim);
    write_file(fs::path(options.folder) / name / "result.json", to_json(result) + "\n");
  }
  if (!options.json)
    print(fmt::format("{}: {}\n{}\n`kelvin report {} --open` shows its figures.\n\n", name, finding.title,
                      as_text(finding), out.string()));
  return result;
}

void list_experiments(const ExperimentArguments& o) {
  Table table;
  for (const std::string& name : known_experiments(o.folder)) {
    const Experiment e = open_experiment(o, name);
    table.row({{"name", name},
               {"group", e.settings.group},
               {"shows", e.settings.title},
               {"arms", e.cells.size()},
               {"seeds", e.settings.seeds},
               {"source", e.settings.source}});
  }
  print(table, o.json);
}

void repeat_experiments(const ExperimentArguments& o) {
  if (o.list) return list_experiments(o);
  std::vector<std::string> names = o.names;
  if (names == std::vector<std::string>{"all"} || !o.group.empty()) {
    names = known_experiments(o.folder);
    if (!o.group.empty())
      std::erase_if(names, [&](const std::string& n) { return open_experiment(o, n).settings.group != o.group; });
  }
  if (names.empty()) throw Error("name an experiment, or `all`; `kelvin experiment --list` shows what there is");
  struct sigaction action = {};
  action.sa_handler = [](int) { stopping = true; };
  action.sa_flags = int(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  Value::List results;
  for (const std::string& name : names) results.push_back(repeat_experiment(o, name));
  if (o.json) print(to_json(results, 2) + "\n");
}

}  // namespace

Command experiment_command() {
  return {.name = "experiment",
          .summary = "repeat published experiments, with the published numbers beside",
          .footer = "Example:  kelvin experiment twenty_units --quick",
          .call = calls(repeat_experiments)};
}

}  // namespace kelvin::cli
