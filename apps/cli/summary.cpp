// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/summary.h"

#include "apps/cli/command.h"
#include "apps/cli/progress.h"

namespace kelvin::cli {

void add_summary(CLI::App& app) {
  struct Options {
    std::string run;
    bool parameters = false, json = false;
  };
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("summary", "moments and quantiles of a run's draws, with errors, ess and rhat");
  command.add_option("run", options->run, "directory of a run")->required();
  command.add_flag("--parameters", options->parameters, "a row for every parameter (the default up to 20 of them)");
  command.add_flag("--json", options->json, "print the rows as JSON");
  command.footer("Example:  kelvin summary runs/spiral --json");
  command.callback([options] {
    const Samples samples = open_samples(options->run);
    const bool few = samples.record.parameters <= 20;
    Progress progress(100, "%", few || options->json);
    const Finding finding = summary(samples, options->parameters || few, [&](std::size_t done, std::size_t of) {
      progress.show(100 * double(done) / double(of), "");
    });
    progress.finish();
    if (options->json) print(finding.tables.front().table, true);
    else print(finding, false);
    if (!options->parameters) keep(options->run, finding);  // a row for every weight is too much for a report
  });
}

}  // namespace kelvin::cli
