// SPDX-License-Identifier: Apache-2.0
// Commands. Each is a row: its name, what help says of it, and the function that runs with its arguments (option.h). To
// add one, write cli/<name>.cpp and its row in main.cpp.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/option.h"
#include "kelvin/analysis/finding.h"
#include "kelvin/ensemble/comm.h"
#include "kelvin/run/settings.h"

namespace kelvin::cli {

// One call of a command: where the values of its options go, and what runs when they are there. `run` owns the places,
// so options are good for as long as their call.
struct Call {
  std::vector<Option> options;
  std::function<void(const Given&)> run;
};

struct Command {
  std::string name, summary, footer;
  std::function<Call()> call = {};
  bool spreads = false;                // over ranks; all others would do the same on each, and are left to the first
  std::vector<Command> commands = {};  // of a family: `kelvin landscape line`
};

// Calls of a function with the arguments of a command, or with them and the names of those that were given.
template <class Arguments>
std::function<Call()> calls(void (*run)(Arguments&, const Given&), std::remove_const_t<Arguments> initial = {}) {
  return [=] {
    const auto arguments = std::make_shared<std::remove_const_t<Arguments>>(initial);
    return Call{listed_options(*arguments), [=](const Given& given) { run(*arguments, given); }};
  };
}
template <class Arguments>
std::function<Call()> calls(void (*run)(Arguments&), std::remove_const_t<Arguments> initial = {}) {
  return [=] {
    const auto arguments = std::make_shared<std::remove_const_t<Arguments>>(initial);
    return Call{listed_options(*arguments), [=](const Given&) { run(*arguments); }};
  };
}

Command train_command();
Command sample_command();
Command resume_command();
Command watch_command();
Command verify_command();
Command data_command();
Command model_command();
Command evaluate_command();
Command summary_command();
Command report_command();
Command export_command();
Command import_command();
Command encode_command();
Command list_command();
Command check_command();
Command new_command();
Command page_command();
Command experiment_command();
std::vector<Command> analysis_commands();  // of the table of analyses

// A run file with what the command line changes in it.
struct RunFile {
  std::string path;
  std::vector<std::string> overrides;
  long seed = -1;
  template <class Visit>
  void fields(Visit&& field) {
    field("file", path, "run file (TOML)", argument);
    field("set", overrides, "change a setting: part.hidden.step=0.1 (may be repeated)");
    field("seed", seed, "change the seed", {.range = not_negative});
  }
  Value value() const;
};

// Numbers in C: the same text in every locale.
void print(const std::string& text);
void print(const Table&, bool json);
void print(const Finding&, bool json);
void remark(std::string_view text);  // one line on stderr

Comm& ranks();  // that share this run; all but the first are silent

std::string utc(const char* format);  // the time now, as strftime writes it
std::size_t all_threads();

extern std::string command_line;  // as it was typed

// Ends the program with a code of its own, when all that is to be said has been.
struct Exit {
  int code;
};

// Calls work<float>() or work<double>() as the settings say.
template <class Work>
void with_precision(const RunSettings& settings, Work&& work) {
  if (settings.precision == "float") work.template operator()<float>();
  else work.template operator()<double>();
}

}  // namespace kelvin::cli
