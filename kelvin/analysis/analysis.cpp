// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/analysis.h"

#include <algorithm>

#include "kelvin/analysis/posterior/exchange.h"
#include "kelvin/energy/loss.h"
#include "kelvin/io/npy.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

namespace fs = std::filesystem;

// Each in the file of its name, in posterior/, predictive/, landscape/ or verdict/.
Question ask_averages(), ask_autocorrelation(), ask_covariance(), ask_diffusion_map(), ask_exchange(),
    ask_free_energy(), ask_tempering(), ask_weights();
Question ask_predict(), ask_boundary(), ask_leave_one_out();
Question ask_line(), ask_surface(), ask_grid(), ask_trajectory(), ask_hessian();
Question ask_diagnose(), ask_compare(), ask_certify();

namespace {

bool has_draws(const Samples& samples) { return samples.draws > 0; }

// One that settings describe: that of a program is not at hand.
bool has_network(const Samples& samples) {
  const RunSettings& settings = samples.record.settings;
  return has_draws(samples) && !settings.model.layers.empty() && settings.store.weights != "none";
}

bool has_one_target_a_row(const Samples& samples) { return has_network(samples) && samples.record.targets.steps == 0; }

bool has_few_weights(const Samples& samples) {
  constexpr std::size_t few = 20000;
  return samples.draws > 1 && has_network(samples) && samples.record.parameters <= few;
}

bool is_tempered(const Samples& samples) { return has_draws(samples) && samples.record.tempering; }

bool classifies_a_plane(const Samples& samples) {
  return has_one_target_a_row(samples) && samples.record.inputs.names.size() == 2 &&
         samples.record.targets.classes.size() > 1;
}

// Enough draws to leave rows out by weighing them.
bool samples_a_posterior(const Samples& samples) {
  constexpr std::size_t enough_draws = 100;
  if (!has_one_target_a_row(samples) || samples.draws * samples.walkers < enough_draws) return false;
  const Loss& loss = loss_named(samples.record.settings.model.loss);
  const bool has_density = loss.probabilities<double>() || loss.noise;
  return has_density && std::any_of(samples.record.part.begin(), samples.record.part.end(),
                                    [](const auto& part) { return part.second.posterior_temperature > 0; });
}

bool always(const Samples&) { return true; }

constexpr Analysis all_analyses[] = {
    {.name = "compare",
     .needs = Needs::several,
     .ask = ask_compare,
     .in_report = always,
     .kept = false,
     .meaning = "runs side by side: scores, cost and settings that differ",
     .example = "kelvin compare runs/spiral runs/spiral2"},
    {.name = "diagnose",
     .ask = ask_diagnose,
     .in_report = has_draws,
     .verdict = true,
     .draws_alone = true,
     .meaning = "what is wrong with a run and what to change, in words",
     .example = "kelvin diagnose runs/spiral"},
    {.name = "averages",
     .family = "analyse",
     .needs = Needs::draws,
     .ask = ask_averages,
     .draws_alone = true,
     .meaning = "means with their Monte Carlo errors, of each walker and of all"},
    {.name = "autocorrelation",
     .family = "analyse",
     .needs = Needs::draws,
     .ask = ask_autocorrelation,
     .draws_alone = true,
     .meaning = "autocorrelation functions and times, by two estimators; refused below 50 times of draws"},
    {.name = "covariance",
     .family = "analyse",
     .needs = Needs::draws,
     .ask = ask_covariance,
     .draws_alone = true,
     .meaning = "eigenvalues of the covariance of the parameters, the directions kept for others, and how fast each is "
                "explored"},
    {.name = "diffusion_map",
     .family = "analyse",
     .needs = Needs::draws,
     .ask = ask_diffusion_map,
     .draws_alone = true,
     .meaning = "slow coordinates of the draws: eigenvalues and rates of a diffusion on them"},
    {.name = "exchange",
     .family = "analyse",
     .needs = Needs::draws,
     .ask = ask_exchange,
     .in_report = exchanges,
     .meaning = "of a run with [exchange]: how positions travel between its temperatures"},
    {.name = "predict",
     .ask = ask_predict,
     .in_report = has_one_target_a_row,
     .threads = true,
     .meaning = "predictions averaged over a run's draws, and how honest they are",
     .example = "kelvin predict runs/spiral -o predictions.csv"},
    {.name = "boundary",
     .needs = Needs::runs,
     .ask = ask_boundary,
     .in_report = classifies_a_plane,
     .meaning = "regions, boundary and its curvature, for classifiers of two inputs",
     .example = "kelvin boundary runs/spiral --extent=-3,3,-3,3"},
    {.name = "free_energy",
     .family = "analyse",
     .needs = Needs::draws,
     .ask = ask_free_energy,
     .draws_alone = true,
     .meaning = "-T log density along one coordinate, and its highest barrier"},
    {.name = "leave_one_out",
     .family = "analyse",
     .needs = Needs::draws,
     .ask = ask_leave_one_out,
     .in_report = samples_a_posterior,
     .meaning = "log densities of training rows left out in turn (PSIS-LOO), and which rows matter too much"},
    {.name = "tempering",
     .family = "analyse",
     .needs = Needs::draws,
     .ask = ask_tempering,
     .in_report = is_tempered,
     .meaning = "of a tempered run: the law of alpha, its round trips, the bias that was learnt"},
    {.name = "weights",
     .family = "analyse",
     .needs = Needs::draws,
     .ask = ask_weights,
     .in_report = has_few_weights,
     .draws_alone = true,
     .meaning = "histograms of each block over time, its largest weight and its share near zero"},
    {.name = "line",
     .family = "landscape",
     .ask = ask_line,
     .threads = true,
     .other_data = true,
     .meaning = "along the straight line between two points: barriers, plateaus, distances"},
    {.name = "surface",
     .family = "landscape",
     .ask = ask_surface,
     .threads = true,
     .other_data = true,
     .meaning = "on a plane through a point, with the draws projected onto it"},
    {.name = "grid",
     .family = "landscape",
     .ask = ask_grid,
     .threads = true,
     .other_data = true,
     .meaning = "on a grid over chosen parameters"},
    {.name = "trajectory",
     .family = "landscape",
     .needs = Needs::draws,
     .ask = ask_trajectory,
     .threads = true,
     .other_data = true,
     .meaning = "at the draws of the run, on any rows"},
    {.name = "hessian",
     .family = "landscape",
     .ask = ask_hessian,
     .threads = true,
     .other_data = true,
     .meaning = "second derivatives at a point: leading eigenvalues, trace, density, and what they say about the step"},
    {.name = "certify",
     .needs = Needs::run_file,
     .ask = ask_certify,
     .kept = false,
     .threads = true,
     .meaning = "discretisation bias of averages, from coupled chains at the step and half of it",
     .example = "kelvin certify examples/gap.toml --steps 20000"},
};

constexpr AnalysisFamily families[] = {
    {.name = "analyse",
     .meaning = "statistics of a run's draws, kept as RUN/analysis/NAME.json",
     .footer = "`kelvin list analyses` says which options each takes.\n"
               "Example:  kelvin analyse covariance runs/spiral --part all --count 5",
     .prefixes = false,
     .together = true},
    {.name = "landscape",
     .meaning = "the energy around a run: lines, surfaces, grids, curvature",
     .footer = "Example:  kelvin landscape line runs/spiral --by layer",
     .prefixes = true,
     .together = false},
};

void keep_arrays(const fs::path& run, const Found& found) {
  for (const auto& [file, arrays] : found.arrays) {
    std::map<std::string, ArrayView<double>> views;
    for (const auto& [name, array] : arrays) views[name] = {array.shape, array.values};
    const fs::path place = run / "analysis" / file;
    const fs::path part = place.string() + ".part";
    write_npz<double>(part.string(), views);
    fs::rename(part, place);
  }
}

}  // namespace

std::span<const Analysis> analyses() { return all_analyses; }
std::span<const AnalysisFamily> analysis_families() { return families; }

std::vector<const Analysis*> analyses_in(std::string_view family) {
  std::vector<const Analysis*> out;
  for (const Analysis& row : all_analyses)
    if (row.family == family) out.push_back(&row);
  return out;
}

std::string finding_name(const Analysis& row) {
  for (const AnalysisFamily& family : families)
    if (family.name == row.family && family.prefixes) return fmt::format("{}_{}", family.name, row.name);
  return std::string(row.name);
}

Subject subject_of(const Samples& samples) { return {.runs = {samples}, .settings = samples.record.settings}; }

Found find(const Analysis& row, const Question& question, const Subject& subject, const Progress& progress) {
  if (row.needs == Needs::draws && subject.run().draws == 0)
    throw Error("\"{}\" has no draws; run it for at least `every` steps after warm-up", subject.run().run.string());
  for (const Samples& samples : subject.runs)
    if (samples.record.imported() && !row.draws_alone)
      throw Error("\"{}\" holds draws alone; {} needs a run of kelvin, with its model and data",
                  samples.record.source.value(), row.name);
  Found found = question.find(subject, progress);
  found.finding.name = finding_name(row);
  for (Finding& finding : found.each) finding.name = found.finding.name;
  return found;
}

void keep(const Subject& subject, const Found& found) {
  for (std::size_t k = 0; k < subject.runs.size(); ++k) {
    const fs::path& run = subject.runs[k].run;
    make_directories(run / "analysis");
    keep_arrays(run, found);
    keep(run, found.each.empty() ? found.finding : found.each[k]);
  }
}

}  // namespace kelvin
