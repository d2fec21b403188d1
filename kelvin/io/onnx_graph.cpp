// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/onnx_graph.h"

#include "kelvin/io/wire.h"

namespace kelvin {
namespace {

template <class Real>
void decode_raw(std::string_view raw, std::vector<double>& out) {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = double(number_at<Real>(raw, i * sizeof(Real), std::endian::little));
}

// Numbers of these types are weights, shapes or axes.
struct OnnxType {
  std::int64_t number;
  std::size_t width;
  void (*decode)(std::string_view, std::vector<double>&);
};
constexpr OnnxType onnx_types[] = {
    {1, 4, decode_raw<float>},
    {6, 4, decode_raw<std::int32_t>},
    {7, 8, decode_raw<std::int64_t>},
    {11, 8, decode_raw<double>},
};

struct OnnxTensor {
  std::string name;
  Array array;
};

OnnxTensor parse_tensor(WireMessage tensor) {
  enum {
    dims = 1,
    data_type,
    float_data = 4,
    int32_data,
    int64_data = 7,
    name,
    raw_data,
    double_data,
    data_location = 14
  };
  OnnxTensor out;
  std::int64_t type = 0;
  std::vector<std::int64_t> extents, integers;
  std::string_view raw;
  while (tensor.next()) switch (tensor.field()) {
      case dims:
        tensor.add_integers(extents);
        break;
      case data_type:
        type = tensor.integer();
        break;
      case float_data:
        tensor.add_numbers<float>(out.array.values);
        break;
      case int32_data:
      case int64_data:
        tensor.add_integers(integers);
        break;
      case name:
        out.name = tensor.bytes();
        break;
      case raw_data:
        raw = tensor.bytes();
        break;
      case double_data:
        tensor.add_numbers<double>(out.array.values);
        break;
      case data_location:
        if (tensor.integer() != 0)
          throw Error("tensor \"{}\" lies in another file; save the network with all weights in one", out.name);
        break;
      default:
        break;
    }
  for (const std::int64_t extent : extents) {
    if (extent < 0) throw Error("tensor \"{}\" has an extent of {}", out.name, extent);
    out.array.shape.push_back(std::size_t(extent));
  }
  const OnnxType* known = nullptr;
  for (const OnnxType& row : onnx_types)
    if (row.number == type) known = &row;
  if (!known)
    throw Error("tensor \"{}\" has numbers of type {}; float, double, int32 and int64 are read", out.name, type);
  if (!raw.empty()) {
    out.array.values.resize(checked_count(out.array.shape, known->width, raw.size(), out.name));
    known->decode(raw, out.array.values);
    return out;
  }
  if (out.array.values.empty()) out.array.values.assign(integers.begin(), integers.end());
  checked_count(out.array.shape, sizeof(double), out.array.values.size() * sizeof(double), out.name);
  return out;
}

std::pair<std::string, OnnxAttribute> parse_attribute(WireMessage attribute) {
  enum { name = 1, f, i, s, t, floats = 7, ints };
  std::pair<std::string, OnnxAttribute> out;
  std::vector<std::int64_t> integers;
  while (attribute.next()) switch (attribute.field()) {
      case name:
        out.first = attribute.bytes();
        break;
      case f:
        out.second.number = double(attribute.single());
        break;
      case i:
        out.second.number = double(attribute.integer());
        break;
      case s:
        out.second.text = attribute.bytes();
        break;
      case t:
        out.second.tensor = parse_tensor(attribute.message()).array;
        break;
      case floats:
        attribute.add_numbers<float>(out.second.numbers);
        break;
      case ints:
        attribute.add_integers(integers);
        break;
      default:
        break;
    }
  out.second.numbers.insert(out.second.numbers.end(), integers.begin(), integers.end());
  return out;
}

OnnxNode parse_node(WireMessage node) {
  enum { input = 1, output, name, op_type, attribute, domain = 7 };
  OnnxNode out;
  while (node.next()) switch (node.field()) {
      case input:
        out.inputs.emplace_back(node.bytes());
        break;
      case output:
        out.outputs.emplace_back(node.bytes());
        break;
      case name:
        out.name = node.bytes();
        break;
      case op_type:
        out.type = node.bytes();
        break;
      case attribute:
        out.attributes.insert(parse_attribute(node.message()));
        break;
      case domain:
        out.domain = node.bytes();
        break;
      default:
        break;
    }
  return out;
}

// Name and extents of an input or output; an extent that is not fixed is 0.
struct OnnxValueInfo {
  std::string name;
  std::vector<std::size_t> shape;
};

std::size_t parse_extent(WireMessage dim) {
  std::size_t extent = 0;
  while (dim.next())
    if (dim.field() == 1 && dim.integer() > 0) extent = std::size_t(dim.integer());
  return extent;
}

OnnxValueInfo parse_value_info(WireMessage info) {
  OnnxValueInfo out;
  // ValueInfoProto.type.tensor_type.shape.dim
  const auto each = [](WireMessage in, std::uint64_t field, auto&& visit) {
    while (in.next())
      if (in.field() == field) visit(in.message());
  };
  while (info.next()) {
    if (info.field() == 1) out.name = info.bytes();
    if (info.field() == 2)
      each(info.message(), 1, [&](WireMessage tensor) {
        each(tensor, 2, [&](WireMessage shape) {
          each(shape, 1, [&](WireMessage dim) { out.shape.push_back(parse_extent(dim)); });
        });
      });
  }
  return out;
}

// What a node Constant gives, if it is of a kind that is read.
std::optional<Array> constant_of(const OnnxNode& node) {
  for (const auto& [name, value] : node.attributes) {
    if (value.tensor) return value.tensor;
    if (value.number) return Array{{}, {*value.number}};
    if (name == "value_floats" || name == "value_ints") return Array{{value.numbers.size()}, value.numbers};
  }
  return {};
}

void parse_graph(WireMessage graph, OnnxGraph& out) {
  enum { node = 1, initializer = 5, input = 11, output = 12 };
  std::vector<OnnxValueInfo> inputs, outputs;
  while (graph.next()) switch (graph.field()) {
      case node:
        out.nodes.push_back(parse_node(graph.message()));
        break;
      case initializer: {
        OnnxTensor tensor = parse_tensor(graph.message());
        out.constants.emplace(std::move(tensor.name), std::make_shared<const Array>(std::move(tensor.array)));
        break;
      }
      case input:
        inputs.push_back(parse_value_info(graph.message()));
        break;
      case output:
        outputs.push_back(parse_value_info(graph.message()));
        break;
      default:
        break;
    }
  std::erase_if(inputs, [&](const OnnxValueInfo& info) { return out.constants.contains(info.name); });
  if (inputs.size() != 1 || outputs.size() != 1)
    throw Error("it has {} inputs and {} outputs; save a network with one of each", inputs.size(), outputs.size());
  const std::vector<std::size_t>& shape = inputs[0].shape;
  if (shape.size() < 2) throw Error("its input \"{}\" does not tell its shape; save it with one", inputs[0].name);
  for (std::size_t k = 1; k < shape.size(); ++k)
    if (shape[k] == 0)
      throw Error("its input \"{}\" leaves extent {} open; save it with all extents fixed but that of the rows",
                  inputs[0].name, k);
  out.input = inputs[0].name;
  out.input_shape.assign(shape.begin() + 1, shape.end());
  out.output = outputs[0].name;
  for (const OnnxNode& made : out.nodes)
    if (made.type == "Constant" && made.outputs.size() == 1)
      if (std::optional<Array> value = constant_of(made))
        out.constants.emplace(made.outputs[0], std::make_shared<const Array>(std::move(*value)));
}

}  // namespace

OnnxGraph parse_onnx_graph(std::string_view bytes) {
  enum { graph = 7, opset_import = 8 };
  OnnxGraph out;
  std::optional<WireMessage> body;
  WireMessage model(bytes);
  while (model.next()) {
    if (model.field() == graph) body = model.message();
    if (model.field() != opset_import) continue;
    std::string_view domain;
    std::int64_t version = 0;
    for (WireMessage set = model.message(); set.next();) {
      if (set.field() == 1) domain = set.bytes();
      if (set.field() == 2) version = set.integer();
    }
    if (domain.empty() || domain == "ai.onnx") out.opset = version;
  }
  if (!body) throw Error("it holds no graph");
  parse_graph(*body, out);
  return out;
}

}  // namespace kelvin
