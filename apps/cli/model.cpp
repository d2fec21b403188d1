// SPDX-License-Identifier: Apache-2.0
// `kelvin model`: the layers of a network, their shapes, parameters and work.
#include <filesystem>

#include "apps/cli/command.h"
#include "kelvin/function/outline.h"
#include "kelvin/io/json.h"
#include "kelvin/io/problem.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin::cli {
namespace {

struct ModelArguments {
  RunFile file;
  bool json = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("file", file.path, "run file (TOML), or directory of a run", argument);
    field("set", file.overrides, "change a setting: model.layers=[2,10,1] (may be repeated)");
    field("json", json, "print JSON");
  }
};

// What a run file says, or the record of a run whose data are looked for where it was started.
struct Described {
  RunSettings settings;
  std::string directory;
};

Described described(const ModelArguments& arguments) {
  if (!std::filesystem::is_directory(arguments.file.path)) return {read_run_settings(arguments.file.value()), ""};
  if (!arguments.file.overrides.empty())
    throw Error("--set changes a run file, and \"{}\" is a run; leave it out", arguments.file.path);
  const RunRecord record = read_record(arguments.file.path);
  return {record.settings, record.directory};
}

template <class Real>
Table table_of(const Described& described) {
  const auto silent = [](std::string_view) {};
  const auto problem = make_problem<Real>(described.settings, silent, Slack::left_out, described.directory);
  const Shape input = problem.data.train.input_shape();
  const auto layers = outlined_layers(described.settings.model, input);
  Table table;
  table.row({{"layer", "inputs"}, {"blocks", ""}, {"outputs", input.text()}});
  for (const Table::Row& row : table_of_layers(layers).rows) table.row(row);
  NetworkSize size = size_of(layers);
  for (const Block& block : problem.recipe.blocks)
    if (block.role == Role::scale) {
      table.row({{"layer", block.layer > 0 ? "scale of the prior" : "noise of the loss"},
                 {"blocks", block.name},
                 {"outputs", ""},
                 {"parameters", block.size()},
                 {"multiply_adds", 0}});
      size.parameters += block.size();
    }
  const std::string statistics =
      size.statistics > 0 ? fmt::format("and {} running statistics", size.statistics) : std::string();
  table.row({{"layer", "total"},
             {"blocks", statistics},
             {"outputs", layers.back().output.text()},
             {"parameters", size.parameters},
             {"multiply_adds", std::size_t(size.multiply_adds)}});
  return table;
}

void show_model(const ModelArguments& arguments) {
  const Described network = described(arguments);
  const ModelSettings& model = network.settings.model;
  if (model.toy.given()) throw Error("the toy \"{}\" has no layers; give a run file with model.layers", model.toy.name);
  with_precision(network.settings, [&]<class Real>() { print(table_of<Real>(network), arguments.json); });
}

}  // namespace

Command model_command() {
  return {.name = "model",
          .summary = "the layers of a network: shapes, parameters, and multiply-adds of a row",
          .footer = "Example:  kelvin model examples/fashion_conv.toml",
          .call = calls(show_model)};
}

}  // namespace kelvin::cli
