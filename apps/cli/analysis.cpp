// SPDX-License-Identifier: Apache-2.0
// Commands made of the table of analyses: one for each row, in its family if it has one.
#include "kelvin/analysis/analysis.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "apps/cli/command.h"
#include "apps/cli/draws.h"
#include "apps/cli/progress.h"
#include "kelvin/core/choice.h"
#include "kelvin/core/settings.h"
#include "kelvin/core/text.h"
#include "kelvin/core/toml.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {
namespace {

constexpr Bounds some_threads = {.least = 1, .most = 1024};

// What stands on the command line besides the options of the analysis.
struct AnalysisArguments {
  std::string run, out;
  std::vector<std::string> runs, data;
  RunFile file;
  std::size_t threads = all_threads();
  bool quiet = false, json = false;

  template <class Visit>
  void subject_fields(const Analysis& row, Visit&& field) {
    if (row.needs == Needs::run_file) file.fields(field);
    else if (row.needs == Needs::runs || row.needs == Needs::several)
      field("runs", runs, "directories of runs", argument);
    else field("run", run, row.draws_alone ? directory_or_draws : "directory of a run", argument);
  }
  template <class Visit>
  void common_fields(const Analysis& row, Visit&& field) {
    if (row.other_data) field("set", data, "other data: data.test_file=new.csv (may be repeated)");
    if (row.threads) field("threads", threads, "threads; the result does not depend on them", {.range = some_threads});
    if (!row.kept) field("out", out, "also write what was found to this file, as JSON");
    field("quiet", quiet, "no progress");
    field("json", json, "print JSON");
  }
};

// A call of one row.
struct AnalysisCall {
  const Analysis& row;
  Question question = row.ask();
  AnalysisArguments arguments = {};
};

// The run's settings with other data.
RunSettings settings_with(const Samples& samples, const std::vector<std::string>& data) {
  if (data.empty()) return samples.record.settings;
  Value settings = recorded_settings(as_value(samples.record.settings));
  for (const std::string& assignment : data) {
    if (!assignment.starts_with("data."))
      throw Error("--set {}: only the data of a run may be changed, for example data.test_file=new.csv", assignment);
    override_with(settings, assignment);
  }
  return read_run_settings(settings);
}

Subject subject_in(const Analysis& row, const AnalysisArguments& arguments) {
  Subject subject;
  subject.threads = arguments.threads;
  subject.remark = remark;
  if (row.needs == Needs::run_file) {
    subject.settings = read_run_settings(arguments.file.value());
    fill_in_temperatures(subject.settings, Choice("posterior"));
    return subject;
  }
  for (const std::string& run : arguments.runs) subject.runs.push_back(samples_at(run));
  if (arguments.runs.empty()) subject.runs.push_back(samples_at(arguments.run));
  subject.settings = settings_with(subject.run(), arguments.data);
  return subject;
}

void run_analysis(const AnalysisCall& call) {
  const auto& [row, question, arguments] = call;
  const Subject subject = subject_in(row, arguments);
  std::unique_ptr<Progress> bar;
  const auto progress = [&](double done, double total, std::string_view unit) {
    if (!bar) bar = std::make_unique<Progress>(total, std::string(unit), arguments.quiet || arguments.json);
    if (done >= total || bar->seconds() > 0.5) bar->show(done, "");  // short work shows its end only
  };
  const Found found = find(row, question, subject, progress);
  if (bar) bar->finish();
  if (row.kept) keep(subject, found);
  if (!arguments.out.empty()) write_file(arguments.out, to_json(as_value(found.finding), 1) + "\n");
  print(found.finding, arguments.json);
}

// Collects fields as options.
struct OptionList {
  std::vector<Option>& options;
  template <class Type>
  void operator()(std::string_view name, Type& place, std::string_view meaning, const Usage& usage = Usage()) const {
    options.push_back({{std::string(name), &place, std::string(meaning), usage}});
  }
};

void add_options(const Question& question, std::vector<Option>& options) {
  for (OptionField field : question.options) {
    field.usage.shows_default = true;
    options.push_back({std::move(field)});
  }
}

Command command_of(const Analysis& row) {
  const std::string footer =
      row.example.empty() ? fmt::format("The result is kept with the run, in analysis/{}.json.", finding_name(row))
                          : fmt::format("Example:  {}", row.example);
  return {.name = std::string(row.name), .summary = std::string(row.meaning), .footer = footer, .call = [&row] {
            const auto call = std::make_shared<AnalysisCall>(AnalysisCall{row});
            std::vector<Option> options;
            call->arguments.subject_fields(row, OptionList{options});
            add_options(call->question, options);
            call->arguments.common_fields(row, OptionList{options});
            return Call{options, [call](const Given&) { run_analysis(*call); }};
          }};
}

// ---- a family whose command is told the analysis

struct FamilyCall {
  std::vector<AnalysisCall> calls = {};
  std::string name = {};
  AnalysisArguments arguments = {};
  std::vector<Option> options = {};  // of all of them, each once
};

const Option* option_named(std::string_view name, std::span<const Option> options) {
  const auto at = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == name; });
  return at == options.end() ? nullptr : &*at;
}

void run_chosen(FamilyCall& family, const Given& given) {
  std::vector<Analysis> rows;
  for (const AnalysisCall& call : family.calls) rows.push_back(call.row);
  const Analysis& row = row_named<Analysis>(family.name, rows, "analysis");
  AnalysisCall& call = family.calls[std::size_t(&row - rows.data())];
  std::vector<Option> own;
  add_options(call.question, own);
  for (const std::string& name : given) {
    const Option* asked = option_named(name, family.options);
    if (!asked) continue;
    const Option* taken = option_named(name, own);
    if (!taken) {
      std::vector<std::string> known;
      for (const Option& option : own) known.push_back(option.spelling());
      throw Error("analysis \"{}\" takes no {}; it takes {}", row.name, asked->spelling(),
                  known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
    copy_value(asked->place, taken->place);
  }
  call.arguments = family.arguments;
  run_analysis(call);
}

Call call_of_family(const AnalysisFamily& family) {
  const auto call = std::make_shared<FamilyCall>();
  std::string known;
  for (const Analysis* row : analyses_in(family.name)) {
    known += fmt::format("\n  {:<16} {}", row->name, row->meaning);
    std::vector<Option> own;
    add_options(call->calls.emplace_back(AnalysisCall{*row}).question, own);
    for (Option& option : own)
      if (!option_named(option.name, call->options)) call->options.push_back(std::move(option));
  }
  std::vector<Option> options;
  OptionList{options}("name", call->name, "one of" + known, argument);
  call->arguments.subject_fields(call->calls.front().row, OptionList{options});
  options.insert(options.end(), call->options.begin(), call->options.end());
  call->arguments.common_fields(call->calls.front().row, OptionList{options});
  return {options, [call](const Given& given) { run_chosen(*call, given); }};
}

Command command_of(const AnalysisFamily& family) {
  Command command = {
      .name = std::string(family.name), .summary = std::string(family.meaning), .footer = std::string(family.footer)};
  if (family.together) command.call = [&family] { return call_of_family(family); };
  else
    for (const Analysis* row : analyses_in(family.name)) command.commands.push_back(command_of(*row));
  return command;
}

}  // namespace

std::vector<Command> analysis_commands() {
  std::vector<Command> out;
  for (const AnalysisFamily& family : analysis_families()) out.push_back(command_of(family));
  for (const Analysis* row : analyses_in("")) out.push_back(command_of(*row));
  return out;
}

}  // namespace kelvin::cli
