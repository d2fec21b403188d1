// SPDX-License-Identifier: Apache-2.0
// The one table of analyses. Every command that computes a result from runs (`kelvin analyse`, `landscape`, `predict`,
// `diagnose`, ...) and the report are generated from it. To add one, write a file with its options, its function and
// `Question ask_NAME() { return ask(function); }`, and its row in analysis.cpp.
#pragma once
#include <map>
#include <memory>
#include <span>

#include "kelvin/analysis/finding.h"
#include "kelvin/core/error.h"
#include "kelvin/core/option.h"
#include "kelvin/data/array.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

// Told how far an analysis is, now and then; from one thread at a time.
using Progress = std::function<void(double done, double total, std::string_view unit)>;

// What is analysed, and with how much effort.
struct Subject {
  std::vector<Samples> runs = {};  // one, or several; none of a run file
  RunSettings settings = {};       // of the run, perhaps with other data, or of the run file
  std::size_t threads = 1;         // results do not depend on them
  bool brief = false;              // enough for the eye, in a second or two: for a report
  Remark remark = [](std::string_view) {};
  const Samples& run() const { return runs.front(); }
};
Subject subject_of(const Samples&);

struct Found {
  Finding finding;
  std::map<std::string, std::map<std::string, Array>> arrays = {};  // kept beside it: file name -> name -> numbers
  std::vector<Finding> each = {};  // of each run, kept with it, where `finding` is about all of them
};

// Options of an analysis, at their defaults until they are changed, and the function that reads them.
struct Question {
  std::vector<OptionField> options;
  std::function<Found(const Subject&, const Progress&)> find;
};

struct NoOptions {
  template <class Visit>
  void fields(Visit&&) {}
};

// The question that a function of an analysis answers.
template <class Options>
Question ask(Found (*find)(const Subject&, const Options&, const Progress&)) {
  const auto options = std::make_shared<Options>();
  return {option_fields(*options),
          [=](const Subject& subject, const Progress& progress) { return find(subject, *options, progress); }};
}

// draws: a run that has some; several: two runs or more.
enum class Needs { run, draws, runs, several, run_file };

struct Analysis {
  std::string_view name = "", family = "";  // `kelvin landscape line`; without a family `kelvin predict`
  Needs needs = Needs::run;
  Question (*ask)() = nullptr;
  bool (*in_report)(const Samples&) = nullptr;  // made for every report of a run of which this holds; null: never
  bool verdict = false;                         // its words are what a report says of the run
  bool kept = true;                             // with the run, as analysis/NAME.json
  bool threads = false, other_data = false;     // uses several; may be asked with other data than the run's
  bool draws_alone = false;                     // needs nothing but draws, of whatever program
  std::string_view meaning = "", example = "";
};
std::span<const Analysis> analyses();  // in the order in which a report shows them

struct AnalysisFamily {
  std::string_view name, meaning, footer;
  bool prefixes;  // the names of its findings with its own: landscape_line
  bool together;  // one command that is told the analysis, in place of one for each
};
std::span<const AnalysisFamily> analysis_families();
std::vector<const Analysis*> analyses_in(std::string_view family);

std::string finding_name(const Analysis&);

// Refuses a run without draws if they are needed, and names the finding.
Found find(const Analysis&, const Question&, const Subject&, const Progress&);

void keep(const Subject&, const Found&);  // with each run: analysis/NAME.json, and arrays as analysis/FILE

}  // namespace kelvin
