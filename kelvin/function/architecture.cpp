// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/architecture.h"

namespace kelvin {
namespace {

constexpr std::size_t most_groups = 32;  // as Wu and He (2018) have it

// As many groups as possible that have at least two channels each.
std::size_t groups_for(std::size_t channels) {
  for (std::size_t groups = std::min(most_groups, channels / 2); groups > 1; --groups)
    if (channels % groups == 0) return groups;
  return 1;
}

}  // namespace

NormAndActivation::NormAndActivation(const Choice& architecture) : activation_(architecture.text("activation")) {
  const std::string norm = architecture.text("norm");
  if (norm != "batch" && norm != "group" && norm != "filter_response" && norm != "none")
    throw layer_error(architecture, "has norm \"{}\"; give batch, group, filter_response or none", norm);
  if (norm != "none") norm_ = norm + "_norm";
}

void NormAndActivation::norm(Value::List& to, const std::string& label, std::size_t channels) const {
  if (norm_ == "group_norm") add_layer(to, "{}: group_norm {}", label, groups_for(channels));
  else if (!norm_.empty()) add_layer(to, "{}: {}", label, norm_);
}

void NormAndActivation::both(Value::List& to, const std::string& label, std::size_t channels) const {
  norm(to, label, channels);
  if (norm_ != "filter_response_norm") activation(to);
}

std::string pool_of(const Choice& architecture) {
  const std::string pool = architecture.text("pool");
  if (pool != "max" && pool != "average") throw layer_error(architecture, "has pool \"{}\"; give max or average", pool);
  return pool + "_pool";
}

Value residual_block(std::string label, Value::List layers, Value::List shortcut) {
  return Value(Value::Group{
      {"label", std::move(label)}, {"residual", Value(std::move(layers))}, {"shortcut", Value(std::move(shortcut))}});
}

std::size_t chosen_depth(const Choice& architecture, std::span<const std::size_t> known) {
  const std::size_t depth = whole_number(architecture, "depth");
  const auto at = std::ranges::find(known, depth);
  if (at != known.end()) return std::size_t(at - known.begin());
  std::string list;
  for (const std::size_t one : known) list += fmt::format("{}{}", list.empty() ? "" : ", ", one);
  throw layer_error(architecture, "has depth {}; give one of {}", depth, list);
}

LayerPlan architecture_plan(const Choice& numbers, const Shape& input, const Value& layers) {
  LayerPlan plan{.numbers = numbers, .input = input, .output = {}};
  plan.branches.push_back(plan_layers(layers, input));
  plan.output = output_of(plan.branches[0], input);
  return plan;
}

}  // namespace kelvin
