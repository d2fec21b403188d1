// SPDX-License-Identifier: Apache-2.0
// `kelvin data`: what a run file's data are, or the rows themselves.
#include <fmt/ranges.h>

#include <cmath>

#include "apps/cli/command.h"
#include "kelvin/energy/loss.h"
#include "kelvin/io/load.h"

namespace kelvin::cli {
namespace {

// One line for each channel of images, in original units, over all their pixels.
void describe_images(Table& table, const std::string& split, const Dataset& data) {
  const std::size_t channels = data.shape[0];
  std::vector<double> sum(channels), square(channels), low(channels, INFINITY), high(channels, -INFINITY);
  std::vector<double> row(data.input_count());
  const double count = double(data.rows * (data.input_count() / channels));
  for (std::size_t i = 0; i < data.rows; ++i) {
    data.inputs.copy(i * row.size(), row);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double x = data.input_units.original(j, row[j]);
      const std::size_t c = j % channels;
      sum[c] += x;
      square[c] += x * x;
      low[c] = std::min(low[c], x);
      high[c] = std::max(high[c], x);
    }
  }
  for (std::size_t c = 0; c < channels; ++c) {
    const double mean = sum[c] / count;
    table.row({{"split", split},
               {"rows", data.rows},
               {"column", fmt::format("channel {} of {}", c + 1, data.shape.text())},
               {"mean", mean},
               {"sd", std::sqrt(std::max(0.0, square[c] / count - mean * mean))},
               {"least", low[c]},
               {"most", high[c]}});
  }
}

// One line: what rows of tokens are made of.
void describe_tokens(Table& table, const std::string& split, const Dataset& data) {
  double padded = 0;
  const bool pads = data.steps == 0;
  for (const double token : data.inputs) padded += pads && token == 0;
  table.row({{"split", split},
             {"rows", data.rows},
             {"column", fmt::format("{} tokens of a vocabulary of {}", data.input_count(), data.vocabulary.size())},
             {"mean", pads ? fmt::format("{:.1f} of a text", double(data.input_count()) - padded / double(data.rows))
                           : std::string()}});
}

// One line per column, in original units.
void describe_columns(Table& table, const std::string& split, const Dataset& data) {
  const auto add = [&](const std::string& name, std::size_t width, std::size_t column, const InputValues& values,
                       const Units& units) {
    double mean = 0, square = 0, low = INFINITY, high = -INFINITY;
    for (std::size_t i = 0; i < data.rows; ++i) {
      const double x = units.original(column, values[i * width + column]);
      mean += x / double(data.rows);
      low = std::min(low, x);
      high = std::max(high, x);
    }
    for (std::size_t i = 0; i < data.rows; ++i)
      square += std::pow(units.original(column, values[i * width + column]) - mean, 2) / double(data.rows);
    table.row({{"split", split},
               {"rows", data.rows},
               {"column", name},
               {"mean", mean},
               {"sd", std::sqrt(square)},
               {"least", low},
               {"most", high}});
  };
  if (data.shape.rank() > 0) describe_images(table, split, data);
  else if (!data.vocabulary.empty()) describe_tokens(table, split, data);
  else
    for (std::size_t c = 0; c < data.input_count(); ++c)
      add(data.input_names[c], data.input_count(), c, data.inputs, data.input_units);
  if (data.steps > 0) return;
  if (!data.has_classes()) {
    for (std::size_t c = 0; c < data.target_count(); ++c)
      add(data.target_names[c], data.target_count(), c, data.targets, data.target_units);
    return;
  }
  for (std::size_t k = 0; k < data.classes.size(); ++k)
    table.row({{"split", split},
               {"rows", std::count(data.targets.begin(), data.targets.end(), double(k))},
               {"column", data.target_names[0] + " = " + data.classes[k]}});
}

void print_rows(const Dataset& data) {
  std::string text;
  const auto line = [&](std::vector<std::string>& cells) {
    text += fmt::format("{}\n", fmt::join(cells, ","));
    cells.clear();
  };
  std::vector<std::string> cells = data.input_names;
  cells.insert(cells.end(), data.target_names.begin(), data.target_names.end());
  line(cells);
  for (std::size_t i = 0; i < data.rows; ++i) {
    for (std::size_t c = 0; c < data.input_count(); ++c)
      cells.push_back(fmt::format("{}", data.input_units.original(c, data.inputs[i * data.input_count() + c])));
    for (std::size_t c = 0; c < data.target_count(); ++c) {
      const double y = data.targets[i * data.target_count() + c];
      cells.push_back(data.has_classes() && data.steps == 0 ? data.classes[std::size_t(y)]
                                                            : fmt::format("{}", data.target_units.original(c, y)));
    }
    line(cells);
  }
  print(text);
}

constexpr std::string_view split_names[] = {"train", "validation", "test"};

struct DataArguments {
  RunFile file;
  std::string rows;
  bool json = false;
  template <class Visit>
  void fields(Visit&& field) {
    file.fields(field);
    field("rows", rows, "print the rows of a split as CSV: train, validation or test", {.one_of = split_names});
    field("json", json, "print JSON");
  }
};

void show_data(const DataArguments& arguments) {
  const RunSettings settings = read_run_settings(arguments.file.value());
  if (settings.model.toy.given()) throw Error("the toy \"{}\" has no data", settings.model.toy.name);
  const Splits splits =
      load(settings.data, loss_named(settings.model.loss).wants_classes(), std::uint64_t(settings.seed), remark);
  const std::pair<std::string, const Dataset*> all[] = {
      {"train", &splits.train}, {"validation", &splits.validation}, {"test", &splits.test}};
  Table table;
  for (const auto& [name, data] : all) {
    if (arguments.rows == name) return print_rows(*data);
    if (arguments.rows.empty() && data->rows > 0) describe_columns(table, name, *data);
  }
  print(table, arguments.json);
}

}  // namespace

Command data_command() {
  return {.name = "data",
          .summary = "what a run file's data are, in their original units",
          .footer = "Example:  kelvin data examples/gap.toml --rows train > gap.csv",
          .call = calls(show_data)};
}

}  // namespace kelvin::cli
