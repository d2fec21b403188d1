// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/boundary.h"

#include "apps/cli/command.h"
#include "apps/cli/progress.h"

namespace kelvin::cli {

void add_boundary(CLI::App& app) {
  struct Options {
    std::vector<std::string> runs;
    std::vector<double> extent;
    double level = 0;
    bool quiet = false, json = false;
    BoundaryOptions what;
  };
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("boundary", "regions, boundary and its curvature, for classifiers of two inputs");
  command.add_option("runs", options->runs, "directories of runs; several are averaged")->required();
  command.add_option("--grid", options->what.grid, "nodes along each input");
  command
      .add_option("--extent", options->extent,
                  "xmin,xmax,ymin,ymax in the units of the inputs (default: the training rows and 10 % around)")
      ->delimiter(',')
      ->expected(4);
  command.add_option("--draws", options->what.draws.which,
                     "mean: average probabilities over draws; last, or the number of a draw: of that draw alone");
  command.add_option("--most", options->what.draws.most, "draws to average, evenly spaced")->check(CLI::PositiveNumber);
  auto* level =
      command.add_option("--level", options->level, "of the probability of the second of two classes (default 0.5)");
  command.add_flag("-q,--quiet", options->quiet, "no progress");
  command.add_flag("--json", options->json, "print JSON");
  command.footer("Example:  kelvin boundary runs/spiral --extent=-3,3,-3,3");
  command.callback([options, level] {
    if (level->count()) options->what.level = options->level;
    if (const auto& e = options->extent; !e.empty()) options->what.extent = Extent{e[0], e[1], e[2], e[3]};
    std::vector<Samples> runs;
    for (const std::string& run : options->runs) runs.push_back(open_samples(run));
    Progress progress(double(runs.size()), "runs", options->quiet || options->json);
    options->what.progress = [&](std::size_t run, double share) { progress.show(double(run) + share, ""); };
    const std::vector<Finding> found = boundary(runs, options->what);
    progress.finish();
    for (std::size_t k = 0; k < runs.size(); ++k) keep(runs[k].run, found[k]);
    print(found.back(), options->json);
  });
}

}  // namespace kelvin::cli
