// SPDX-License-Identifier: Apache-2.0
// `kelvin list` and the pages made of its tables. To list another table, add a row to `lists`.
#include <cmath>
#include <filesystem>
#include <set>

#include "apps/cli/command.h"
#include "kelvin/analysis/analysis.h"
#include "kelvin/core/record.h"
#include "kelvin/core/tati.h"
#include "kelvin/core/text.h"
#include "kelvin/data/augmentation.h"
#include "kelvin/data/batch.h"
#include "kelvin/data/generators.h"
#include "kelvin/dynamics/block_groups.h"
#include "kelvin/dynamics/compatible.h"
#include "kelvin/dynamics/preset.h"
#include "kelvin/dynamics/recipe.h"
#include "kelvin/energy/loss.h"
#include "kelvin/energy/mask.h"
#include "kelvin/energy/penalty.h"
#include "kelvin/energy/prior.h"
#include "kelvin/energy/toys.h"
#include "kelvin/ensemble/coupling.h"
#include "kelvin/experiment/measure.h"
#include "kelvin/function/activation.h"
#include "kelvin/function/initialiser.h"
#include "kelvin/function/layers.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {
namespace {

Table letter_table() {
  Table t;
  for (const Letter& l : letters())
    t.row({{"letter", std::string(1, l.symbol)},
           {"meaning", l.meaning},
           {"moves", std::string(l.moves_q ? "q" : "") + (l.moves_p ? "p" : "") + (l.moves_xi ? "xi" : "")},
           {"parts meet", l.local() ? "no" : "yes"},
           {"normals per entry", l.normals}});
  return t;
}

Table scheme_table() {
  const auto order = [](double x) {
    return std::isnan(x) ? "-" : x == exact ? std::string("exact") : fmt::format("{}", x);
  };
  const auto kinetic = [](Kinetic k) {
    return k == Kinetic::nowhere      ? "-"
           : k == Kinetic::on_step    ? "on step"
           : k == Kinetic::after_bath ? "after the bath"
                                      : "at the thermostat";
  };
  Table t;
  for (const NamedScheme& s : schemes())
    t.row({{"name", s.name},
           {"letters", s.text},
           {"order of <q^2>", order(s.order)},
           {"<p^2> exact", kinetic(s.kinetic)},
           {"also called", s.aliases},
           {"source", s.source}});
  return t;
}

Table preset_table() {
  Table t;
  for (const Preset& p : presets()) {
    std::string roles;
    for (const PresetRole& r : p.roles) roles += fmt::format("{}{}: {}", roles.empty() ? "" : "; ", r.name, r.settings);
    t.row({{"name", p.name}, {"meaning", p.meaning}, {"roles", roles}, {"usual", p.usual}});
  }
  return t;
}

// Any table whose rows have a name, parameters and a meaning.
template <class Row>
Table rows_with_parameters(std::span<const Row> rows) {
  Table t;
  for (const Row& row : rows) {
    std::string takes;
    for (const Parameter& p : row.parameters)
      takes += (takes.empty() ? "" : "; ") + std::string(p.name) +
               (p.standard.empty() ? "" : " = " + std::string(p.standard)) + ": " + std::string(p.meaning);
    t.row({{"name", row.name}, {"meaning", row.meaning}, {"takes", takes}});
  }
  return t;
}

template <class Row>
Table rows_with_meaning(std::span<const Row> rows) {
  Table t;
  for (const Row& row : rows) t.row({{"name", row.name}, {"meaning", row.meaning}});
  return t;
}

Table layer_table() {
  std::vector<LayerRow> rows;
  for (const LayerRow* row : layer_rows()) rows.push_back(*row);
  return rows_with_parameters(std::span<const LayerRow>(rows));
}

Table analysis_table() {
  Table t;
  for (const Analysis* a : analyses_in("analyse")) {
    std::string takes;
    for (const OptionField& option : a->ask().options) takes += (takes.empty() ? "" : ", ") + option_name(option.name);
    t.row({{"name", a->name}, {"meaning", a->meaning}, {"takes", takes}});
  }
  return t;
}

Table tati_table() {
  Table t;
  for (const TatiName& n : tati_names()) t.row({{"name", n.name}, {"kind", n.kind}, {"here", n.here}});
  return t;
}

struct List {
  std::string_view name, meaning;
  Table (*table)();
};
const List lists[] = {
    {"letters", "elementary flows that schemes are spelled with", letter_table},
    {"schemes", "named strings of letters", scheme_table},
    {"schedules", "numbers that change with the step", [] { return rows_with_parameters(schedules()); }},
    {"presets", "partitioned schemes by name", preset_table},
    {"block_groups", "sets of blocks, \"@last\" where blocks are chosen",
     [] { return rows_with_meaning(block_groups()); }},
    {"dampings", "conventions of adaptive Langevin", [] { return rows_with_meaning(dampings()); }},
    {"couplings", "how walkers help each other", [] { return rows_with_parameters(coupling_methods()); }},
    {"losses", "what a network minimises", [] { return rows_with_meaning(losses()); }},
    {"layers", "what a network is made of (model.layers), besides the activations by their names", layer_table},
    {"activations", "functions between layers", [] { return rows_with_meaning(activations()); }},
    {"priors", "energies of the parameters themselves", [] { return rows_with_parameters(priors()); }},
    {"penalties", "energies added to U as they are, not divided by N",
     [] { return rows_with_parameters(penalties()); }},
    {"masks", "entries left out of some evaluations", [] { return rows_with_parameters(masks()); }},
    {"constraints", "manifolds that weights stay on", [] { return rows_with_parameters(constraints()); }},
    {"initialisers", "where parameters start", [] { return rows_with_parameters(initialisers()); }},
    {"augmentations", "changes of images in training", [] { return rows_with_parameters(augmentations()); }},
    {"generators", "datasets made by formula", [] { return rows_with_parameters(generators()); }},
    {"metrics", "coordinates that a warm-up may find (adapt.metric)", [] { return rows_with_meaning(rescalings()); }},
    {"covariances", "what letter V goes by (covariance.form)", [] { return rows_with_meaning(covariance_forms()); }},
    {"orders", "how minibatches are chosen (batch.order)", [] { return rows_with_meaning(batch_orders()); }},
    {"tempering_forms", "how a tempering variable acts", [] { return rows_with_meaning(tempering_forms()); }},
    {"tempering_extents", "what is tempered (tempering.of)", [] { return rows_with_meaning(tempering_extents()); }},
    {"tempering_shapes", "how g falls with alpha", [] { return rows_with_meaning(tempering_shapes()); }},
    {"tempering_biases", "what makes alpha visit its range", [] { return rows_with_parameters(tempering_biases()); }},
    {"tempering_walls", "what keeps alpha in its range", [] { return rows_with_parameters(tempering_walls()); }},
    {"toys", "potentials with known answers", [] { return rows_with_parameters(toys()); }},
    {"analyses", "what `kelvin analyse` finds in a run", analysis_table},
    {"measures", "what experiments measure of a run", [] { return rows_with_meaning(measures()); }},
    {"tati", "names of TATi, and what the same is here (docs/tati.md)", tati_table},
};

std::string names_of_lists() {
  std::string out;
  for (const List& l : lists) out += (out.empty() ? "" : ", ") + std::string(l.name);
  return out;
}

std::string letters_page() {
  std::string page =
      "# Letters, schemes and the other tables\n\n"
      "Made by `kelvin page letters` from the program's own tables; do not edit.\n\n"
      "A scheme is a string of letters, applied from left to right. A letter's share of the step is 1/(its "
      "occurrences), so\n"
      "`BAOAB` gives B and A two halves each; `B[2]AB` gives the first B twice the weight of the second. `(BAB)10` "
      "repeats; `{ }` is a Metropolis test of what lies between; `.` "
      "lets a part\n"
      "wait at a meeting; `B1` and `B2` kick by pieces of U; what stands in `< >` is taken back. The step is always "
      "the "
      "time of the\n"
      "whole string. [Training](training.md) shows what the strings are for.\n";
  for (const List& l : lists)
    page += fmt::format("\n## {}\n\nIn short: {}.\n\n{}", l.name, l.meaning, as_markdown(l.table()));
  return page;
}

std::string compatible_page() {
  const auto named = [](Traits mask) {
    std::string out;
    for (const TraitRow& row : traits())
      if (mask.contains(row.trait)) out += (out.empty() ? "" : ", ") + std::string(row.name);
    return out;
  };
  Table rules, names;
  for (const Incompatibility& row : incompatibilities())
    rules.row({{"what", named(row.first)},
               {"does not go with", named(row.second)},
               {"because", row.why},
               {"what to do", row.cure}});
  for (const TraitRow& row : traits()) names.row({{"name", row.name}, {"asked for by", row.meaning}});
  return "# What goes with what\n\n"
         "Made by `kelvin page compatible` from the program's own table; do not edit.\n\n"
         "Schemes, parts, constraints, networks, walkers and settings can be combined freely, except for these "
         "pairs, which are refused:\n\n" +
         as_markdown(rules) + "\nThe names stand for:\n\n" + as_markdown(names);
}

std::string settings_page() {
  std::string page =
      "# Settings\n\n"
      "Made by `kelvin page settings` from the program's own list; do not edit.\n\n"
      "Settings stand in the run file (TOML) under these names, and on the command line as `--set "
      "part.hidden.step=0.1`, entries of a list\n"
      "counted from 1: `--set phase.2.steps=500`. Where a row of a table is asked for, write its name, `prior = "
      "\"gaussian\"`, or its name with\n"
      "its numbers, `prior = { name = \"gaussian\", scale = 2.0 }`.\n\n";
  std::vector<FieldLine> lines;
  describe(RunSettings(), "", lines);
  Table t;
  for (const FieldLine& l : lines)
    t.row({{"setting", "`" + l.path + "`"}, {"default", "`" + to_json(l.standard) + "`"}, {"meaning", l.meaning}});
  return page + as_markdown(t);
}

// From the results that `kelvin experiment --store` left beside the experiments.
std::string experiments_page() {
  namespace fs = std::filesystem;
  std::vector<fs::path> results;
  if (fs::is_directory("experiments"))
    for (const auto& entry : fs::directory_iterator("experiments"))
      if (fs::exists(entry.path() / "result.json")) results.push_back(entry.path() / "result.json");
  std::sort(results.begin(), results.end());
  if (results.empty()) throw Error("no experiments/*/result.json here; make them with `kelvin experiment all --store`");
  std::string page =
      "# Experiments\n\n"
      "Made by `kelvin page experiments` from the stored results; do not edit. `kelvin experiment NAME` repeats "
      "one.\n\n"
      "A claim counts as reproduced when ours exceeds it by two standard errors, as weaker when it has the right "
      "sign,\n"
      "else as not reproduced. Errors are standard errors over the runs, which differ in seed: data, start and "
      "noise;\nmeans over the same seeds are compared seed by seed.\n\n";
  Table overview;
  std::string sections;
  for (const fs::path& file : results) {
    const auto result = parse_json(read_file(file), file.string());
    const Finding finding = read_finding(result.at("finding"));
    overview.row({{"experiment", fmt::format("[{}](#{})", finding.name, finding.name)},
                  {"shows", finding.title},
                  {"outcome", finding.words.front()}});
    const auto seeds = result.as<long>("seeds");
    sections += fmt::format("\n## {}\n\n{}. {} of each arm, {}, commit {}.\n\n", finding.name, finding.title,
                            seeds == 1 ? "One run" : fmt::format("{} runs", seeds), result.as<std::string>("date"),
                            result.as<std::string>("commit"));
    for (const std::string& words : finding.words) sections += words + (words.ends_with('.') ? "\n" : ".\n");
    for (const NamedTable& t : finding.tables) sections += fmt::format("\n{}:\n\n{}", t.title, as_markdown(t.table));
    if (const fs::path note = file.parent_path() / "note.md"; fs::exists(note)) sections += "\n" + read_file(note);
    std::set<fs::path> pictures;
    for (const auto& entry : fs::directory_iterator(file.parent_path()))
      if (entry.path().extension() == ".png") pictures.insert(entry.path());
    for (const fs::path& picture : pictures)
      sections += fmt::format("\n![{}](../{})\n", picture.stem().string(), picture.generic_string());
  }
  return page + as_markdown(overview) + sections;
}

struct Page {
  std::string_view name;
  std::string (*text)();
};
const Page pages[] = {{"letters", letters_page},
                      {"settings", settings_page},
                      {"compatible", compatible_page},
                      {"experiments", experiments_page}};

struct ListArguments {
  std::string what;
  bool json = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("what", what, names_of_lists(), argument);
    field("json", json, "print JSON");
  }
};

void show_list(const ListArguments& arguments) {
  print(row_named(arguments.what, std::span<const List>(lists), "list").table(), arguments.json);
}

struct PageArguments {
  std::string what;
  template <class Visit>
  void fields(Visit&& field) {
    field("what", what, "letters, settings or experiments", argument);
  }
};

void show_page(const PageArguments& arguments) {
  print(row_named(arguments.what, std::span<const Page>(pages), "page").text());
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .summary = "what there is: " + names_of_lists(),
          .footer = "Example:  kelvin list schemes",
          .call = calls(show_list)};
}

Command page_command() {
  return {
      .name = "page",
      .summary =
          "a page of the documentation made from the program's tables: letters, settings, compatible or experiments",
      .footer = "Example:  kelvin page settings > docs/settings.md",
      .call = calls(show_page)};
}

}  // namespace kelvin::cli
