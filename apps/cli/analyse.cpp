// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apps/cli/command.h"
#include "kelvin/analysis/analyses.h"
#include "kelvin/core/choice.h"

namespace kelvin::cli {

namespace {

struct AnalyseArguments : AnalysisOptions {
  std::string name, run;
  bool json = false;
  template <class Visit>
  void fields(Visit&& field) {
    std::string known;
    for (const Analysis& a : analyses()) known += fmt::format("\n  {:<16} {}", a.name, a.meaning);
    field("name", name, "one of" + known, argument);
    field("run", run, "directory of a run", argument);
    AnalysisOptions::fields(field);
    field("json", json, "print JSON");
  }
};

void analyse_run(AnalyseArguments& arguments, const Given& given) {
  std::vector<std::string> chosen;
  for (const Option& option : listed_options(static_cast<AnalysisOptions&>(arguments)))
    if (std::ranges::find(given, option.name) != given.end()) chosen.push_back(option.name);
  const Analysis& row = row_named(arguments.name, analyses(), "analysis");
  const Analysed found = analyse(row, open_samples(arguments.run), arguments, chosen, remark);
  keep(arguments.run, found);
  print(found.finding, arguments.json);
}

}  // namespace

Command analyse_command() {
  return {.name = "analyse",
          .summary = "statistics of a run's draws, kept as RUN/analysis/NAME.json",
          .footer =
              "`kelvin list analyses` says which options each takes.\n"
              "Example:  kelvin analyse covariance runs/spiral --part all --count 5",
          .call = calls(analyse_run)};
}

}  // namespace kelvin::cli
