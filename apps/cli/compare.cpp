// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/compare.h"

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {

namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  std::string out;
  bool quiet = false, json = false;
  CompareOptions what;
  template <class Visit>
  void fields(Visit&& field) {
    field("runs", runs, "directories of runs; those that differ in the seed only are averaged", argument);
    field("most", what.most, "draws of each run that are scored, evenly spaced", {.range = positive});
    field("out", out, "also write what was found, with learning curves, to this file as JSON");
    field("quiet", quiet, "no progress");
    field("json", json, "print JSON");
  }
};

void compare_runs(CompareArguments& arguments) {
  std::vector<Samples> runs;
  for (const std::string& run : arguments.runs) runs.push_back(open_samples(run));
  Progress progress(double(runs.size()), "runs", arguments.quiet || arguments.json);
  arguments.what.progress = [&](std::size_t run, double share) { progress.show(double(run) + share, ""); };
  const Finding found = compare(runs, arguments.what);
  progress.finish();
  if (!arguments.out.empty()) write_file(arguments.out, to_json(as_value(found), 1) + "\n");
  print(found, arguments.json);
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "runs side by side: scores, cost and settings that differ",
          .footer = "Example:  kelvin compare runs/spiral runs/spiral2",
          .call = calls(compare_runs)};
}

}  // namespace kelvin::cli
