// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/summary.h"

#include "cli/command.h"

namespace kelvin::cli {

void add_summary(CLI::App& app) {
  struct Options {
    std::string run;
    bool parameters = false, json = false;
  };
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("summary", "moments of a run's draws with their standard errors");
  command.add_option("run", options->run, "directory of a run")->required();
  command.add_flag("--parameters", options->parameters, "a row for every parameter (the default up to 20 of them)");
  command.add_flag("--json", options->json, "print JSON");
  command.footer("Example:  kelvin summary runs/spiral --json");
  command.callback([options] {
    const Samples samples = open_samples(options->run);
    if (samples.draws == 0)
      throw Error("\"{}\" has no draws; run it for at least `every` steps after warm-up", options->run);
    const bool few = samples.record.value("parameters", 0) <= 20;
    const Table table = summary(samples, options->parameters || few);
    if (!options->json) print(fmt::format("{} draws of {} walkers\n", samples.draws, samples.walkers));
    print(table, options->json);
  });
}

}  // namespace kelvin::cli
