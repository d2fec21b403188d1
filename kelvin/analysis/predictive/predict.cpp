// SPDX-License-Identifier: Apache-2.0
// Predictions of rows, averaged over the draws: of the run's own rows or of a file's, inside and out of distribution.
#include <algorithm>

#include "kelvin/analysis/analysis.h"
#include "kelvin/analysis/predictive/predict_finding.h"
#include "kelvin/analysis/predictive/predictions_file.h"
#include "kelvin/io/load.h"

namespace kelvin {
namespace {

struct PredictionOptions {
  std::string data, labels, split, ood, ood_labels, out;
  std::vector<double> quantiles = {0.05, 0.25, 0.5, 0.75, 0.95};
  std::size_t every = 1;
  bool recompute_statistics = false, force = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("data", data,
          "rows to predict, with the run's inputs as columns; targets are optional (default: the run's test rows, else "
          "validation, else training rows)");
    field("labels", labels, "targets of those rows, if they are in a file of their own");
    field("split", split, "rows of the run itself: test, validation or train");
    field("ood", ood, "rows out of distribution: can the uncertainty tell them apart?");
    field("ood_labels", ood_labels, "their targets, to be scored too");
    field("out", out, "write the predictions row by row: a .csv or .npz file");
    field("quantiles", quantiles, "of numbers, in that file: 0.05,0.5,0.95");
    field("every", every, "use every so many of the draws", {.range = positive});
    field("recompute_statistics", recompute_statistics, meaning_of_recomputing);
    field("force", force, "replace the file that is there");
  }
};

void check_options(const PredictionOptions& o) {
  if (o.data.empty() && !o.labels.empty()) throw Error("--labels is given without --data; give both");
  if (o.ood.empty() && !o.ood_labels.empty()) throw Error("--ood-labels is given without --ood; give both");
  if (!o.data.empty() && !o.split.empty()) throw Error("--data and --split exclude each other; leave one out");
  for (const double level : o.quantiles)
    if (!(level > 0 && level < 1)) throw Error("--quantiles must lie between 0 and 1, not {:g}", level);
  if (o.out.empty()) return;
  predictions_format_of(o.out);
  if (std::filesystem::exists(o.out) && !(o.force && std::filesystem::is_regular_file(o.out)))
    throw Error("\"{}\" exists already; give another file with -o, or --force to replace it", o.out);
}

struct PredictedRows {
  Dataset data;
  std::string name;
};

// The rows of --data, of --split, or the first of test, validation and training rows that there are.
PredictedRows rows_for(const PredictionOptions& o, const RunSettings& settings, const Splits& splits) {
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

// Every so many draws, such that a report waits a second or two.
std::size_t brief_every(const Samples& samples, std::size_t rows) {
  constexpr double most_draws = 400, fewest_draws = 10;
  constexpr double most_products = 2e10;  // draws x rows x parameters
  const double affordable = most_products / double(rows) / double(samples.record.parameters);
  const std::size_t draws = std::size_t(std::clamp(affordable, fewest_draws, most_draws));
  return std::max<std::size_t>(1, samples.draws * samples.walkers / draws);
}

// Along the only input of a network.
template <class Real>
Band band_along(const StoredRun<Real>& run, const PredictOptions& options) {
  constexpr std::size_t points = 201;
  const Dataset grid = band_rows(run.problem.data.train, points);
  Band band{{}, predict(run, grid, options)};
  for (const double x : grid.inputs) band.inputs.push_back(grid.input_units.original(0, x));
  return band;
}

template <class Real>
Found predict_with(const StoredRun<Real>& run, const Subject& subject, const PredictionOptions& o,
                   const Progress& progress) {
  check_predicts(run);
  const RunSettings& settings = subject.settings;
  const Splits& splits = run.problem.data;
  const PredictedRows chosen = rows_for(o, settings, splits);
  std::optional<Dataset> outside;
  if (!o.ood.empty()) {
    outside = load_rows(o.ood, o.ood_labels, settings.data, splits.train);
    if (o.ood_labels.empty()) outside->targets.clear();
  }
  PredictOptions options;
  options.every = subject.brief ? brief_every(run.samples, chosen.data.rows) : o.every;
  options.threads = subject.threads;
  options.progress = [&](double share) { progress(100 * share, 100, "%"); };
  if (!o.out.empty()) options.levels = o.quantiles;
  Predicted found;
  found.rows = predict(run, chosen.data, options);
  found.temperature = posterior_temperature(run.problem);
  const std::size_t steps = splits.train.steps;
  found.rows_are = steps > 0 ? fmt::format("{} steps of {} {}", found.rows.rows, chosen.data.rows, chosen.name)
                             : fmt::format("{} {}", found.rows.rows, chosen.name);
  options.levels.clear();
  if (outside) found.outside = predict(run, *outside, options);
  if (!found.rows.classes) {
    found.noise = scatter_of(run.problem).words;
    if (splits.train.input_count() == 1) found.band = band_along(run, options);
  }
  Finding finding = predict_finding(found, splits.train);
  if (o.recompute_statistics)
    finding.words.push_back(
        fmt::format("Running statistics were taken anew from {} training rows for each draw.", splits.train.rows));
  if (!o.out.empty()) write_predictions(found.rows, o.quantiles, o.out);
  return {finding};
}

Found find_predictions(const Subject& subject, const PredictionOptions& o, const Progress& progress) {
  check_options(o);
  const auto said_when_it_ran = [](std::string_view) {};
  Found found;
  with_stored_run(subject.run(), said_when_it_ran, [&](auto run) {
    run.recomputes_statistics = o.recompute_statistics;
    found = predict_with(run, subject, o, progress);
  });
  return found;
}

}  // namespace

Question ask_predict() { return ask(find_predictions); }

}  // namespace kelvin
