// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/outline.h"

#include <fmt/format.h>

#include "kelvin/function/network.h"

namespace kelvin {
namespace {

NetworkSize operator+(const NetworkSize& a, const NetworkSize& b) {
  return {a.parameters + b.parameters, a.statistics + b.statistics, a.multiply_adds + b.multiply_adds};
}

// Without what it holds. A block that an earlier layer has is counted there.
NetworkSize own_size(const LayerPlan& plan) {
  NetworkSize size{.multiply_adds = plan.multiply_adds};
  for (std::size_t k = plan.shares ? 1 : 0; k < plan.blocks.size(); ++k)
    (plan.blocks[k].buffer() ? size.statistics : size.parameters) += plan.blocks[k].size();
  return size;
}

NetworkSize size_of_one(const LayerPlan& plan) {
  NetworkSize size = own_size(plan);
  for (const auto& branch : plan.branches) size = size + size_of(branch);
  return size;
}

std::string value_text(const Value& value) {
  if (value.number()) return fmt::format("{:g}", value.as<double>());
  return value.text() ? value.as<std::string>() : "";
}

bool has_list(const Value& value) { return std::holds_alternative<Value::List>(value.is); }

// The numbers of its row that a layer of that name has where nothing is said of them.
Choice unsaid(const Choice& numbers, const LayerRow& row) {
  Choice out(numbers.name);
  for (const Parameter& p : row.parameters)
    if (const auto given = numbers.values.find(std::string(p.name));
        p.standard.empty() && given != numbers.values.end())
      out.values.insert(*given);
  return out.completed(row.parameters, "layer");
}

class LayerLines {
 public:
  explicit LayerLines(std::size_t most_depth) : most_depth_(most_depth) {}
  void add(const std::vector<LayerPlan>& plans, std::size_t depth) {
    for (const LayerPlan& plan : plans) add(plan, depth);
  }
  Table table;

 private:
  static std::string indented(std::size_t depth, const std::string& text) { return std::string(2 * depth, ' ') + text; }

  void add(const LayerPlan& plan, std::size_t depth) {
    const bool opens = !plan.branches.empty() && depth < most_depth_;
    const NetworkSize size = opens ? own_size(plan) : size_of_one(plan);
    Table::Row row = {{"layer", indented(depth, layer_text(plan.numbers))},
                      {"blocks", plan.blocks.empty() ? "" : fmt::format("layer{}", plan.blocks.back().layer)},
                      {"outputs", plan.output.text()}};
    const bool counts = !opens || !plan.blocks.empty();
    if (counts) {
      row.emplace_back("parameters", size.parameters);
      row.emplace_back("multiply_adds", std::size_t(size.multiply_adds));
    }
    table.row(std::move(row));
    if (opens) add_branches(plan, depth + 1);
  }

  // Those of an architecture stand one after another; others are next to each other, and have a line each.
  void add_branches(const LayerPlan& plan, std::size_t depth) {
    const LayerRow& row = layer_named(plan.numbers.name, "");
    std::size_t filled = 0;
    for (const auto& branch : plan.branches) filled += !branch.empty();
    const bool beside = !row.layers && filled > 1;
    for (std::size_t k = 0; k < plan.branches.size(); ++k) {
      if (plan.branches[k].empty()) continue;
      const bool named = row.parameters.size() == plan.branches.size();
      if (beside)
        table.row(
            {{"layer", indented(depth, named ? std::string(row.parameters[k].name) : fmt::format("branch {}", k + 1))},
             {"blocks", ""},
             {"outputs", plan.branches[k].back().output.text()}});
      add(plan.branches[k], depth + (beside ? 1 : 0));
    }
  }

  std::size_t most_depth_;
};

std::string in_thousands(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace

std::vector<LayerPlan> outlined_layers(const ModelSettings& settings, const Shape& input) {
  if (!settings.layers.are_sizes()) return network_plan(settings, input);
  const std::vector<long> sizes = settings.layers.sizes();
  const auto& activation = settings.activation;
  Value::List layers;
  for (std::size_t k = 1; k < sizes.size(); ++k) {
    layers.emplace_back(fmt::format("dense {}", sizes[k]));
    if (k + 1 < sizes.size()) layers.emplace_back(activation.size() == 1 ? activation.front() : activation.at(k - 1));
  }
  ModelSettings named = settings;
  named.layers = LayerList(std::move(layers));
  return network_plan(named, {std::size_t(sizes.front())});
}

NetworkSize size_of(const std::vector<LayerPlan>& plans) {
  NetworkSize size;
  for (const LayerPlan& plan : plans) size = size + size_of_one(plan);
  return size;
}

std::string layer_text(const Choice& numbers) {
  if (numbers.name == "activation") return numbers.text("of");
  const LayerRow& row = layer_named(numbers.name, "");
  const Choice usual = unsaid(numbers, row);
  std::string text = numbers.name;
  bool in_order = true;  // as long as none has been left out
  for (const Parameter& p : row.parameters) {
    const std::string name(p.name);
    const Value& value = numbers.values.at(name);
    if (has_list(value)) continue;
    if (!p.standard.empty() && value == usual.values.at(name)) {
      in_order = false;
      continue;
    }
    text += in_order && p.standard.empty() ? " " + value_text(value) : fmt::format(" {} {}", name, value_text(value));
  }
  return text;
}

Table table_of_layers(const std::vector<LayerPlan>& plans, std::size_t most_depth) {
  LayerLines lines(most_depth);
  lines.add(plans, 0);
  return lines.table;
}

std::string outline(const std::vector<LayerPlan>& plans, const Shape& input) {
  constexpr std::size_t most_lines = 24;
  const bool one_architecture = plans.size() == 1 && !plans.front().branches.empty();
  Table table = table_of_layers(plans, one_architecture ? 1 : 0);
  const NetworkSize size = size_of(plans);
  std::string text = fmt::format("a network of {} parameters on rows of {}, {} multiply-adds each\n",
                                 in_thousands(double(size.parameters)), input.text(), in_thousands(size.multiply_adds));
  const std::size_t more = table.rows.size() > most_lines ? table.rows.size() - most_lines + 1 : 0;
  table.rows.resize(table.rows.size() - more);
  text += as_text(table);
  if (more > 0) text += fmt::format("... and {} more lines; `kelvin model` shows all of them\n", more);
  text.pop_back();
  return text;
}

}  // namespace kelvin
