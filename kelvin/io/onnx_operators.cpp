// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/onnx_operators.h"

#include <algorithm>
#include <cmath>

#include "kelvin/function/layers.h"

namespace kelvin {
namespace {

// ---- convolutions and pools

std::string pair_text(std::span<const double> two) { return fmt::format("{:.0f}x{:.0f}", two[0], two[1]); }

// Windows as our layers write them: "3x3".
struct OnnxWindow {
  std::string size, stride, padding, dilation;
  bool padded;
};

OnnxWindow window_of(const OnnxStep& s, const std::vector<double>& kernel) {
  const auto size = s.numbers("kernel_shape", kernel), stride = s.numbers("strides", {1, 1});
  const auto dilation = s.numbers("dilations", {1, 1}), pads = s.numbers("pads", {0, 0, 0, 0});
  if (const std::string automatic = s.text("auto_pad"); automatic.starts_with("SAME"))
    s.refuse("has auto_pad {}; save it with numbers as its pads", automatic);
  if (size.size() != 2 || stride.size() != 2 || dilation.size() != 2 || pads.size() != 4)
    s.refuse("is not one of images with a height and a width");
  if (pads[0] != pads[2] || pads[1] != pads[3])
    s.refuse("has pads of {:g} and {:g}, {:g} and {:g} at opposite sides; they must be equal", pads[0], pads[2],
             pads[1], pads[3]);
  if (s.number("ceil_mode", 0) != 0) s.refuse("rounds the size of its outputs up; save it with ceil_mode 0");
  return {pair_text(size), pair_text(stride), pair_text(pads), pair_text(dilation), pads[0] + pads[1] > 0};
}

// Weight and bias of a convolution, whose `outputs` follow from its weight.
void add_convolution(OnnxStep& s, std::string_view layer, std::size_t outputs, const std::string& more) {
  const Array& weight = s.weight(1);
  const Array* bias = s.constant(2);
  const OnnxWindow window = window_of(s, {double(weight.shape[2]), double(weight.shape[3])});
  s.add("{} {} {} stride {} padding {} dilation {} groups {:.0f} bias {}{}", layer, window.size, outputs, window.stride,
        window.padding, window.dilation, s.number("group", 1), bias ? 1 : 0, more);
  s.put("weight", weight);
  if (bias) s.put("bias", *bias);
}

void check_kernel(const OnnxStep& s) {
  if (const std::size_t rank = s.weight(1).shape.size(); rank != 4)
    s.refuse("has a weight of {} extents; those of images have 4", rank);
}

void add_conv(OnnxStep& s) {
  check_kernel(s);
  add_convolution(s, "conv", s.weight(1).shape[0], "");
}

void add_transposed_conv(OnnxStep& s) {
  check_kernel(s);
  if (!s.numbers("output_shape", {}).empty()) s.refuse("gives the shape of its outputs; save it with output_padding");
  const auto more = s.numbers("output_padding", {0, 0});
  if (more.size() != 2) s.refuse("is not one of images with a height and a width");
  const double groups = s.number("group", 1);
  if (!(groups >= 1 && groups <= 65536)) s.refuse("has {:g} groups", groups);
  add_convolution(s, "transposed_conv", s.weight(1).shape[1] * std::size_t(groups),
                  " output_padding " + pair_text(more));
}

void add_max_pool(OnnxStep& s) {
  const OnnxWindow window = window_of(s, {});
  if (window.dilation != "1x1") s.refuse("has dilations {}; windows without gaps are read", window.dilation);
  s.add("max_pool {} stride {} padding {}", window.size, window.stride, window.padding);
}

void add_average_pool(OnnxStep& s) {
  const OnnxWindow window = window_of(s, {});
  if (window.padded && s.number("count_include_pad", 0) == 0)
    s.refuse("leaves its padding out of the mean; ours counts it as zeros: save it with count_include_pad 1");
  if (window.dilation != "1x1") s.refuse("has dilations {}; windows without gaps are read", window.dilation);
  s.add("average_pool {} stride {} padding {}", window.size, window.stride, window.padding);
}

void add_global_pool(OnnxStep& s) { s.add("global_pool"); }

void add_mean(OnnxStep& s) {
  std::vector<double> axes = s.numbers("axes", {});
  if (const Array* given = s.constant(1)) axes = given->values;
  const double rank = double(s.list.shape.rank()) + 1;  // with the rows
  for (double& axis : axes)
    if (axis < 0) axis += rank;
  std::ranges::sort(axes);
  if (rank == 4 && axes == std::vector<double>{2, 3}) return s.add("global_pool");
  if (rank == 3 && axes == std::vector<double>{1} && !s.list.steps_first) return s.add("mean_over_steps");
  s.refuse("is the mean over axes ({}); means over all pixels, or over all steps, are read", fmt::join(axes, ", "));
}

// ---- fully connected layers

Array transposed(const Array& given) {
  const std::size_t rows = given.shape[0], columns = given.shape[1];
  Array out{{columns, rows}, std::vector<double>(given.values.size())};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) out.values[j * rows + i] = given.values[i * columns + j];
  return out;
}

void multiply_by(Array& array, double factor) {
  if (factor != 1)
    for (double& x : array.values) x *= factor;
}

Array matrix(const OnnxStep& s) {
  const Array& weight = s.weight(1);
  if (weight.shape.size() != 2)
    s.refuse("multiplies by an array of {} extents; matrices are read", weight.shape.size());
  return weight;
}

void add_gemm(OnnxStep& s) {
  if (s.number("transA", 0) != 0) s.refuse("transposes its inputs");
  Array weight = s.number("transB", 0) != 0 ? matrix(s) : transposed(matrix(s));
  const std::size_t units = weight.shape[0];
  const bool biased = s.node.inputs.size() > 2;
  s.add("dense {} bias {}", units, biased ? 1 : 0);
  multiply_by(weight, s.number("alpha", 1));
  s.put("weight", std::move(weight));
  if (!biased) return;
  Array bias{{units}, s.weight(2).values};
  if (bias.values.size() != units) s.refuse("adds {} numbers to {} outputs", bias.values.size(), units);
  multiply_by(bias, s.number("beta", 1));
  s.put("bias", std::move(bias));
}

void add_product(OnnxStep& s) {
  Array weight = transposed(matrix(s));
  const std::size_t units = weight.shape[0];
  s.add("dense {} bias 0", units);
  s.put("weight", std::move(weight));
  s.list.unbiased = units;
}

// A constant: the bias of a product before it, or numbers for each step.
void add_constant(OnnxStep& s) {
  const Array* given = s.constant(0) ? s.constant(0) : s.constant(1);
  if (!given) s.refuse("adds what is neither a constant nor follows from the inputs");
  const std::size_t units = s.list.unbiased, count = given->values.size();
  if (units > 0 && count == units && (given->shape.empty() || given->shape.back() == units)) {
    s.list.layers.back() = Value(fmt::format("dense {}", units));
    s.list.unbiased = 0;
    return s.put("bias", {{units}, given->values});
  }
  if (s.list.shape.rank() != 2 || count != s.list.shape.size() || s.list.steps_first)
    s.refuse(
        "adds a constant of {} numbers to {}; a bias behind a MatMul, or a number for each of a sequence, are read",
        count, s.list.shape.text());
  s.add("positional");
  s.put("weight", {s.list.shape.list(), given->values});
}

// ---- norms and activations

void add_batch_norm(OnnxStep& s) {
  if (s.number("training_mode", 0) != 0) s.refuse("is in training; save it for inference");
  s.add("batch_norm floor {}", float(s.number("epsilon", 1e-5)));
  s.put("weight", s.weight(1));
  s.put("bias", s.weight(2));
  s.put("running_mean", s.weight(3));
  s.put("running_var", s.weight(4));
}

void add_layer_norm(OnnxStep& s) {
  const double axis = s.number("axis", -1);
  if (s.list.shape.rank() > 2 || (axis != -1 && axis != double(s.list.shape.rank())))
    s.refuse("normalises {} from axis {:g} on; the last axis of lists and sequences is read", s.list.shape.text(),
             axis);
  const Array& gain = s.weight(1);
  s.add("layer_norm {}", float(s.number("epsilon", 1e-5)));
  s.put("weight", gain);
  s.put("bias", s.node.inputs.size() > 2 ? s.weight(2) : Array{gain.shape, std::vector<double>(gain.values.size())});
}

struct OnnxActivation {
  std::string_view name, ours;
  double alpha;  // that ours has
  double standard = 0;
};
constexpr OnnxActivation onnx_activations[] = {
    {"Relu", "relu", 0},         {"LeakyRelu", "leaky_relu", 0.01, 0.01},
    {"Elu", "elu", 1, 1},        {"Tanh", "tanh", 0},
    {"Sigmoid", "sigmoid", 0},   {"Softplus", "softplus", 0},
    {"Softsign", "softsign", 0}, {"Gelu", "gelu", 0},
};

void add_activation(OnnxStep& s) {
  const auto& row = row_named<OnnxActivation>(s.node.type, onnx_activations, "activation");
  if (const double alpha = s.number("alpha", row.standard); float(alpha) != float(row.alpha))
    s.refuse("has alpha {:g}; that of \"{}\" is {:g}", alpha, row.ours, row.alpha);
  if (const std::string how = s.text("approximate"); how == "tanh")
    s.refuse("is approximated by a tanh; save it exact");
  s.add("{}", row.ours);
}

void add_clip(OnnxStep& s) {
  const Array *lower = s.constant(1), *upper = s.constant(2);
  const double from = lower && lower->values.size() == 1 ? lower->values[0] : s.number("min", NAN);
  const double to = upper && upper->values.size() == 1 ? upper->values[0] : s.number("max", NAN);
  if (from != 0 || to != 6) s.refuse("cuts off at {:g} and {:g}; 0 and 6 are read", from, to);
  s.add("relu6");
}

// ---- shapes

void pass_on(OnnxStep&) {}

void flatten(OnnxStep& s) {
  if (s.list.steps_first) s.refuse("flattens a sequence whose steps come before its rows");
  if (s.list.shape.rank() > 1) s.add("flatten");
}

void add_flatten(OnnxStep& s) {
  if (const double axis = s.number("axis", 1); axis != 1) s.refuse("has axis {:g}; 1 is read", axis);
  flatten(s);
}

// Of extents of 1 only: behind a pool, or the directions of a recurrent operator.
void add_squeeze(OnnxStep& s) {
  if (s.list.directions != OnnxDirections::none) s.list.directions = OnnxDirections::none;
  else if (s.list.shape.rank() > 1) s.refuse("takes an extent of 1 from {}, which has none", s.list.shape.text());
}

void add_reshape(OnnxStep& s) {
  const std::vector<double>& to = s.weight(1).values;
  const double count = double(s.list.shape.size());
  if (s.list.directions == OnnxDirections::behind_rows && to.size() == 3 &&
      (to[2] == -1 || to[2] == double(s.list.shape[1])))
    return add_squeeze(s);
  if (to.size() == 2 && (to[1] == count || (to[1] == -1 && to[0] != -1))) return flatten(s);
  if (to.size() != 4 || s.list.shape.rank() != 1 ||
      std::ranges::any_of(to.begin() + 1, to.end(), [](double n) { return n < 1; }))
    s.refuse("makes {} to ({}); a list of all numbers, or an image of a list, are read", s.list.shape.text(),
             fmt::join(to, ", "));
  s.add("reshape {:.0f} {:.0f}x{:.0f}", to[1], to[2], to[3]);
}

void add_transpose(OnnxStep& s) {
  using Order = std::vector<double>;
  const Order order = s.numbers("perm", {});
  if (s.list.directions == OnnxDirections::before_rows && order == Order{0, 2, 1, 3}) {
    s.list.directions = OnnxDirections::behind_rows;
    return;
  }
  if (s.list.shape.rank() != 2 || s.list.directions != OnnxDirections::none || order != Order{1, 0, 2})
    s.refuse("turns {} in the order ({}); rows and steps of a sequence can be exchanged", s.list.shape.text(),
             fmt::join(order, ", "));
  s.list.steps_first = !s.list.steps_first;
}

// A row of a table for each word, or one step of a sequence.
void add_gather(OnnxStep& s) {
  const double axis = s.number("axis", 0);
  if (s.constant(0)) {
    const Array& table = s.weight(0);
    if (table.shape.size() != 2 || axis != 0) s.refuse("looks up an array of {} extents", table.shape.size());
    s.add("embedding {} {}", table.shape[0], table.shape[1]);
    return s.put("weight", table);
  }
  const Array& index = s.weight(1);
  const bool of_steps =
      s.list.shape.rank() == 2 && s.list.directions == OnnxDirections::none && axis == (s.list.steps_first ? 0 : 1);
  if (!of_steps || index.values.size() != 1 || (index.values[0] != -1 && index.values[0] != 0))
    s.refuse("takes a part of {}; the first or the last step of a sequence can be taken", s.list.shape.text());
  s.list.steps_first = false;
  if (index.values[0] == 0) s.add("first_step");
  else s.add("last_step");
}

// ---- recurrent layers

// The gates of ONNX in the order of ours.
struct OnnxCell {
  std::string_view name, ours;
  std::vector<std::size_t> order;
};
const OnnxCell onnx_cells[] = {{"RNN", "rnn", {0}}, {"GRU", "gru", {1, 0, 2}}, {"LSTM", "lstm", {0, 2, 3, 1}}};

// Some rows for each gate, from `first` on.
Array gates_in_order(const OnnxCell& cell, const Array& given, std::size_t first, std::size_t units,
                     std::size_t columns) {
  Array out{{cell.order.size() * units, columns}, {}};
  for (const std::size_t gate : cell.order) {
    const auto from = given.values.begin() + long((first + gate) * units * columns);
    out.values.insert(out.values.end(), from, from + long(units * columns));
  }
  if (columns == 1) out.shape.pop_back();
  return out;
}

void add_recurrent(OnnxStep& s) {
  const OnnxCell& cell = row_named<OnnxCell>(s.node.type, onnx_cells, "operator");
  const std::size_t gates = cell.order.size();
  const Array &weight = s.weight(1), &recurrence = s.weight(2), *bias = s.constant(3);
  if (weight.shape.size() != 3 || recurrence.shape.size() != 3 || weight.shape[0] != 1 || recurrence.shape[0] != 1)
    s.refuse("runs in both directions; one that runs forwards is read");
  const std::size_t units = recurrence.shape[2], in = weight.shape[2];
  if (weight.shape[1] != gates * units || recurrence.shape[1] != gates * units ||
      (bias && bias->values.size() != 2 * gates * units))
    s.refuse("has weights whose shapes do not go with {} units", units);
  if (const std::string way = s.text("direction"); !way.empty() && way != "forward") s.refuse("runs {}", way);
  if (!s.numbers("activations", {}).empty() || s.number("clip", 0) != 0 || s.number("input_forget", 0) != 0)
    s.refuse("has activations, a clip or gates of its own");
  if (cell.name == "GRU" && s.number("linear_before_reset", 0) == 0)
    s.refuse("resets before it multiplies; save it with linear_before_reset 1");
  if (!s.list.steps_first || s.number("layout", 0) != 0)
    s.refuse("must be given steps before rows (layout 0, behind a Transpose)");
  for (std::size_t k = 4; k < s.node.inputs.size(); ++k) {
    if (s.node.inputs[k].empty()) continue;
    const Array* start = s.constant(k);
    if (!start || std::ranges::any_of(start->values, [](double x) { return x != 0; }))
      s.refuse("is given lengths or states to start from (\"{}\"); it must start from zeros", s.node.inputs[k]);
  }
  if (s.output > 1) s.refuse("hands on the state of its cells; its outputs are read");
  s.add("{} {} output {}", cell.ours, units, s.output == 0 ? "all" : "last");
  s.list.directions = s.output == 0 ? OnnxDirections::before_rows : OnnxDirections::none;
  s.list.steps_first = s.output == 0;
  s.put("weight_ih_l0", gates_in_order(cell, weight, 0, units, in));
  s.put("weight_hh_l0", gates_in_order(cell, recurrence, 0, units, units));
  const Array none{{2 * gates * units}, std::vector<double>(2 * gates * units)};
  s.put("bias_ih_l0", gates_in_order(cell, bias ? *bias : none, 0, units, 1));
  s.put("bias_hh_l0", gates_in_order(cell, bias ? *bias : none, gates, units, 1));
}

constexpr OnnxOperator all_onnx_operators[] = {
    {"Conv", add_conv},
    {"ConvTranspose", add_transposed_conv},
    {"MaxPool", add_max_pool},
    {"AveragePool", add_average_pool},
    {"GlobalAveragePool", add_global_pool},
    {"ReduceMean", add_mean},
    {"Gemm", add_gemm},
    {"MatMul", add_product},
    {"Add", add_constant},
    {"BatchNormalization", add_batch_norm},
    {"LayerNormalization", add_layer_norm},
    {"Relu", add_activation},
    {"LeakyRelu", add_activation},
    {"Elu", add_activation},
    {"Tanh", add_activation},
    {"Sigmoid", add_activation},
    {"Softplus", add_activation},
    {"Softsign", add_activation},
    {"Gelu", add_activation},
    {"Clip", add_clip},
    {"Identity", pass_on},
    {"Dropout", pass_on},
    {"Cast", pass_on},
    {"Flatten", add_flatten},
    {"Reshape", add_reshape},
    {"Squeeze", add_squeeze},
    {"Transpose", add_transpose},
    {"Gather", add_gather},
    {"RNN", add_recurrent},
    {"GRU", add_recurrent},
    {"LSTM", add_recurrent},
};

}  // namespace

std::span<const OnnxOperator> onnx_operators() { return all_onnx_operators; }

bool is_axis_of_channels(double axis, const Shape& shape) {
  if (shape.rank() == 3) return axis == 1 || axis == -3;
  return axis == -1 || axis == double(shape.rank());
}

const Array* OnnxStep::constant(std::size_t input) const {
  if (input >= node.inputs.size()) return nullptr;
  const auto at = graph_.constants.find(node.inputs[input]);
  return at == graph_.constants.end() ? nullptr : at->second.get();
}

const Array& OnnxStep::weight(std::size_t input) const {
  if (const Array* known = constant(input)) {
    if (known->values.empty()) refuse("has no numbers in its input \"{}\"", node.inputs[input]);
    return *known;
  }
  if (input >= node.inputs.size()) refuse("has {} inputs; number {} is missing", node.inputs.size(), input);
  refuse("computes its input \"{}\"; save the network with constants folded", node.inputs[input]);
}

double OnnxStep::number(const std::string& attribute, double otherwise) const {
  const auto at = node.attributes.find(attribute);
  return at == node.attributes.end() ? otherwise : at->second.number.value_or(otherwise);
}

std::string OnnxStep::text(const std::string& attribute) const {
  const auto at = node.attributes.find(attribute);
  return at == node.attributes.end() ? "" : at->second.text;
}

std::vector<double> OnnxStep::numbers(const std::string& attribute, std::vector<double> otherwise) const {
  const auto at = node.attributes.find(attribute);
  return at == node.attributes.end() ? otherwise : at->second.numbers;
}

void OnnxStep::add_layer(Value layer) {
  try {
    list.shape = plan_layers(Value(Value::List{layer}), list.shape).front().output;
  } catch (const Error& e) {
    refuse("is no layer here: {}", e.what());
  }
  list.layers.push_back(std::move(layer));
  list.unbiased = 0;
}

void OnnxStep::put(const std::string& name, Array values) {
  network_.weights[fmt::format("{}{}.{}", list.prefix, list.layers.size() - 1, name)] = std::move(values);
}

}  // namespace kelvin
