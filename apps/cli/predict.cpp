// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "kelvin/analysis/predict_finding.h"
#include "kelvin/io/load.h"
#include "kelvin/analysis/predictions_file.h"
#include "kelvin/io/load.h"

namespace kelvin::cli {
namespace {

struct PredictArguments {
  std::string run, data, labels, outside, outside_labels, out, split;
  std::size_t every = 1, threads = all_threads();
  std::vector<double> levels = {0.05, 0.25, 0.5, 0.75, 0.95};
  bool json = false, force = false, quiet = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("run", run, "directory of a run", argument);
    field("data", data,
          "rows to predict, with the run's inputs as columns; targets are optional (default: the run's test rows, else "
          "validation, else training rows)");
    field("labels", labels, "targets of those rows, if they are in a file of their own");
    field("split", split, "rows of the run itself: test, validation or train");
    field("ood", outside, "rows out of distribution: can the uncertainty tell them apart?");
    field("ood_labels", outside_labels, "their targets, to be scored too");
    field("out", out, "write the predictions row by row: a .csv or .npz file");
    field("quantiles", levels, "of numbers, in that file: 0.05,0.5,0.95");
    field("every", every, "use every so many of the draws", {.range = positive});
    field("threads", threads, "the result does not depend on them", {.range = positive});
    field("force", force, "replace the file that is there");
    field("quiet", quiet, "no progress bar");
    field("json", json, "print JSON");
  }
};

void check_arguments(const PredictArguments& o) {
  if (o.data.empty() && !o.labels.empty()) throw Error("--labels is given without --data; give both");
  if (o.outside.empty() && !o.outside_labels.empty()) throw Error("--ood-labels is given without --ood; give both");
  if (!o.data.empty() && !o.split.empty()) throw Error("--data and --split exclude each other; leave one out");
  for (const double level : o.levels)
    if (!(level > 0 && level < 1)) throw Error("--quantiles must lie between 0 and 1, not {:g}", level);
  if (o.out.empty()) return;
  predictions_format_of(o.out);
  if (std::filesystem::exists(o.out) && !(o.force && std::filesystem::is_regular_file(o.out)))
    throw Error("\"{}\" exists already; give another file with -o, or --force to replace it", o.out);
}

struct ChosenRows {
  Dataset data;
  std::string name;
};

// The rows of --data, of --split, or the first of test, validation and training rows that there are.
ChosenRows rows_for(const PredictArguments& o, const RunSettings& settings, const Splits& splits) {
  if (!o.data.empty()) return {load_rows(o.data, o.labels, settings.data, splits.train), "rows of " + o.data};
  const std::pair<std::string, const Dataset*> known[] = {
      {"test", &splits.test}, {"validation", &splits.validation}, {"train", &splits.train}};
  bool found = false;
  for (const auto& [name, rows] : known) {
    found |= name == o.split;
    if ((o.split.empty() || name == o.split) && rows->rows > 0)
      return {*rows, name == "train" ? "training rows" : name + " rows"};
  }
  if (!found) throw Error("--split must be train, validation or test, not \"{}\"", o.split);
  throw Error("the run has no {} rows; give a file with --data", o.split);
}

template <class Real>
void predict_with(const Samples& samples, const RunSettings& settings, const PredictArguments& o) {
  const Replay<Real> again = replay<Real>(samples, settings, [](std::string_view) {});
  check_predicts(again);
  const Splits& splits = again.problem.data;
  const ChosenRows chosen = rows_for(o, settings, splits);
  std::optional<Dataset> outside;
  if (!o.outside.empty()) {
    outside = load_rows(o.outside, o.outside_labels, settings.data, splits.train);
    if (o.outside_labels.empty()) outside->targets.clear();
  }
  PredictOptions options;
  options.every = o.every;
  options.threads = o.threads;
  if (!o.out.empty()) options.levels = o.levels;
  Progress progress(100, "%", o.quiet || o.json);
  options.progress = [&](double share) { progress.show(100 * share, chosen.name); };
  Predicted found;
  found.rows = predict(again, chosen.data, options);
  found.temperature = posterior_temperature(again.problem);
  found.rows_are = fmt::format("{} {}", found.rows.rows, chosen.name);
  options.levels.clear();
  if (outside) found.outside = predict(again, *outside, options);
  if (!found.rows.classes) {
    found.noise = scatter_of(again.problem).words;
    if (splits.train.input_count() == 1) {
      Dataset grid = band_rows(splits.train, 201);
      found.band = Band{{}, predict(again, grid, options)};
      for (const double x : grid.inputs) found.band->inputs.push_back(grid.input_units.original(0, x));
    }
  }
  progress.finish();
  const Finding finding = predict_finding(found, splits.train);
  if (!o.out.empty()) write_predictions(found.rows, o.levels, o.out);
  keep(samples.run, finding);
  print(finding, o.json);
}

void predict_run(const PredictArguments& arguments) {
  check_arguments(arguments);
  const Samples samples = open_samples(arguments.run);
  const RunSettings settings = samples.record.settings;
  with_precision(settings, [&]<class Real>() { predict_with<Real>(samples, settings, arguments); });
}

}  // namespace

Command predict_command() {
  return {.name = "predict",
          .summary = "predictions averaged over a run's draws, and how honest they are",
          .footer = "Example:  kelvin predict runs/spiral -o predictions.csv",
          .call = calls(predict_run)};
}

}  // namespace kelvin::cli
