// SPDX-License-Identifier: Apache-2.0
// The table of commands. Only cli/ prints and exits.
#include <cstdio>
#include <ctime>
#include <thread>

#include "apps/cli/command.h"
#include "kelvin/core/version.h"
#include "kelvin/io/json.h"

namespace kelvin::cli {

std::string command_line;

namespace {

std::unique_ptr<Comm> connected;

}  // namespace

Comm& ranks() { return *connected; }

void print(const std::string& text) {
  if (ranks().first()) std::fwrite(text.data(), 1, text.size(), stdout);
}

void print(const Table& table, bool json) { print(json ? to_json(as_value(table), 2) + "\n" : as_text(table)); }

void print(const Finding& finding, bool json) { print(json ? to_json(as_value(finding), 2) + "\n" : as_text(finding)); }

void remark(std::string_view text) {
  if (ranks().first()) std::fprintf(stderr, "kelvin: %.*s\n", int(text.size()), text.data());
}

std::string utc(const char* format) {
  const std::time_t seconds = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, format, std::gmtime(&seconds));
  return text;
}

std::size_t all_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

void RunFile::add_to(CLI::App& app) {
  app.add_option("file", path, "run file (TOML)")->required();
  app.add_option("--set", overrides, "change a setting: part.hidden.step=0.1 (may be repeated)")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--seed", seed, "change the seed")->check(CLI::NonNegativeNumber);
}

Value RunFile::value() const {
  Value file = read_toml(path);
  for (const std::string& assignment : overrides) override_with(file, assignment);
  if (seed >= 0) override_with(file, "seed=" + std::to_string(seed));
  return file;
}

}  // namespace kelvin::cli

namespace kelvin::cli {
namespace {

struct Command {
  void (*add)(CLI::App&);
  bool spreads = false;  // over ranks; all others would do the same on each, and are left to the first
};
constexpr Command commands[] = {
    {add_new},     {add_data},       {add_train, true}, {add_sample, true}, {add_resume, true}, {add_watch},
    {add_summary}, {add_diagnose},   {add_predict},     {add_boundary},     {add_certify},      {add_landscape},
    {add_analyse}, {add_compare},    {add_report},      {add_export},       {add_encode},       {add_evaluate},
    {add_check},   {add_experiment}, {add_list},        {add_page}};

int run_program(int count, char** words) {
  CLI::App app(
      "Kelvin trains neural networks and samples their posteriors with stochastic dynamics.\n"
      "You give it data, a network and a string such as BAOAB for each group of weights.",
      "kelvin");
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  app.footer("Start with:  kelvin new spiral -o spiral.toml  and  kelvin sample spiral.toml");
  for (const Command& command : commands)
    if (ranks().first() || command.spreads) command.add(app);
  for (int k = 0; k < count; ++k) cli::command_line += (k ? " " : "") + std::string(words[k]);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& e) {
    if (!ranks().first()) return 0;  // it says nothing and the first one says all
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const cli::Exit& e) {
    return e.code;
  } catch (const AgreedError& e) {
    remark(e.what());
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kelvin: %s\n", e.what());
    ranks().end_all(1);  // they may wait for this one
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace kelvin::cli

int main(int count, char** words) {
  using namespace kelvin;
  try {
    cli::connected = connect_ranks();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kelvin: %s\n", e.what());
    return 1;
  }
  const int code = cli::run_program(count, words);
  cli::connected.reset();
  return code;
}
