// SPDX-License-Identifier: Apache-2.0
// Commands: each is a function that adds itself to the program. To add one, write cli/<name>.cpp and its row in
// main.cpp.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "kelvin/analysis/finding.h"
#include "kelvin/ensemble/comm.h"
#include "kelvin/run/settings.h"

namespace kelvin::cli {

void add_train(CLI::App&);
void add_sample(CLI::App&);
void add_resume(CLI::App&);
void add_watch(CLI::App&);
void add_data(CLI::App&);
void add_evaluate(CLI::App&);
void add_predict(CLI::App&);
void add_landscape(CLI::App&);
void add_summary(CLI::App&);
void add_report(CLI::App&);
void add_analyse(CLI::App&);
void add_diagnose(CLI::App&);
void add_export(CLI::App&);
void add_encode(CLI::App&);
void add_boundary(CLI::App&);
void add_certify(CLI::App&);
void add_compare(CLI::App&);
void add_list(CLI::App&);
void add_check(CLI::App&);
void add_new(CLI::App&);
void add_page(CLI::App&);
void add_experiment(CLI::App&);

// A run file with what the command line changes in it.
struct RunFile {
  std::string path;
  std::vector<std::string> overrides;
  long seed = -1;

  void add_to(CLI::App&);
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
