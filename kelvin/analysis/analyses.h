// SPDX-License-Identifier: Apache-2.0
// Analyses of a run's draws, behind `kelvin analyse NAME RUN`. To add one, write its function and its row in
// analyses.cpp, and a field below for every option that no other has.
#pragma once
#include <map>
#include <span>

#include "kelvin/analysis/finding.h"
#include "kelvin/core/error.h"
#include "kelvin/data/array.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

// The options of all analyses; a row says which of them it takes.
struct AnalysisOptions {
  std::string part;
  std::vector<std::string> blocks;
  long walker = -1, every = 1, skip = 0;
  bool per_walker = false;
  std::vector<std::string> quantities;
  long count = 10;
  std::string coordinate;
  long bins = 40;
  double temperature = 0;
  double alpha = 0.5;
  bool target = false;
  double bandwidth = 0;
  long points = 1000;
  double threshold = 1e-3;
  long times = 5;
  template <class Visit>
  void fields(Visit&& field) {
    field("part", part, "the parameters of this part only");
    field("blocks", blocks, "the parameters of these blocks only, with * and ?; a leading ! leaves out");
    field("walker", walker, "this walker only, from 0; -1 takes all");
    field("per_walker", per_walker, "each walker alone besides all of them together");
    field("every", every, "every so many stored draws");
    field("skip", skip, "leave out so many draws at the beginning");
    field("quantities", quantities,
          "names with * and ?: statistics (potential, \"kinetic_temperature of all\") and parameters "
          "(layer1.weight[0,2]); "
          "by default energies and temperatures, and up to 20 parameters");
    field("count", count, "number of leading eigenvalues");
    field("coordinate", coordinate,
          "a statistic, a parameter (layer1.bias[0]), or v0, v1, ...: a direction that `analyse covariance` kept");
    field("bins", bins, "number of bins");
    field("temperature", temperature, "in place of the part's own; 0 takes that");
    field("alpha", alpha, "power of the density divided out: 0, 0.5 (Langevin dynamics) or 1 (geometry only)");
    field("target", target, "weigh by the run's own density exp(-U/T), whatever law the draws have");
    field("bandwidth", bandwidth, "eps of the kernel exp(-d^2 / 4 eps); 0 chooses it");
    field("points", points, "most draws that are compared with each other; evenly spaced ones if there are more");
    field("threshold", threshold, "a weight counts as near zero below this times the root mean square of its block");
    field("times", times, "number of draws, from the first to the last, whose histograms are made");
  }
};

// A finding, and arrays to keep beside it: file name -> name -> numbers.
struct Analysed {
  Finding finding;
  std::map<std::string, std::map<std::string, Array>> files;
};

struct Analysis {
  std::string_view name;
  std::span<const std::string_view> takes;  // names of fields above
  Analysed (*analyse)(const Samples&, const AnalysisOptions&, const Remark&);
  std::string_view meaning;
};
std::span<const Analysis> analyses();

// Refuses a run without draws, and options (by name) that the analysis does not take.
Analysed analyse(const Analysis&, const Samples&, const AnalysisOptions&, std::span<const std::string> given,
                 const Remark&);

void keep(const std::filesystem::path& run, const Analysed&);  // analysis/NAME.json, and its arrays as analysis/FILE

// averages.cpp, covariance.cpp, diffusion_map.cpp, free_energy.cpp, tempering.cpp, weights.cpp
Analysed analyse_averages(const Samples&, const AnalysisOptions&, const Remark&);
Analysed analyse_autocorrelation(const Samples&, const AnalysisOptions&, const Remark&);
Analysed analyse_covariance(const Samples&, const AnalysisOptions&, const Remark&);
Analysed analyse_diffusion_map(const Samples&, const AnalysisOptions&, const Remark&);
Analysed analyse_free_energy(const Samples&, const AnalysisOptions&, const Remark&);
Analysed analyse_tempering(const Samples&, const AnalysisOptions&, const Remark&);
Analysed analyse_weights(const Samples&, const AnalysisOptions&, const Remark&);

}  // namespace kelvin
