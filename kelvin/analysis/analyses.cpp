// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/analyses.h"

#include <algorithm>

#include "kelvin/analysis/exchange_finding.h"
#include "kelvin/core/choice.h"
#include "kelvin/core/text.h"
#include "kelvin/io/npy.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

using Names = std::string_view[];
constexpr Names series = {"part", "blocks", "quantities", "walker", "per_walker", "every", "skip"};
constexpr Names spectrum = {"part", "blocks", "walker", "per_walker", "every", "skip", "count"};
constexpr Names map = {"part",  "blocks", "walker", "every",     "skip",       "count",
                       "alpha", "target", "points", "bandwidth", "temperature"};
constexpr Names profile = {"coordinate", "walker", "every", "skip", "bins", "temperature", "part"};
constexpr Names histograms = {"part", "blocks", "walker", "every", "skip", "bins", "threshold", "times"};

constexpr Names passage = {"bins"};

const Analysis rows[] = {
    {"averages", series, analyse_averages, "means with their Monte Carlo errors, of each walker and of all"},
    {"autocorrelation", series, analyse_autocorrelation,
     "autocorrelation functions and times, by two estimators; refused below 50 times of draws"},
    {"covariance", spectrum, analyse_covariance,
     "eigenvalues of the covariance of the parameters, the directions kept for others, and how fast each is explored"},
    {"diffusion_map", map, analyse_diffusion_map,
     "slow coordinates of the draws: eigenvalues and rates of a diffusion on them"},
    {"exchange", {}, analyse_exchange, "of a run with [exchange]: how positions travel between its temperatures"},
    {"free_energy", profile, analyse_free_energy, "-T log density along one coordinate, and its highest barrier"},
    {"tempering", passage, analyse_tempering,
     "of a tempered run: the law of alpha, its round trips, the bias that was learnt"},
    {"weights", histograms, analyse_weights,
     "histograms of each block over time, its largest weight and its share near zero"},
};

}  // namespace

std::span<const Analysis> analyses() { return rows; }

Analysed analyse(const Analysis& row, const Samples& samples, const AnalysisOptions& options,
                 std::span<const std::string> given, const Remark& remark) {
  for (const std::string& name : given)
    if (std::find(row.takes.begin(), row.takes.end(), name) == row.takes.end()) {
      std::string known;
      for (const auto taken : row.takes) known += (known.empty() ? "" : ", ") + option_name(taken);
      throw Error("analysis \"{}\" takes no {}; it takes {}", row.name, option_name(name), known);
    }
  if (samples.draws == 0)
    throw Error("\"{}\" has no draws; run it for at least `every` steps after warm-up", samples.run.string());
  Analysed found = row.analyse(samples, options, remark);
  found.finding.name = row.name;
  return found;
}

void keep(const fs::path& run, const Analysed& found) {
  make_directories(run / "analysis");
  for (const auto& [file, arrays] : found.files) {
    std::map<std::string, ArrayView<double>> views;
    for (const auto& [name, array] : arrays) views[name] = {array.shape, array.values};
    const fs::path place = run / "analysis" / file, part = place.string() + ".part";
    write_npz<double>(part.string(), views);
    fs::rename(part, place);
  }
  keep(run, found.finding);
}

}  // namespace kelvin
