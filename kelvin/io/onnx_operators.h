// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX as layers of ours: a row each in onnx_operators.cpp.
#pragma once
#include <fmt/format.h>

#include "kelvin/core/error.h"
#include "kelvin/io/onnx.h"
#include "kelvin/io/onnx_graph.h"

namespace kelvin {

// The extent of 1 that recurrent operators leave for their directions.
enum class OnnxDirections { none, before_rows, behind_rows };

// Layers that follow each other, and what comes out of the last of them.
struct OnnxList {
  std::string prefix;  // what the names of their weights begin with, before their place in the list
  Shape shape;
  Value::List layers = {};
  std::size_t unbiased = 0;  // units of the last layer, if it is a dense one that a bias may follow
  bool steps_first = false;  // steps x rows x numbers, which recurrent operators ask for
  OnnxDirections directions = OnnxDirections::none;
};

// A node that is to become a layer of a list.
class OnnxStep {
 public:
  OnnxStep(const OnnxNode& node, std::size_t output, const OnnxGraph& graph, OnnxList& list, OnnxNetwork& network)
      : node(node), output(output), list(list), graph_(graph), network_(network) {}

  const OnnxNode& node;
  const std::size_t output;  // which of its outputs is taken
  OnnxList& list;

  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<Values...> sentence, Values&&... values) const {
    throw Error("node \"{}\" ({}) {}", node.name.empty() ? node.outputs.at(0) : node.name, node.type,
                fmt::format(sentence, std::forward<Values>(values)...));
  }
  const Array* constant(std::size_t input) const;  // null: there is no such input, or it is computed
  const Array& weight(std::size_t input) const;    // an Error if there is none
  double number(const std::string& attribute, double otherwise) const;
  std::string text(const std::string& attribute) const;
  std::vector<double> numbers(const std::string& attribute, std::vector<double> otherwise) const;

  template <class... Values>
  void add(fmt::format_string<Values...> layer, Values&&... values) {
    add_layer(Value(fmt::format(layer, std::forward<Values>(values)...)));
  }
  void add_layer(Value);
  void put(const std::string& name, Array);  // a weight of the last layer

 private:
  const OnnxGraph& graph_;
  OnnxNetwork& network_;
};

struct OnnxOperator {
  std::string_view type;
  void (*add)(OnnxStep&);
};
std::span<const OnnxOperator> onnx_operators();

// Whether a Concat along that axis puts channels of such outputs next to each other.
bool is_axis_of_channels(double axis, const Shape&);

}  // namespace kelvin
