// SPDX-License-Identifier: Apache-2.0
// A network in ONNX as a list of our layers. Branches that meet in a sum become { residual = ... }, those that meet in
// a Concat { concatenate = ... }.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "kelvin/core/value.h"
#include "kelvin/data/array.h"
#include "kelvin/data/shape.h"

namespace kelvin {

struct OnnxNetwork {
  Value::List layers;                    // as in model.layers
  Shape input;                           // of a row
  std::map<std::string, Array> weights;  // by the names that PyTorch would give to the blocks of such a list
};

OnnxNetwork parse_onnx(std::string_view bytes, const std::string& file);
OnnxNetwork read_onnx(const std::string& file);

// A run file whose model.onnx, if it has one, is given the layers of that network as model.layers.
Value with_layers_of_onnx(Value run_file);

}  // namespace kelvin
