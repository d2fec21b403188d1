// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/boundary.h"

#include "apps/cli/command.h"
#include "apps/cli/progress.h"

namespace kelvin::cli {

namespace {

struct BoundaryArguments {
  std::vector<std::string> runs;
  std::vector<double> extent;
  bool quiet = false, json = false;
  BoundaryOptions what;
  template <class Visit>
  void fields(Visit&& field) {
    field("runs", runs, "directories of runs; several are averaged", argument);
    field("grid", what.grid, "nodes along each input");
    field("extent", extent,
          "xmin,xmax,ymin,ymax in the units of the inputs (default: the training rows and 10 % around)", {.count = 4});
    field("draws", what.draws.which,
          "mean: average probabilities over draws; last, or the number of a draw: of that draw alone");
    field("most", what.draws.most, "draws to average, evenly spaced", {.range = positive});
    field("level", what.level, "of the probability of the second of two classes (default 0.5)");
    field("quiet", quiet, "no progress");
    field("json", json, "print JSON");
  }
};

void show_boundary(BoundaryArguments& arguments) {
  if (const auto& e = arguments.extent; !e.empty()) arguments.what.extent = Extent{e[0], e[1], e[2], e[3]};
  std::vector<Samples> runs;
  for (const std::string& run : arguments.runs) runs.push_back(open_samples(run));
  Progress progress(double(runs.size()), "runs", arguments.quiet || arguments.json);
  arguments.what.progress = [&](std::size_t run, double share) { progress.show(double(run) + share, ""); };
  const std::vector<Finding> found = boundary(runs, arguments.what);
  progress.finish();
  for (std::size_t k = 0; k < runs.size(); ++k) keep(runs[k].run, found[k]);
  print(found.back(), arguments.json);
}

}  // namespace

Command boundary_command() {
  return {.name = "boundary",
          .summary = "regions, boundary and its curvature, for classifiers of two inputs",
          .footer = "Example:  kelvin boundary runs/spiral --extent=-3,3,-3,3",
          .call = calls(show_boundary)};
}

}  // namespace kelvin::cli
