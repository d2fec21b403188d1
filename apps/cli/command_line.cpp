// SPDX-License-Identifier: Apache-2.0
// The only source that knows CLI11. It splits command lines into words and options, and lays out help; what the words
// mean, and every sentence about a mistake, is ours.
#include "apps/cli/command_line.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "kelvin/core/text.h"
#include "kelvin/core/value.h"

namespace kelvin::cli {
namespace {

bool asks_for_help(const std::string& word) { return word == "-h" || word == "--help"; }

// "landscape line" of "kelvin landscape line"
std::string called(const std::string& path) { return path.substr(path.find(' ') + 1); }

Call call_of(const Command& command) { return command.call ? command.call() : Call(); }

CLI::Option* add_option(CLI::App& app, const Option& option) {
  if (option.flag()) return app.add_flag(option.all_spellings(), option.meaning);
  CLI::Option* added = app.add_option(option.all_spellings(), CLI::callback_t(), option.meaning);
  added->type_name(option.kind());
  added->default_str(option.default_text());
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (option.numbers()) added->delimiter(',');
  if (option.usage.count) added->expected(option.usage.count);
  else if (option.numbers() || option.texts()) added->expected(1, CLI::detail::expected_max_vector_size);
  added->allow_extra_args(option.numbers() ? !option.usage.count : option.texts() && option.usage.positional);
  return added->required(option.usage.required);
}

std::string help_text(const Command& command, const std::string& path) {
  CLI::App app(command.summary, path);
  app.footer(command.footer);
  const Call call = call_of(command);
  for (const Option& option : call.options) add_option(app, option);
  for (const Option& option : call.options) {
    const auto [needs, excludes] = std::pair(option.usage.needs, option.usage.excludes);
    if (!needs.empty()) app.get_option(option.spelling())->needs(app.get_option(option_name(needs)));
    if (!excludes.empty()) app.get_option(option.spelling())->excludes(app.get_option(option_name(excludes)));
  }
  for (const Command& part : command.commands) app.add_subcommand(part.name, part.summary);
  if (!command.commands.empty()) app.require_subcommand(1);
  return app.help();
}

std::string nearest_option(const std::string& name, std::span<const Option> options) {
  std::vector<std::string> known = {"--help"};
  for (const Option& option : options)
    if (!option.usage.positional) known.push_back(option.spelling());
  return suggestion(name, known);
}

// What no option and no argument of the command takes. Words after -- are never options.
void refuse_extra_words(const std::string& path, const std::vector<std::string>& extra,
                        std::span<const Option> options) {
  if (extra.empty() || extra == std::vector<std::string>{"--"}) return;
  if (const std::string name = extra[0].substr(0, extra[0].find('=')); name.starts_with('-') && name != "--")
    throw UsageError("{} takes no {}; `{} --help` lists the options{}", called(path), name, path,
                     nearest_option(name, options));
  throw UsageError("{} has no place for \"{}\"; `{} --help` shows what it takes", called(path),
                   extra[0] == "--" ? extra[1] : extra[0], path);
}

// CLI11 begins its sentence with the option whose value is missing.
[[noreturn]] void refuse_missing_value(const std::string& path, const std::string& sentence) {
  throw UsageError("{} needs a value after it; `{} --help` says which", sentence.substr(0, sentence.find(':')), path);
}

// The words of each option, in their order.
std::vector<std::vector<std::string>> words_of_options(const Command& command, const std::string& path,
                                                       std::span<const Option> options,
                                                       std::vector<std::string> words) {
  CLI::App app(command.summary, path);
  app.allow_extras();
  std::vector<CLI::Option*> added;
  for (const Option& option : options) added.push_back(add_option(app, option));
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ArgumentMismatch& e) {
    refuse_missing_value(path, e.what());
  } catch (const CLI::RequiredError&) {  // is said below, if there is nothing worse
  }
  refuse_extra_words(path, app.remaining(), options);
  std::vector<std::vector<std::string>> out;
  for (const CLI::Option* option : added) out.push_back(option->results());
  return out;
}

void call_command(const Command& command, const std::string& path, const std::vector<std::string>& words) {
  const Call call = command.call();
  std::vector<std::vector<std::string>> values;
  try {
    values = words_of_options(command, path, call.options, words);
  } catch (const CLI::CallForHelp&) {
    return print(help_text(command, path));
  } catch (const CLI::ParseError&) {
    throw UsageError("the command line is not understood; `{} --help` shows how it is written", path);
  }
  Given given;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Option& option = call.options[k];
    if (values[k].empty()) continue;
    option.assign(values[k]);
    given.push_back(option.name);
  }
  for (std::size_t k = 0; k < values.size(); ++k)
    if (call.options[k].usage.required && values[k].empty())
      throw UsageError("{} is required; `{} --help` says what it is", call.options[k].spelling(), path);
  check_together(call.options, given);
  call.run(given);
}

const Command& command_named(const std::string& name, const Command& family, const std::string& path) {
  std::vector<std::string> known;
  for (const Command& command : family.commands) {
    if (command.name == name) return command;
    known.push_back(command.name);
  }
  if (name.starts_with('-'))
    throw UsageError("{} stands where a command should; `{} --help` lists them{}", name, path,
                     nearest_option(name, call_of(family).options));
  throw UsageError("no command \"{}\"; known: {}{}", called(path + " " + name), fmt::join(known, ", "),
                   suggestion(name, known));
}

}  // namespace

void run_command(const Command& command, const std::string& path, std::vector<std::string> words) {
  if (command.commands.empty()) {
    if (ranks().first() || command.spreads) call_command(command, path, words);
    return;
  }
  const bool help = !words.empty() && asks_for_help(words.front());
  if (help) words.erase(words.begin());
  if (words.empty() && help) return print(help_text(command, path));
  if (words.empty()) throw UsageError("give a command after `{}`; `{} --help` lists them", path, path);
  const Command& chosen = command_named(words.front(), command, path);
  if (help) words = {"--help"};
  else words.erase(words.begin());
  run_command(chosen, path + " " + chosen.name, std::move(words));
}

}  // namespace kelvin::cli
