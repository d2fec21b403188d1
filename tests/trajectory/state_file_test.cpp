// SPDX-License-Identifier: Apache-2.0
// State dicts of PyTorch (tests/torch_weights.py) as networks of ours, and names of blocks.
#include "kelvin/trajectory/state_file.h"

#include <cmath>
#include <regex>

#include "kelvin/core/settings.h"
#include "kelvin/core/toml.h"
#include "kelvin/function/image_order.h"
#include "kelvin/function/network.h"
#include "kelvin/io/npy.h"
#include "kelvin/io/safetensors.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string weights = KELVIN_SOURCE_DIR "/tests/reference/weights/";

struct TorchModule {
  std::string name, model;
  Shape input;
};

std::vector<TorchModule> torch_modules() {
  return {
      {"sizes", "layers = [5, 7, 3]\nactivation = 'tanh'", {5}},
      {"plain",
       "layers = ['conv 3 4 padding 1', 'batch_norm', 'relu', 'max_pool 2', { residual = ['conv 3 5 stride 2 padding "
       "1', "
       "'batch_norm'], shortcut = ['conv 1 5 stride 2'] }, 'group_norm 5', 'flatten', 'dense 3']",
       {2, 8, 8}},
      {"resnet", "layers = ['resnet 10 3 width 2']", {3, 16, 16}},
      {"bottleneck", "layers = ['resnet 50 3 width 1']", {3, 16, 16}},
      {"vgg", "layers = ['vgg 11 3 width 2 hidden 5']", {1, 32, 32}},
      {"char_lstm", "layers = ['char_lstm 7 3 4 layers 2']", {5}},
      {"transformer", "layers = ['transformer 7 4 2 2 units 6']", {5}},
      {"bert", "layers = ['bert 9 6 2 3 8 positions 7']", {5}},
      {"vit", "layers = ['vit 2 4 2 2 3 units 6 activation gelu']", {2, 4, 4}},
  };
}

ModelSettings model_of(const std::string& text) {
  ModelSettings settings;
  read(settings, parse_toml(text, "test"), "model");
  return settings;
}

template <class Real>
std::vector<Real> outputs_from(const std::string& file, const TorchModule& module, const Array& x) {
  const auto network = make_network<Real>(model_of(module.model), module.input);
  std::vector<Real> w(parameter_count(network->blocks()));
  for (const Block& block : network->blocks()) {
    const auto values = block_in_file(file, block);
    std::copy(values.begin(), values.end(), w.begin() + long(block.offset));
  }
  const std::size_t rows = x.shape[0];
  const std::vector<Real> given(x.values.begin(), x.values.end());
  std::vector<Real> inputs = given;
  if (module.input.rank() == 3) channels_last(planes_of(module.input), rows, given.data(), inputs.data());
  const auto offsets = offsets_of(network->blocks(), network->blocks());
  const auto y = network->forward({w.data(), offsets.data()}, {inputs.data(), module.input.size(), 0, rows, {}}, {});
  return {y.begin(), y.end()};
}

// Sums of some hundred terms of order 1; a float has 24 bits.
template <class Real>
void expect_outputs_of_pytorch(const TorchModule& module, const std::map<std::string, Array>& rows) {
  const Array& y = rows.at(module.name + ".y");
  const auto ours = outputs_from<Real>(weights + module.name + ".safetensors", module, rows.at(module.name + ".x"));
  ASSERT_EQ(ours.size(), y.values.size());
  double largest = 1;
  for (const double value : y.values) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(double(ours[i]), y.values[i], 1e-5 * largest) << i;
}

TEST(StateDicts, OfPyTorchGiveTheOutputsOfPyTorch) {
  const auto rows = read_npz(weights + "rows.npz");
  for (const TorchModule& module : torch_modules()) {
    SCOPED_TRACE(module.name);
    expect_outputs_of_pytorch<float>(module, rows);
    expect_outputs_of_pytorch<double>(module, rows);
  }
}

// What load_state_dict asks for, and nothing else; it does without the counters of batch norm.
TEST(StateDicts, HaveExactlyTheNamesAndShapesOfOurBlocks) {
  for (const TorchModule& module : torch_modules()) {
    SCOPED_TRACE(module.name);
    std::map<std::string, std::vector<std::size_t>> theirs, ours;
    const std::string bytes = bytes_of(weights + module.name + ".safetensors");
    const std::uint64_t length = *reinterpret_cast<const std::uint64_t*>(bytes.data());
    std::set<std::string> names;
    const std::regex name("\"([^\"]*)\":\\{\"dtype\":\"F32\"");
    const std::string header = bytes.substr(8, length);
    for (std::sregex_iterator it(header.begin(), header.end(), name), end; it != end; ++it) names.insert((*it)[1]);
    for (const auto& [key, array] : read_safetensors(weights + module.name + ".safetensors", names))
      theirs[key] = array.shape;
    for (const Block& block : network_blocks(model_of(module.model), module.input))
      for (const TorchNames& pieces : block.torch)
        for (const std::string& piece : pieces) {
          ours[piece] = block.shape.list();
          ours[piece].front() /= pieces.size();
        }
    EXPECT_EQ(ours, theirs);
  }
}

std::vector<std::string> names_of(const std::string& model, const Shape& input) {
  std::vector<std::string> names;
  for (const Block& block : network_blocks(model_of(model), input))
    for (const TorchNames& pieces : block.torch)
      if (const std::string& first = pieces.front(); first.ends_with(".weight") || pieces.size() > 1)
        for (const std::string& piece : pieces) names.push_back(piece.substr(0, piece.rfind('.')));
  return names;
}

using testing::ElementsAre;

TEST(StateDicts, NamesFollowFromLabelsAndPlaces) {
  EXPECT_THAT(names_of("layers = [': dcgan_generator 16 width 2', 'flatten']", {3}),
              ElementsAre("main.0", "main.1", "main.3", "main.4", "main.6"));
  EXPECT_THAT(names_of("layers = ['dcgan_discriminator 16 width 2']", {1, 16, 16}),
              ElementsAre("main.0", "main.2", "main.3", "main.5"));
  EXPECT_THAT(names_of("layers = ['lenet 2 width 3']", {1, 12, 12}),
              ElementsAre("conv1", "conv2", "fc1", "fc2", "fc3"));
  EXPECT_THAT(names_of("layers = ['autoencoder 3 width 2']", {1, 4, 4}),
              ElementsAre("encoder.0", "encoder.2", "encoder.5", "decoder.0", "decoder.3", "decoder.5"));
  EXPECT_THAT(names_of("layers = ['lenet 4 width 3', 'dense 2']", {1, 12, 12}),
              ElementsAre("0.conv1", "0.conv2", "0.fc1", "0.fc2", "0.fc3", "1"));
  EXPECT_THAT(names_of("layers = [{ concatenate = [['dense 2', 'dense 3'], ['b: dense 3']] }, 'out: dense 1']", {4}),
              ElementsAre("0.0.0", "0.0.1", "0.b", "out"));
  EXPECT_THAT(
      names_of("layers = [{ attention = 2, label = { query_key_value = ['q', 'k', 'v'], output = 'o' } }]", {3, 4}),
      ElementsAre("q", "k", "v", "q", "k", "v", "o"));
}

TEST(StateDicts, StackedTensorsAndKelvinsOwnNamesAreReadAsWell) {
  const Directory dir;
  const std::string file = dir.path("x.npz");
  std::vector<double> q = {1, 2, 3, 4}, k = {5, 6, 7, 8}, v = {9, 10, 11, 12};
  write_npz<double>(file, {{"q.weight", {{2, 2}, q}}, {"k.weight", {{2, 2}, k}}, {"v.weight", {{2, 2}, v}}});
  const std::string stacked = "layers = [{ attention = 1, label = { query_key_value = ['q', 'k', 'v'] } }]";
  const Block block = network_blocks(model_of(stacked), {3, 2}).front();
  EXPECT_EQ(block_in_file(file, block), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  const Block plain = network_blocks(model_of("layers = ['fc: dense 2']"), {2}).front();
  write_npz<double>(file, {{"layer1.weight", {{1, 2, 2}, q}}});
  EXPECT_EQ(block_in_file(file, plain), q) << "extents of 1 in front make no difference";
  write_npz<double>(file, {{"fc.weight", {{4}, q}}});
  EXPECT_EQ(block_in_file(file, plain), q) << "a list of all numbers has no other shape";
}

TEST(StateDicts, MistakesGetOneSentenceWithNamesAndShapes) {
  const Directory dir;
  const Block block = network_blocks(model_of("layers = ['fc: dense 2']"), {2}).front();
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const std::string other = dir.path("other.npz"), wide = dir.path("wide.npz"), both = dir.path("both.safetensors");
  write_npz<double>(other, {{"w", {{6}, x}}});
  write_npz<double>(wide, {{"fc.weight", {{3, 2}, x}}});
  write_safetensors<double>(both, {{"fc.weight", {{3, 2}, x}}, {"layer1.weight", {{3, 2}, x}}}, {});
  EXPECT_EQ(error_of([&] { block_in_file(other, block); }),
            "\"" + other +
                "\" has no array \"layer1.weight\", or \"fc.weight\" as PyTorch calls it; its arrays must be "
                "named as the blocks are");
  EXPECT_EQ(error_of([&] { block_in_file(wide, block); }),
            "\"" + wide +
                "\": \"fc.weight\" is 3 x 2 where 2 x 2 is needed (block \"layer1.weight\"); give a file of the "
                "same network");
  EXPECT_THAT(error_of([&] { block_in_file(both, block); }),
              HasSubstr("has both \"layer1.weight\", as Kelvin calls a block, and \"fc.weight\", as PyTorch does"));
  EXPECT_THAT(error_of([&] { block_in_file(dir.path("none.safetensors"), block); }), HasSubstr("cannot read"));
  EXPECT_THAT(error_of([&] { network_plan(model_of("layers = ['a: dense 2', 'a: dense 2']"), {2}); }),
              HasSubstr("two blocks of model.layers would both be called \"a.weight\" in PyTorch"));
  EXPECT_THAT(error_of([&] { network_plan(model_of("layers = [{ dense = 2, label = { w = 'a' } }]"), {2}); }),
              HasSubstr("layer \"dense\": its label names \"w\", but its blocks are weight, bias"));
  EXPECT_THAT(error_of([&] { network_plan(model_of("layers = [{ dense = 2, label = 3 }]"), {2}); }),
              HasSubstr("layer \"dense\": its label is a text or a table, not a whole number"));
  EXPECT_THAT(
      error_of([&] { network_plan(model_of("layers = [{ dense = 2, label = { weight = ['a', 'b', 'c'] } }]"), {2}); }),
      HasSubstr("layer \"dense\": label.weight lists 3 names for a block of 2 x 2; give one, or as many as divide 2"));
}

}  // namespace
}  // namespace kelvin
