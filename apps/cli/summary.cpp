// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/summary.h"

#include "apps/cli/command.h"
#include "apps/cli/draws.h"
#include "apps/cli/progress.h"

namespace kelvin::cli {

namespace {

struct SummaryArguments {
  std::string run;
  bool parameters = false, json = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("run", run, directory_or_draws, argument);
    field("parameters", parameters, "a row for every parameter (the default up to 20 of them)");
    field("json", json, "print the rows as JSON");
  }
};

void summarise(const SummaryArguments& arguments) {
  const Samples samples = samples_at(arguments.run);
  const bool few = samples.record.parameters <= 20;
  Progress progress(100, "%", few || arguments.json);
  const Finding finding = summary(samples, arguments.parameters || few, [&](std::size_t done, std::size_t of) {
    progress.show(100 * double(done) / double(of), "");
  });
  progress.finish();
  if (arguments.json) print(finding.tables.front().table, true);
  else print(finding, false);
  if (!arguments.parameters) keep(samples.run, finding);  // a row for every weight is too much for a report
}

}  // namespace

Command summary_command() {
  return {.name = "summary",
          .summary = "moments and quantiles of a run's draws, with errors, ess and rhat",
          .footer = "Example:  kelvin summary runs/spiral --json",
          .call = calls(summarise)};
}

}  // namespace kelvin::cli
