// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/diagnose.h"

#include "apps/cli/command.h"

namespace kelvin::cli {

void add_diagnose(CLI::App& app) {
  struct Options {
    std::string run;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("diagnose", "what is wrong with a run and what to change, in words");
  command.add_option("run", options->run, "directory of a run")->required();
  command.add_flag("--json", options->json, "print JSON");
  command.footer("Example:  kelvin diagnose runs/spiral");
  command.callback([options] {
    const Finding finding = diagnose(open_samples(options->run));
    print(finding, options->json);
    keep(options->run, finding);
  });
}

}  // namespace kelvin::cli
