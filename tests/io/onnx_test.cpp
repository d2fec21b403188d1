// SPDX-License-Identifier: Apache-2.0
// Networks in ONNX (tests/onnx_networks.py) as lists of ours, and files that are none.
#include "kelvin/io/onnx.h"

#include <cmath>

#include "kelvin/function/image_order.h"
#include "kelvin/function/network.h"
#include "kelvin/io/json.h"
#include "kelvin/io/npy.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string onnx_files = KELVIN_SOURCE_DIR "/tests/reference/onnx/";

template <class Real>
std::vector<Real> outputs_of_onnx(const OnnxNetwork& given, const Array& x) {
  ModelSettings settings;
  settings.layers = LayerList(given.layers);
  const auto network = make_network<Real>(settings, given.input);
  std::vector<Real> w(parameter_count(network->blocks()));
  for (const Block& block : network->blocks()) {
    const Array& array = given.weights.at(block.torch.front().front());
    EXPECT_EQ(array.values.size(), block.size()) << block.name;
    std::copy(array.values.begin(), array.values.end(), w.begin() + long(block.offset));
  }
  const std::size_t rows = x.shape[0];
  const std::vector<Real> first(x.values.begin(), x.values.end());
  std::vector<Real> inputs = first;
  if (given.input.rank() == 3) channels_last(planes_of(given.input), rows, first.data(), inputs.data());
  const auto offsets = offsets_of(network->blocks(), network->blocks());
  const auto y = network->forward({w.data(), offsets.data()}, {inputs.data(), given.input.size(), 0, rows, {}}, {});
  return {y.begin(), y.end()};
}

// References are in float, and sums have some hundred terms of order 1.
template <class Real>
void expect_outputs(const OnnxNetwork& network, const Array& x, const Array& y) {
  const auto ours = outputs_of_onnx<Real>(network, x);
  ASSERT_EQ(ours.size(), y.values.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    ASSERT_NEAR(double(ours[i]), y.values[i], 1e-5 * (1 + std::abs(y.values[i]))) << i;
}

TEST(Onnx, NetworksGiveTheOutputsTheyWereSavedWith) {
  const auto rows = read_npz(onnx_files + "rows.npz");
  for (const std::string name : {"sizes", "images", "lstm", "gru", "operators", "steps"}) {
    SCOPED_TRACE(name);
    const OnnxNetwork network = read_onnx(onnx_files + name + ".onnx");
    expect_outputs<float>(network, rows.at(name + ".x"), rows.at(name + ".y"));
    expect_outputs<double>(network, rows.at(name + ".x"), rows.at(name + ".y"));
  }
}

TEST(Onnx, BranchesBecomeListsInsideOthers) {
  const Value::List layers = read_onnx(onnx_files + "images.onnx").layers;
  EXPECT_EQ(to_json(layers.at(3)),
            "{\"residual\":[\"conv 3x3 4 stride 1x1 padding 1x1 dilation 1x1 groups 1 bias 1\",\"relu\",{\"residual\":["
            "\"conv 1x1 4 stride 1x1 padding 0x0 dilation 1x1 groups 1 bias 1\"],\"shortcut\":[]}],\"shortcut\":[]}");
  EXPECT_EQ(layers.at(5).at("concatenate").size(), 3u);
  EXPECT_EQ(layers.at(5).at("concatenate").list().at(2).size(), 0u);
}

// ---- files made by hand, as the wire format has them

std::string varint(std::uint64_t x) {
  std::string out;
  for (; x >= 128; x >>= 7) out += char(x % 128 + 128);
  return out + char(x);
}
std::string whole(unsigned field, std::uint64_t x) { return varint(field * 8) + varint(x); }
std::string part(unsigned field, const std::string& bytes) {
  return varint(field * 8 + 2) + varint(bytes.size()) + bytes;
}

std::string node(const std::string& type, const std::vector<std::string>& in, const std::string& out,
                 const std::string& more = "") {
  std::string bytes;
  for (const std::string& name : in) bytes += part(1, name);
  return part(1, bytes + part(2, out) + part(3, "the " + type) + part(4, type) + more);
}
std::string attribute(const std::string& name, std::uint64_t i) {
  return part(5, part(1, name) + whole(3, i) + whole(20, 2));
}
std::string tensor(const std::string& name, const std::vector<std::uint64_t>& shape, std::size_t numbers,
                   std::uint64_t type = 1) {
  std::string bytes;
  for (const std::uint64_t extent : shape) bytes += whole(1, extent);
  return part(5, bytes + whole(2, type) + part(8, name) + part(9, std::string(4 * numbers, '\0')));
}
// Extents of 0 are open.
std::string value(unsigned field, const std::string& name, const std::vector<std::uint64_t>& shape) {
  std::string dims;
  for (const std::uint64_t extent : shape) dims += part(1, extent > 0 ? whole(1, extent) : part(2, "n"));
  return part(field, part(1, name) + part(2, part(1, whole(1, 1) + part(2, dims))));
}
std::string file_of(const std::string& graph, std::uint64_t opset = 17,
                    const std::vector<std::uint64_t>& input = {0, 3}) {
  return whole(1, 8) + part(7, graph + value(11, "x", input) + value(12, "y", {0, 2})) +
         part(8, part(1, "") + whole(2, opset));
}

TEST(Onnx, TheInputsThemselvesAreTheShortcut) {
  const std::string relu = node("Relu", {"x"}, "a");
  for (const std::vector<std::string>& terms : {std::vector<std::string>{"x", "a"}, {"a", "x"}})
    EXPECT_EQ(to_json(parse_onnx(file_of(relu + node("Add", terms, "y")), "f").layers),
              "[{\"residual\":[\"relu\"],\"shortcut\":[]}]");
}

TEST(Onnx, MistakesGetOneSentenceThatNamesTheNode) {
  const std::string w = tensor("w", {3, 2}, 6);
  const std::string product = w + node("MatMul", {"x", "w"}, "y");
  EXPECT_EQ(parse_onnx(file_of(product), "f").layers.size(), 1u);
  struct Mistake {
    std::string bytes, sentence;
  };
  const std::string turned =
      node("Transpose", {"x"}, "t", part(5, part(1, "perm") + whole(8, 1) + whole(8, 0) + whole(8, 2)));
  const std::string skip = node("Relu", {"x"}, "a") + node("Tanh", {"a"}, "b") + node("Relu", {"b"}, "c");
  for (const Mistake& mistake : std::initializer_list<Mistake>{
           {"", "f: not a network in ONNX that can be read (it holds no graph)"},
           {"PK\x03\x04 is another format", "f: not a network in ONNX that can be read"},
           {file_of(product, 8), "f: its operators are those of opset 8; save it with an opset from 9 to 26"},
           {file_of(product, 99), "opset 99"},
           {file_of(product, 17, {0, 0}), "its input \"x\" leaves extent 1 open; save it with all extents fixed"},
           {file_of(product, 17, {}), "its input \"x\" does not tell its shape"},
           {file_of(product + value(11, "z", {1, 2})), "it has 2 inputs and 1 outputs"},
           {file_of(w + node("Fold", {"x", "w"}, "y")),
            "f: node \"the Fold\" (Fold) is none that a layer does; known: Conv, ConvTranspose, "},
           {file_of(w + node("Relu", {"x"}, "y", part(7, "com.example"))), "is of the domain \"com.example\""},
           {file_of(w + node("MatMul", {"z", "w"}, "y")), "its output \"y\" does not follow from its input \"x\""},
           {file_of(node("Relu", {"x"}, "a") + node("Mul", {"a", "x"}, "y")),
            "node \"the Mul\" (Mul) has 2 inputs that depend on the data; only Add and Concat may have several"},
           {file_of(skip + node("Add", {"c", "a"}, "d") + node("Add", {"d", "b"}, "y")),
            "is used in several places that do not meet again in one sum or Concat"},
           {file_of(node("Gemm", {"x", "w"}, "y", attribute("transA", 1)) + w), "node \"the Gemm\" (Gemm) transposes"},
           {file_of(node("LeakyRelu", {"x"}, "y", part(5, part(1, "alpha") + varint(2 * 8 + 5) + "\x0a\xd7\x23\x3d"))),
            "has alpha 0.04; that of \"leaky_relu\" is 0.01"},
           {file_of(tensor("w", {3, 2}, 5) + node("MatMul", {"x", "w"}, "y")), "takes 24 bytes but the file has 20"},
           {file_of(tensor("w", {std::uint64_t(1) << 40, std::uint64_t(1) << 40}, 6)), "too large to be true"},
           {file_of(tensor("w", {3, 4}, 6, 10)), "numbers of type 10; float, double, int32 and int64 are read"},
           {file_of(node("Conv", {"x", "w"}, "y") + w), "has a weight of 2 extents; those of images have 4"},
           {file_of(node("Flatten", {"x"}, "y", attribute("axis", 2))), "has axis 2; 1 is read"},
           {file_of(turned + node("Relu", {"t"}, "y"), 17, {0, 4, 3}), "its output \"y\" has steps before rows"},
           {file_of(turned + node("ReduceMean", {"t"}, "y", part(5, part(1, "axes") + whole(8, 1))), 17, {0, 4, 3}),
            "is the mean over axes (1)"},
           {file_of(node("MaxPool", {"x"}, "y")), "is not one of images"},
       }) {
    const std::string error = error_of([&] { parse_onnx(mistake.bytes, "f"); });
    EXPECT_THAT(error, HasSubstr(mistake.sentence));
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(Onnx, CutAtEveryLengthIsAnErrorOrAShorterNetwork) {
  const std::string good = bytes_of(onnx_files + "images.onnx");
  std::size_t errors = 0;
  for (std::size_t n = 0; n < good.size(); ++n) {
    const std::string error = error_of([&] { parse_onnx(good.substr(0, n), "f.onnx"); });
    if (error.empty()) continue;
    EXPECT_THAT(error, testing::StartsWith("f.onnx: ")) << n;
    ++errors;
  }
  EXPECT_GT(errors, good.size() - 20) << "the file ends with its versions, without which there is no opset";
}

TEST(Onnx, ARunFileIsGivenTheLayers) {
  const std::string file = onnx_files + "sizes.onnx";
  const Value given = Value::Group{{"model", Value::Group{{"onnx", file}}}};
  const Value layers = with_layers_of_onnx(given).at("model").at("layers");
  EXPECT_EQ(to_json(layers), "[\"dense 7 bias 1\",\"tanh\",\"dense 3 bias 1\"]");
  const Value both = Value::Group{{"model", Value::Group{{"onnx", file}, {"layers", Value::List{2, 1}}}}};
  EXPECT_THAT(error_of([&] { with_layers_of_onnx(both); }), HasSubstr("exclude each other"));
}

}  // namespace
}  // namespace kelvin
