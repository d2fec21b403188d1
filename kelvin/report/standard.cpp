// SPDX-License-Identifier: Apache-2.0
#include "kelvin/report/standard.h"

#include <algorithm>

#include "kelvin/analysis/analyses.h"
#include "kelvin/analysis/boundary.h"
#include "kelvin/analysis/exchange_finding.h"
#include "kelvin/analysis/predict_finding.h"

namespace kelvin {

namespace {

// Enough for the eye, and a second or two of work; the commands use more.
constexpr std::size_t most_draws = 400, fewest_draws = 10, grid_lines = 100, most_parameters = 20000;
constexpr double most_products = 2e10;  // draws x rows x parameters

bool has_draws(const Samples& samples) { return samples.draws > 0; }

bool has_network(const Samples& samples) {
  return has_draws(samples) && !samples.record.targets.names.empty() && samples.record.settings.store.weights != "none";
}

bool is_small(const Samples& samples) {
  return samples.draws > 1 && has_network(samples) && samples.record.parameters <= most_parameters;
}

bool is_tempered(const Samples& samples) { return has_draws(samples) && samples.record.tempering; }

bool classifies_a_plane(const Samples& samples) {
  return has_network(samples) && samples.record.inputs.names.size() == 2 && samples.record.targets.classes.size() > 1;
}

template <class Real>
Finding predictions(const Samples& samples, const RunSettings& settings) {
  const auto said_when_it_ran = [](std::string_view) {};
  const Replay<Real> again = replay<Real>(samples, settings, said_when_it_ran);
  const Splits& splits = again.problem.data;
  const bool tested = splits.test.rows > 0, validated = splits.validation.rows > 0;
  const Dataset& rows = tested ? splits.test : validated ? splits.validation : splits.train;
  const double affordable = most_products / double(rows.rows) / double(samples.record.parameters);
  const std::size_t draws = std::size_t(std::clamp(affordable, double(fewest_draws), double(most_draws)));
  PredictOptions options;
  options.every = std::max<std::size_t>(1, samples.draws * samples.walkers / draws);
  Predicted found;
  found.temperature = posterior_temperature(again.problem);
  found.rows = predict(again, rows, options);
  found.rows_are = fmt::format("{} {} rows", found.rows.rows, tested ? "test" : validated ? "validation" : "training");
  if (!found.rows.classes) {
    found.noise = scatter_of(again.problem).words;
    if (splits.train.input_count() == 1) {
      const Dataset grid = band_rows(splits.train, 201);
      found.band = Band{{}, predict(again, grid, options)};
      for (const double x : grid.inputs) found.band->inputs.push_back(grid.input_units.original(0, x));
    }
  }
  return predict_finding(found, splits.train);
}

Finding predictions(const Samples& samples, const Remark&) {
  const RunSettings& settings = samples.record.settings;
  return settings.precision == "float" ? predictions<float>(samples, settings) : predictions<double>(samples, settings);
}

Finding regions(const Samples& samples, const Remark&) {
  BoundaryOptions options;
  options.grid = grid_lines;
  options.draws.most = most_draws / 4;
  return boundary({samples}, options).front();
}

Finding histograms(const Samples& samples, const Remark& tell) { return analyse_weights(samples, {}, tell).finding; }

Finding passage(const Samples& samples, const Remark& tell) { return analyse_tempering(samples, {}, tell).finding; }
Finding travels(const Samples& samples, const Remark& tell) { return analyse_exchange(samples, {}, tell).finding; }

Finding diagnosis(const Samples& samples, const Remark&) { return diagnose(samples); }

const StandardFinding rows[] = {
    {"diagnose", has_draws, diagnosis, true},     {"exchange", has_ladders, travels, false},
    {"predict", has_network, predictions, false}, {"boundary", classifies_a_plane, regions, false},
    {"tempering", is_tempered, passage, false},   {"weights", is_small, histograms, false},
};

}  // namespace

std::span<const StandardFinding> standard_findings() { return rows; }

}  // namespace kelvin
