// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/onnx.h"

#include <algorithm>
#include <set>

#include "kelvin/io/bytes.h"
#include "kelvin/io/onnx_operators.h"

namespace kelvin {
namespace {

constexpr std::int64_t oldest_opset = 9, newest_opset = 26;

// Every path from the input to a value leads through its parent, and through the parent's parent.
struct OnnxValue {
  const OnnxNode* maker = nullptr;  // null: the input itself
  std::size_t output = 0;           // which of its outputs
  std::string parent;
  std::size_t depth = 0;
};

class OnnxGraphReader {
 public:
  explicit OnnxGraphReader(OnnxGraph graph) : graph_(std::move(graph)) {
    values_.emplace(graph_.input, OnnxValue{});
    for (const OnnxNode& node : graph_.nodes) note(node);
  }

  OnnxNetwork network() {
    if (!values_.contains(graph_.output))
      throw Error("its output \"{}\" does not follow from its input \"{}\"", graph_.output, graph_.input);
    if (graph_.input_shape.size() > 3)
      throw Error("its input has {} extents besides the rows; lists, sequences and images have up to 3",
                  graph_.input_shape.size());
    const auto& extents = graph_.input_shape;
    if (extents.size() == 1) network_.input = {extents[0]};
    if (extents.size() == 2) network_.input = {extents[0], extents[1]};
    if (extents.size() == 3) network_.input = {extents[0], extents[1], extents[2]};
    OnnxList list{.prefix = "", .shape = network_.input};
    add_chain(graph_.input, graph_.output, list);
    if (list.steps_first || list.directions != OnnxDirections::none)
      throw Error("its output \"{}\" has steps before rows; transpose it back", graph_.output);
    network_.layers = std::move(list.layers);
    return std::move(network_);
  }

 private:
  // Inputs that follow from the input of the graph.
  std::vector<std::string> data_of(const OnnxNode& node) const {
    std::vector<std::string> data;
    if (node.type == "Shape") return data;  // a shape is none of the numbers
    for (const std::string& name : node.inputs)
      if (!name.empty() && values_.contains(name)) data.push_back(name);
    return data;
  }
  std::string common_parent(std::string a, std::string b) const {
    while (a != b) {
      const OnnxValue &of_a = values_.at(a), &of_b = values_.at(b);
      if (of_a.depth >= of_b.depth) a = of_a.parent;
      else b = of_b.parent;
    }
    return a;
  }
  void note(const OnnxNode& node) {
    const std::vector<std::string> data = data_of(node);
    if (data.empty()) return fold_constants(graph_, node);
    std::string parent = data.front();
    for (const std::string& name : data) parent = common_parent(parent, name);
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      values_.emplace(node.outputs[k], OnnxValue{&node, k, parent, values_.at(parent).depth + 1});
  }

  void add_chain(const std::string& from, const std::string& to, OnnxList& list) {
    std::vector<const OnnxValue*> steps;
    for (const std::string* at = &to; *at != from; at = &steps.back()->parent) steps.push_back(&values_.at(*at));
    std::ranges::reverse(steps);
    for (const OnnxValue* value : steps) {
      const OnnxNode& node = *value->maker;
      OnnxStep step(node, value->output, graph_, list, network_);
      if (!used_.insert(&node).second)
        step.refuse(
            "is used in several places that do not meet again in one sum or Concat, which no list of layers says");
      if (!node.domain.empty() && node.domain != "ai.onnx")
        step.refuse("is of the domain \"{}\"; operators of ONNX itself are read", node.domain);
      const std::size_t rank = data_of(node).size();
      if (rank == 1) add_operator(step);
      else if (node.type == "Add" && node.inputs.size() == 2) add_sum(step, value->parent);
      else if (node.type == "Concat" && rank == node.inputs.size()) add_concatenation(step, value->parent);
      else step.refuse("has {} inputs that depend on the data; only Add and Concat may have several", rank);
    }
  }

  static void add_operator(OnnxStep& step) {
    std::string known;
    for (const OnnxOperator& row : onnx_operators()) {
      if (row.type == step.node.type) return row.add(step);
      known += (known.empty() ? "" : ", ") + std::string(row.type);
    }
    step.refuse("is none that a layer does; known: {}", known);
  }

  // The layers of one branch, whose weights are named after the place where the branches will stand.
  OnnxList branch(const OnnxStep& step, const std::string& from, const std::string& to, std::string_view name) {
    constexpr std::size_t most_nested = 32;
    if (++nested_ > most_nested) step.refuse("lies in more than {} branches inside others", most_nested);
    OnnxList list{.prefix = fmt::format("{}{}.{}.", step.list.prefix, step.list.layers.size(), name),
                  .shape = step.list.shape,
                  .steps_first = step.list.steps_first};
    add_chain(from, to, list);
    --nested_;
    if (list.steps_first != step.list.steps_first || list.directions != OnnxDirections::none)
      step.refuse("joins sequences of different layouts; transpose all or none");
    return list;
  }

  void add_sum(OnnxStep& step, const std::string& from) {
    std::vector<std::string> ends = step.node.inputs;
    if (ends[0] == from) std::swap(ends[0], ends[1]);  // the shortcut may be the inputs themselves
    const Value layers = branch(step, from, ends[0], "layers").layers;
    const Value shortcut = branch(step, from, ends[1], "shortcut").layers;
    step.add_layer(Value::Group{{"residual", layers}, {"shortcut", shortcut}});
  }

  void add_concatenation(OnnxStep& step, const std::string& from) {
    Value::List branches;
    Shape shape;
    for (const std::string& end : step.node.inputs) {
      OnnxList list = branch(step, from, end, std::to_string(branches.size()));
      shape = list.shape;
      branches.emplace_back(std::move(list.layers));
    }
    if (const double axis = step.number("axis", 0); !is_axis_of_channels(axis, shape))
      step.refuse("joins along axis {}; channels of images and numbers of lists and steps can be joined", axis);
    step.add_layer(Value::Group{{"concatenate", std::move(branches)}});
  }

  OnnxGraph graph_;
  OnnxNetwork network_;
  std::map<std::string, OnnxValue> values_;
  std::set<const OnnxNode*> used_;
  std::size_t nested_ = 0;
};

}  // namespace

OnnxNetwork parse_onnx(std::string_view bytes, const std::string& file) {
  OnnxGraph graph;
  try {
    graph = parse_onnx_graph(bytes);
  } catch (const Error& e) {
    throw Error("{}: not a network in ONNX that can be read ({})", file, e.what());
  }
  if (graph.opset < oldest_opset || graph.opset > newest_opset)
    throw Error("{}: its operators are those of opset {}; save it with an opset from {} to {}", file, graph.opset,
                oldest_opset, newest_opset);
  try {
    return OnnxGraphReader(std::move(graph)).network();
  } catch (const Error& e) {
    throw Error("{}: {}", file, e.what());
  }
}

OnnxNetwork read_onnx(const std::string& file) { return parse_onnx(read_bytes(file), file); }

Value with_layers_of_onnx(Value run_file) {
  auto* group = std::get_if<Value::Group>(&run_file.is);
  const auto at = group ? group->find("model") : Value::Group::iterator();
  auto* model = group && at != group->end() ? std::get_if<Value::Group>(&at->second.is) : nullptr;
  if (!model) return run_file;
  const auto onnx = model->find("onnx");
  if (onnx == model->end() || !onnx->second.text()) return run_file;
  if (model->contains("layers"))
    throw Error("{}: model.onnx and model.layers exclude each other; keep one", onnx->second.where);
  const auto file = onnx->second.as<std::string>();
  if (!file.empty()) (*model)["layers"] = placed(read_onnx(file).layers, onnx->second.where);
  return run_file;
}

}  // namespace kelvin
