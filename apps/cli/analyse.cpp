// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/command.h"
#include "kelvin/analysis/analyses.h"
#include "kelvin/core/choice.h"

namespace kelvin::cli {

void add_analyse(CLI::App& app) {
  struct Options : AnalysisOptions {
    std::string name, run;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("analyse", "statistics of a run's draws, kept as RUN/analysis/NAME.json");
  std::string known;
  for (const Analysis& a : analyses()) known += fmt::format("\n  {:<16} {}", a.name, a.meaning);
  command.add_option("name", options->name, "one of" + known)->required();
  command.add_option("run", options->run, "directory of a run")->required();
  auto names = std::make_shared<std::vector<std::string>>();
  options->fields([&]<class T>(std::string_view name, T& field, std::string_view meaning) {
    names->emplace_back(name);
    if constexpr (std::is_same_v<T, bool>) command.add_flag(option_name(name), field, std::string(meaning));
    else command.add_option(option_name(name), field, std::string(meaning))->allow_extra_args(false);
  });
  command.add_flag("--json", options->json, "print JSON");
  command.allow_extras();  // so that what is misspelt can be answered with the nearest name
  command.footer(
      "`kelvin list analyses` says which options each takes.\nExample:  kelvin analyse covariance runs/spiral --part "
      "all --count 5");
  command.callback([options, names, &command] {
    if (const auto extra = command.remaining(); !extra.empty()) {
      std::vector<std::string> all = {"--json"};
      for (const std::string& name : *names) all.push_back(option_name(name));
      remark(fmt::format("analyse takes no {}; `kelvin analyse --help` lists the options{}", extra.front(),
                         suggestion(extra.front(), all)));
      throw Exit{2};
    }
    std::vector<std::string> given;
    for (const std::string& name : *names)
      if (command.get_option(option_name(name))->count() > 0) given.push_back(name);
    const Analysis& row = row_named(options->name, analyses(), "analysis");
    const Analysed found = analyse(row, open_samples(options->run), *options, given, remark);
    keep(options->run, found);
    print(found.finding, options->json);
  });
}

}  // namespace kelvin::cli
