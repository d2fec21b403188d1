// SPDX-License-Identifier: Apache-2.0
// `kelvin landscape WHAT RUN`: a command for each row of the table, with the options that the row takes.
#include "kelvin/analysis/landscape.h"

#include <algorithm>

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "kelvin/core/settings.h"

namespace kelvin::cli {
namespace {

struct LandscapeArguments : LandscapeOptions {
  const Landscape* what = nullptr;
  std::string run;
  std::vector<std::string> data;
  std::size_t threads = all_threads();
  bool json = false, quiet = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("run", run, "directory of a run", argument);
    LandscapeOptions::fields([&](std::string_view name, auto& place, std::string_view meaning) {
      if (std::ranges::find(what->takes, name) == what->takes.end()) return;
      field(name, place, meaning, {.shows_default = true});
    });
    field("set", data, "other data: data.test_file=new.csv (may be repeated)");
    field("threads", threads, "threads; the result does not depend on them", {.range = {.least = 1, .most = 1024}});
    field("quiet", quiet, "no progress");
    field("json", json, "print JSON");
  }
};

// The run's settings with other data.
RunSettings settings_with(const Samples& samples, const std::vector<std::string>& data) {
  if (data.empty()) return samples.record.settings;
  Value settings = recorded_settings(as_value(samples.record.settings));
  for (const std::string& assignment : data) {
    if (!assignment.starts_with("data."))
      throw Error("--set {}: only the data of a run may be changed, for example data.test_file=new.csv", assignment);
    override_with(settings, assignment);
  }
  return read_run_settings(settings);
}

void explore_landscape(const LandscapeArguments& options) {
  const Samples samples = open_samples(options.run);
  const auto scene_of = replay<double>(samples, settings_with(samples, options.data), remark);
  std::unique_ptr<Progress> progress;
  const auto tick = [&](double done, double total) {
    if (!progress) progress = std::make_unique<Progress>(total, "points", options.quiet);
    if (done == total || progress->seconds() > 0.5) progress->show(done, "");
  };
  const Finding finding = options.what->explore({scene_of, options.threads, tick}, options);
  if (progress) progress->finish();
  keep(samples.run, finding);
  print(finding, options.json);
}

}  // namespace

Command landscape_command() {
  Command family = {.name = "landscape",
                    .summary = "the energy around a run: lines, surfaces, grids, curvature",
                    .footer = "Example:  kelvin landscape line runs/spiral --by layer"};
  for (const Landscape& row : landscapes()) {
    LandscapeArguments initial;
    initial.what = &row;
    family.commands.push_back(
        {.name = std::string(row.name),
         .summary = std::string(row.meaning),
         .footer = fmt::format("The result is kept with the run, in analysis/landscape_{}.json.", row.name),
         .call = calls(explore_landscape, initial)});
  }
  return family;
}

}  // namespace kelvin::cli
