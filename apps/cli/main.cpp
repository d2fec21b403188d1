// SPDX-License-Identifier: Apache-2.0
// The table of commands. Only cli/ prints and exits.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <thread>

#include "apps/cli/command_line.h"
#include "kelvin/core/text.h"
#include "kelvin/core/toml.h"
#include "kelvin/core/version.h"
#include "kelvin/io/json.h"
#include "kelvin/io/onnx.h"

namespace kelvin::cli {

std::string command_line;

namespace {

std::unique_ptr<Comm> connected;

}  // namespace

Comm& ranks() { return *connected; }

void print(const std::string& text) {
  const std::string shown = visible(text);
  if (ranks().first()) std::fwrite(shown.data(), 1, shown.size(), stdout);
}

namespace {

void complain(const std::string& text) { std::fprintf(stderr, "kelvin: %s\n", visible(text).c_str()); }

}  // namespace

void print(const Table& table, bool json) { print(json ? to_json(as_value(table), 2) + "\n" : as_text(table)); }

void print(const Finding& finding, bool json) { print(json ? to_json(as_value(finding), 2) + "\n" : as_text(finding)); }

void remark(std::string_view text) {
  if (ranks().first()) complain(std::string(text));
}

std::string utc(const char* format) {
  const std::time_t seconds = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, format, std::gmtime(&seconds));
  return text;
}

std::size_t all_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

Value RunFile::value() const {
  Value file = read_toml(path);
  for (const std::string& assignment : overrides) override_with(file, assignment);
  if (seed >= 0) override_with(file, "seed=" + std::to_string(seed));
  return with_layers_of_onnx(std::move(file));
}

namespace {

struct ProgramArguments {
  bool version = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("version", version, "Display program version information and exit");
  }
};

constexpr Command (*before_analyses[])() = {new_command,   data_command,   model_command,
                                            train_command, sample_command, resume_command,
                                            watch_command, verify_command, summary_command};
constexpr Command (*after_analyses[])() = {report_command,     export_command,   import_command,
                                           encode_command,     evaluate_command, check_command,
                                           experiment_command, list_command,     page_command};

void run_program(const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "--version") return print(std::string(version()) + "\n");
  Command program = {
      .name = "kelvin",
      .summary =
          "Kelvin trains neural networks and samples their posteriors with stochastic dynamics.\n"
          "You give it data, a network and a string such as BAOAB for each group of weights.",
      .footer = "Start with:  kelvin new spiral -o spiral.toml  and  kelvin sample spiral.toml",
      .call = calls(+[](const ProgramArguments&) {}),
  };
  for (const auto& row : before_analyses) program.commands.push_back(row());
  for (Command& command : analysis_commands()) program.commands.push_back(std::move(command));
  for (const auto& row : after_analyses) program.commands.push_back(row());
  run_command(program, program.name, words);
}

int exit_code_of(const std::vector<std::string>& words) {
  try {
    run_program(words);
  } catch (const UsageError& e) {
    remark(e.what());
    return ranks().first() ? 2 : 0;  // the others say nothing and the first one says all
  } catch (const Exit& e) {
    return e.code;
  } catch (const AgreedError& e) {
    remark(e.what());
    return 1;
  } catch (const std::exception& e) {
    complain(sentence_of(e));
    ranks().end_all(1);  // they may wait for this one
    return 1;
  }
  return 0;
}

// Where a standard stream was closed, the next file that is opened would take its place, and be printed into.
void open_standard_streams() {
  for (int descriptor = 0; descriptor >= 0 && descriptor <= STDERR_FILENO;) descriptor = open("/dev/null", O_RDWR);
}

}  // namespace
}  // namespace kelvin::cli

int main(int count, char** words) {
  using namespace kelvin;
  cli::open_standard_streams();
  try {
    cli::connected = connect_ranks();
  } catch (const std::exception& e) {
    cli::complain(sentence_of(e));
    return 1;
  }
  for (int k = 0; k < count; ++k) cli::command_line += (k ? " " : "") + std::string(words[k]);
  const int code = cli::exit_code_of({words + std::min(1, count), words + count});
  cli::connected.reset();
  return code;
}
