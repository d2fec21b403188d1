// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kelvin/io/onnx_graph.h"

namespace kelvin {
namespace {

using Folded = std::shared_ptr<const Array>;  // null: nothing is known of it

Folded known_input(const OnnxGraph& graph, const OnnxNode& node, std::size_t input) {
  if (input >= node.inputs.size()) return {};
  const auto at = graph.constants.find(node.inputs[input]);
  return at == graph.constants.end() ? Folded() : at->second;
}

Folded hand_on(const OnnxGraph& graph, const OnnxNode& node) { return known_input(graph, node, 0); }

Folded list_of(std::vector<double> extents) {
  const std::size_t count = extents.size();
  return std::make_shared<const Array>(Array{{count}, std::move(extents)});
}

// The shape of data tells the number of rows first, for which 0 stands in a Reshape.
Folded fold_gather(const OnnxGraph& graph, const OnnxNode& node) {
  const Folded index = known_input(graph, node, 1);
  const bool rows = !node.inputs.empty() && graph.shapes.contains(node.inputs[0]) && index &&
                    index->values.size() == 1 && index->values[0] == 0;
  return rows ? list_of({0}) : Folded();
}

// Short lists, of extents.
Folded fold_concatenation(const OnnxGraph& graph, const OnnxNode& node) {
  constexpr std::size_t longest = 8;
  std::vector<double> all;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    const Folded x = known_input(graph, node, k);
    if (!x || x->shape.size() > 1 || x->values.size() + all.size() > longest) return {};
    all.insert(all.end(), x->values.begin(), x->values.end());
  }
  return list_of(std::move(all));
}

Folded zero_if(bool holds) { return holds ? list_of({0}) : Folded(); }

bool is_zero(const Array& x) {
  return std::ranges::all_of(x.values, [](double number) { return number == 0; });
}

// Zeros of whatever shape, from which recurrent operators start.
Folded fold_expansion(const OnnxGraph& graph, const OnnxNode& node) {
  const Folded x = known_input(graph, node, 0);
  return zero_if(x && is_zero(*x));
}

Folded fold_constant_of_shape(const OnnxGraph&, const OnnxNode& node) {
  const auto value = node.attributes.find("value");
  return zero_if(value == node.attributes.end() || (value->second.tensor && is_zero(*value->second.tensor)));
}

struct OnnxFolding {
  std::string_view type;
  Folded (*fold)(const OnnxGraph&, const OnnxNode&);
};
constexpr OnnxFolding onnx_foldings[] = {
    {"Identity", hand_on},          {"Unsqueeze", hand_on},     {"Gather", fold_gather},
    {"Concat", fold_concatenation}, {"Expand", fold_expansion}, {"ConstantOfShape", fold_constant_of_shape},
};

}  // namespace

void fold_constants(OnnxGraph& graph, const OnnxNode& node) {
  if (node.outputs.size() != 1) return;
  if (node.type == "Shape") graph.shapes.insert(node.outputs[0]);
  for (const OnnxFolding& row : onnx_foldings)
    if (row.type == node.type)
      if (Folded value = row.fold(graph, node)) graph.constants.emplace(node.outputs[0], std::move(value));
}

}  // namespace kelvin
