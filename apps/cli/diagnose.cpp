// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/diagnose.h"

#include "apps/cli/command.h"

namespace kelvin::cli {

namespace {

struct DiagnoseArguments {
  std::string run;
  bool json = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("run", run, "directory of a run", argument);
    field("json", json, "print JSON");
  }
};

void diagnose_run(const DiagnoseArguments& arguments) {
  const Finding finding = diagnose(open_samples(arguments.run));
  print(finding, arguments.json);
  keep(arguments.run, finding);
}

}  // namespace

Command diagnose_command() {
  return {.name = "diagnose",
          .summary = "what is wrong with a run and what to change, in words",
          .footer = "Example:  kelvin diagnose runs/spiral",
          .call = calls(diagnose_run)};
}

}  // namespace kelvin::cli
