// SPDX-License-Identifier: Apache-2.0
// What an ONNX file says, before it is a network of ours: nodes, attributes and tensors. Fields are those of
// onnx.proto.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kelvin/data/array.h"

namespace kelvin {

struct OnnxAttribute {
  std::optional<double> number;  // f, or i
  std::string text;
  std::vector<double> numbers;  // floats, or ints
  std::optional<Array> tensor;
};

struct OnnxNode {
  std::string name, type, domain;  // type: "Conv"
  std::vector<std::string> inputs, outputs;
  std::map<std::string, OnnxAttribute> attributes;
};

struct OnnxGraph {
  std::int64_t opset = 0;
  std::vector<OnnxNode> nodes;  // each after those that make its inputs
  // Weights, and what follows from them and from the number of rows; a node may hand one on.
  std::map<std::string, std::shared_ptr<const Array>> constants;
  std::set<std::string> shapes;  // outputs of nodes named Shape
  std::string input, output;
  std::vector<std::size_t> input_shape;  // without the rows, whose number is left open
};

// An Error says why the bytes are no such file.
OnnxGraph parse_onnx_graph(std::string_view bytes);

// Adds what a node makes of constants and of the number of rows, if it does not depend on the data
// (onnx_constants.cpp).
void fold_constants(OnnxGraph&, const OnnxNode&);

}  // namespace kelvin
