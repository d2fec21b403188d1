// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/compare.h"

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {

void add_compare(CLI::App& app) {
  struct Options {
    std::vector<std::string> runs;
    std::string out;
    bool quiet = false, json = false;
    CompareOptions what;
  };
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("compare", "runs side by side: scores, cost and settings that differ");
  command.add_option("runs", options->runs, "directories of runs; those that differ in the seed only are averaged")
      ->required();
  command.add_option("--most", options->what.most, "draws of each run that are scored, evenly spaced")
      ->check(CLI::PositiveNumber);
  command.add_option("-o,--out", options->out, "also write what was found, with learning curves, to this file as JSON");
  command.add_flag("-q,--quiet", options->quiet, "no progress");
  command.add_flag("--json", options->json, "print JSON");
  command.footer("Example:  kelvin compare runs/spiral runs/spiral2");
  command.callback([options] {
    std::vector<Samples> runs;
    for (const std::string& run : options->runs) runs.push_back(open_samples(run));
    Progress progress(double(runs.size()), "runs", options->quiet || options->json);
    options->what.progress = [&](std::size_t run, double share) { progress.show(double(run) + share, ""); };
    const Finding found = compare(runs, options->what);
    progress.finish();
    if (!options->out.empty()) write_file(options->out, to_json(as_value(found), 1) + "\n");
    print(found, options->json);
  });
}

}  // namespace kelvin::cli
