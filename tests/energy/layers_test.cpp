// SPDX-License-Identifier: Apache-2.0
// Every row of the table of layers, between two dense ones: a new row needs no test of its own for what is asked here.
#include <gmock/gmock.h>

#include <numeric>

#include "kelvin/core/toml.h"
#include "kelvin/energy/likelihood.h"
#include "kelvin/function/network.h"
#include "tests/allocations.h"
#include "tests/finite_difference.h"

namespace kelvin {
namespace {

constexpr std::size_t in = 3, out = 2;

Dataset rows_of(std::size_t rows, const Shape& input, std::size_t targets) {
  Dataset data;
  data.rows = rows;
  data.shape = input;
  data.input_names.resize(input.size(), "x");
  data.target_names.resize(targets, "y");
  data.inputs = some_point(rows * input.size(), 1, "inputs");
  data.targets = some_point(rows * targets, 1, "targets");
  return data;
}
Dataset some_rows(std::size_t rows) { return rows_of(rows, {in}, out); }

ModelSettings network_of(const std::vector<std::string>& layers) {
  ModelSettings settings;
  assign(settings.layers, Value(layers), "model.layers");
  return settings;
}

// The network that a row gives as a sample of its kind.
struct Sample {
  std::string name;
  ModelSettings settings;
  Shape input;
  std::size_t words;
  std::size_t outputs;
  Dataset rows(std::size_t count) const {
    Dataset data = rows_of(count, input, outputs);
    if (words > 0)
      for (std::size_t i = 0; i < data.inputs.size(); ++i) data.inputs.doubles()[i] = double((i * i + i / 3) % words);
    return data;
  }
};

std::vector<Sample> every_kind() {
  std::vector<Sample> all;
  for (const LayerRow* row : layer_rows()) {
    Sample sample{.name = std::string(row->name),
                  .settings = {},
                  .input = row->sample.input,
                  .words = row->sample.words,
                  .outputs = 0};
    const Value file = parse_toml(fmt::format("layers = {}", row->sample.layers), sample.name);
    assign(sample.settings.layers, file.at("layers"), "model.layers");
    sample.outputs = network_plan(sample.settings, sample.input).back().output.size();
    all.push_back(std::move(sample));
  }
  return all;
}

TEST(Layers, HaveTheGradientOfFiniteDifferences) {
  for (const Sample& kind : every_kind())
    for (const std::size_t rows : {1, 7}) {
      SCOPED_TRACE(kind.name);
      const auto network = make_likelihood<double>(kind.settings, kind.rows(rows), {});
      expect_gradient_matches(*network, some_point(dimension_of(*network), 0.7));
    }
}

TEST(Layers, AreTheSameInFloatAndOnGatheredRows) {
  for (const Sample& kind : every_kind()) {
    SCOPED_TRACE(kind.name);
    const Dataset data = kind.rows(30);
    std::vector<std::uint32_t> backwards(data.rows);
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    const auto network = make_likelihood<double>(kind.settings, data, {});
    const auto q = some_point(dimension_of(*network), 0.5);
    std::vector<double> expected(q.size());
    const double U = evaluated(*network, q, {}, expected);
    for (const Batch batch : {Batch{}, Batch(backwards)}) {
      std::vector<double> g(q.size(), NAN);
      EXPECT_NEAR(evaluated(*network, q, batch, g), U, 1e-13 * U);
      EXPECT_LT(distance(g, expected), 1e-12 * norm(expected));
      std::vector<float> single(q.size(), NAN);
      const auto in_float = make_likelihood<float>(kind.settings, data, {});
      EXPECT_NEAR(evaluated(*in_float, std::vector<float>(q.begin(), q.end()), batch, single), U, 1e-5 * U);
      EXPECT_LT(distance({single.begin(), single.end()}, expected), 1e-5 * norm(expected));
    }
  }
}

TEST(Layers, WriteOnlyTheSlopesThatAreWanted) {
  for (const Sample& kind : every_kind()) {
    const auto network = make_likelihood<double>(kind.settings, kind.rows(7), {});
    const auto& blocks = network->blocks();
    const auto q = some_point(dimension_of(*network), 0.5);
    std::vector<double> whole(q.size());
    evaluated(*network, q, {}, whole);
    for (std::size_t wanted = 0; wanted < blocks.size(); ++wanted) {
      std::vector<char> mask(blocks.size(), 0);
      mask[wanted] = 1;
      std::vector<double> part(q.size(), NAN);
      evaluated(*network, q, {}, part, mask);
      for (std::size_t i = blocks[wanted].offset; i < blocks[wanted].offset + blocks[wanted].size(); ++i)
        EXPECT_EQ(part[i], whole[i]) << kind.name << " " << blocks[wanted].name;
    }
  }
}

// The same layers with a "linear" between, which keeps activations from being done by the layer before or behind.
TEST(Layers, AreTheSameWithAnActivationOfTheirOwn) {
  const Shape image{2, 7, 6};
  for (const std::string first : {"conv 3 5", "batch_norm", "residual", "conv 2 3", "filter_response_norm", "gelu"})
    for (const std::string activation : {"relu", "tanh", "gelu"}) {
      SCOPED_TRACE(first + " " + activation);
      const auto network = [&](const std::vector<std::string>& between) {
        const Value residual =
            Value(Value::Group{{"residual", Value(std::vector<std::string>{"conv 3 2 padding same"})}});
        Value::List list = {first == "residual" ? residual : Value(first)};
        list.insert(list.end(), between.begin(), between.end());
        list.emplace_back(activation);
        list.insert(list.end(), between.begin(), between.end());
        for (const char* name : {"max_pool 2", "flatten", "dense 2"}) list.emplace_back(name);
        ModelSettings settings;
        assign(settings.layers, Value(list), "model.layers");
        return make_likelihood<double>(settings, rows_of(6, image, out), {});
      };
      const auto merged = network({}), apart = network({"linear"});
      const auto q = some_point(dimension_of(*merged), 0.5);
      std::vector<double> g(q.size()), expected(q.size());
      EXPECT_EQ(evaluated(*merged, q, {}, g), evaluated(*apart, q, {}, expected));
      EXPECT_EQ(g, expected);
    }
}

// A copy has no workspace of the first; shares of rows are averaged as one pass over all of them.
TEST(Layers, AreTheSameInACopy) {
  for (const Sample& kind : every_kind()) {
    const auto network = make_likelihood<double>(kind.settings, kind.rows(5), {});
    const auto q = some_point(dimension_of(*network), 0.5);
    std::vector<double> g(q.size()), h(q.size());
    const double U = evaluated(*network, q, {}, g);
    const auto copy = network->copy();
    EXPECT_EQ(evaluated(*copy, q, {}, h), U) << kind.name;
    EXPECT_EQ(g, h) << kind.name;
  }
}

// In float oneDNN lists the arguments of each call in memory of its own.
TEST(Layers, AllocateNothingAfterTheFirstEvaluation) {
  for (const Sample& kind : every_kind()) {
    const auto network = make_likelihood<double>(kind.settings, kind.rows(5), {});
    const auto q = some_point(dimension_of(*network), 0.5);
    std::vector<double> g(q.size());
    const auto offsets = offsets_of(network->blocks(), network->blocks());
    const auto evaluate = [&] { (*network)({q.data(), offsets.data()}, {}, {g.data(), offsets.data()}); };
    evaluate();
    const std::size_t before = allocations;
    evaluate();
    EXPECT_EQ(allocations - before, 0u) << kind.name;
  }
}

void expect_network_of_sizes(const std::string& activation) {
  ModelSettings sizes;
  sizes.layers = {3, 7, 4, 2};
  sizes.activation = {activation};
  const ModelSettings names = network_of({"dense 7", activation, "dense 4", activation, "dense 2"});
  const auto a = make_likelihood<double>(sizes, some_rows(9), {}), b = make_likelihood<double>(names, some_rows(9), {});
  ASSERT_EQ(a->blocks().size(), b->blocks().size());
  for (std::size_t k = 0; k < a->blocks().size(); ++k) {
    EXPECT_EQ(a->blocks()[k].name, b->blocks()[k].name);
    EXPECT_EQ(a->blocks()[k].shape, b->blocks()[k].shape);
    EXPECT_EQ(a->blocks()[k].layer, b->blocks()[k].layer);
  }
  const auto q = some_point(dimension_of(*a), 0.5);
  std::vector<double> g(q.size()), h(q.size());
  EXPECT_NEAR(evaluated(*a, q, {}, g), evaluated(*b, q, {}, h), 1e-14);
  EXPECT_LT(distance(g, h), 1e-14);
  EXPECT_EQ(weighted_layers(sizes), 3u);
  EXPECT_EQ(weighted_layers(names), 3u);
}

TEST(Layers, ByNameAreTheNetworkOfTheirSizes) {
  expect_network_of_sizes("tanh");  // whose slope is one of its values
  expect_network_of_sizes("gelu");  // of its inputs
}

TEST(Layers, MistakesAreNamed) {
  const auto refusal = [](const std::vector<std::string>& layers) {
    try {
      network_plan(network_of(layers), {in});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal({"dens 3"}), HasSubstr("no layer \"dens\""));
  EXPECT_THAT(refusal({"dens 3"}), HasSubstr("did you mean \"dense\"?"));
  EXPECT_THAT(refusal({"dense"}), HasSubstr("units"));
  EXPECT_THAT(refusal({"dense x"}), HasSubstr("units of \"dense\""));
  EXPECT_THAT(refusal({"dense 3 1 1"}), HasSubstr("more numbers"));
  EXPECT_THAT(refusal({"dense 2.5"}), HasSubstr("whole number"));
  EXPECT_THAT(refusal({"relu 2"}), HasSubstr("takes no numbers"));
  EXPECT_THAT(refusal({"relu"}), HasSubstr("no layer with weights"));
  EXPECT_EQ(refusal({"dense 3 bias 0", "relu", "dense 1"}), "");
}

// The sentence with which layers on images of 3 x 8 x 8 are refused.
std::string refusal_of(std::string_view layers, const Shape& input = {3, 8, 8}) {
  ModelSettings settings;
  assign(settings.layers, parse_toml(fmt::format("layers = {}", layers), "test").at("layers"), "model.layers");
  try {
    network_plan(settings, input);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Layers, MistakesWithImagesAreNamed) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal_of("['conv 3 4', 'dense 2']"), HasSubstr("4 x 6 x 6; flatten it first"));
  EXPECT_THAT(refusal_of("['flatten', 'conv 3 4']"), HasSubstr("takes images (channels x height x width)"));
  EXPECT_THAT(refusal_of("['conv 9x3 4']"), HasSubstr("9 x 3 pixels at once, but the image before it has 8 x 8"));
  EXPECT_THAT(refusal_of("['conv 9x3 4 padding 1']"), HasSubstr("end with a layer such as"));
  EXPECT_THAT(refusal_of("['conv 5 4 dilation 2']"), HasSubstr("9 x 9 pixels"));
  EXPECT_THAT(refusal_of("['conv 3 4 groups 2']"), HasSubstr("2 groups between 3 and 4 channels"));
  EXPECT_THAT(refusal_of("['conv 3 0']"), HasSubstr("whole number from 1"));
  EXPECT_THAT(refusal_of("['conv 3x 4']"), HasSubstr("\"3x\""));
  EXPECT_THAT(refusal_of("['conv 3 4 padding some']"), HasSubstr("padding is \"some\""));
  EXPECT_THAT(refusal_of("['conv 3 4 stride 0']"), HasSubstr("whole number from 1"));
  EXPECT_THAT(refusal_of("['transposed_conv 3 4 output_padding 1']"), HasSubstr("output_padding 1; give less"));
  EXPECT_THAT(refusal_of("['transposed_conv 2 4 padding same']"), HasSubstr("padding is \"same\""));
  EXPECT_THAT(refusal_of("['transposed_conv 2 4 padding 5']"), HasSubstr("nothing of 9 pixels"));
  EXPECT_THAT(refusal_of("['max_pool 9']"), HasSubstr("9 x 9 pixels at once"));
  EXPECT_THAT(refusal_of("['max_pool 2 padding 2']"), HasSubstr("at most half a window"));
  EXPECT_THAT(refusal_of("['dense 10', 'reshape 3 2']", {4}), HasSubstr("make it a list of 12 numbers"));
  EXPECT_THAT(refusal_of("['group_norm 2']"), HasSubstr("2 groups for 3 channels"));
  EXPECT_THAT(refusal_of("['group_norm 4']", {4}), HasSubstr("use fewer groups"));
  EXPECT_THAT(refusal_of("['batch_norm momentum 2']"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal_of("['dropout 1']"), HasSubstr("from 0 to below 1"));
  EXPECT_THAT(refusal_of("[{ residual = ['conv 3 4 padding 1'] }]"),
              HasSubstr("adds 4 x 8 x 8 of its layers to 3 x 8"));
  EXPECT_THAT(refusal_of("['residual']"), HasSubstr("write { residual ="));
  EXPECT_THAT(refusal_of("[{ concatenate = [['conv 1 2'], ['conv 2 2']] }]"), HasSubstr("2 x 7 x 7 next to 2 x 8 x 8"));
  EXPECT_THAT(refusal_of("['concatenate']"), HasSubstr("write { concatenate ="));
}

TEST(Layers, BatchNormOfOneNumberIsRefused) {
  const auto network = make_likelihood<double>(network_of({"dense 4", "batch_norm", "dense 2"}), some_rows(1), {});
  std::vector<double> q(dimension_of(*network), 0.5), g(q.size());
  EXPECT_THROW(evaluated(*network, q, {}, g), Error);
}

// Numbers that are sampled, of a network on images.
std::size_t size_of_network(std::string_view layers, const Shape& input) {
  ModelSettings settings;
  assign(settings.layers, parse_toml(fmt::format("layers = ['{}', 'flatten']", layers), "test").at("layers"),
         "model.layers");
  std::size_t count = 0;
  for (const Block& block : network_blocks(settings, input)) count += block.buffer() ? 0 : block.size();
  return count;
}

// Those of torchvision, of the papers, and two that are added up by hand.
TEST(Layers, ArchitecturesHaveTheSizesOfTheirPapers) {
  const Shape small = {3, 32, 32}, large = {3, 224, 224}, digit = {1, 28, 28};
  EXPECT_EQ(size_of_network("resnet 18 1000", large), 11689512u);
  EXPECT_EQ(size_of_network("resnet 34 1000", large), 21797672u);
  EXPECT_EQ(size_of_network("resnet 50 1000", large), 25557032u);
  EXPECT_EQ(size_of_network("vgg 11 1000 hidden 4096", large), 132868840u);
  EXPECT_EQ(size_of_network("vgg 16 1000 hidden 4096 norm none", large), 138357544u);
  EXPECT_EQ(size_of_network("wide_resnet 28 10 10", small), 36479194u);
  EXPECT_EQ(size_of_network("lenet 10", digit), 61706u);
  EXPECT_EQ(size_of_network("lenet 10", {1, 32, 32}), 61706u);
  EXPECT_EQ(size_of_network("dcgan_discriminator 64", {3, 64, 64}), 2765568u);
  EXPECT_EQ(size_of_network("dcgan_generator 64", {100}), 3576704u);
  // A stem of 27 w weights, two convolutions of 9 w^2 each at w = 8, 16, 32, shortcuts, norms, and the dense end.
  const std::size_t stem = 27 * 8, first = 2 * 9 * 64, second = 9 * (8 * 16 + 16 * 16) + 8 * 16;
  const std::size_t third = 9 * (16 * 32 + 32 * 32) + 16 * 32, fourth = 9 * (32 * 64 + 64 * 64) + 32 * 64;
  const std::size_t norms = 2 * (3 * 8 + 3 * 16 + 3 * 32 + 3 * 64);
  EXPECT_EQ(size_of_network("resnet 10 10 width 8", small), stem + first + second + third + fourth + norms + 65 * 10);
  // Biases in place of norms.
  EXPECT_EQ(size_of_network("vgg 11 10 width 1 norm none", small),
            (27 + 1) + (9 * 2 + 2) + (18 * 4 + 4) + (36 * 4 + 4) + (36 * 8 + 8) + 3 * (72 * 8 + 8) + 9 * 10u);
}

TEST(Layers, ArchitecturesCountTheirLayersBeforeTheyArePlanned) {
  for (const Sample& kind : every_kind()) {
    std::vector<LayerPlan> plans = plan_layers(Value(kind.settings.layers.items()), kind.input);
    EXPECT_EQ(weighted_layers(kind.settings), number_layers(plans)) << kind.name;
  }
}

TEST(Layers, MistakesWithArchitecturesAreNamed) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal_of("['resnet 19 10']"), HasSubstr("depth 19; give one of 10, 18, 34, 50"));
  EXPECT_THAT(refusal_of("['resnet 18 10 norm layer']"), HasSubstr("norm \"layer\"; give batch"));
  EXPECT_THAT(refusal_of("['resnet 18 10 stem 5']"), HasSubstr("stem"));
  EXPECT_THAT(refusal_of("['wide_resnet 18 2 10']"), HasSubstr("6 n + 4"));
  EXPECT_THAT(refusal_of("['vgg 12 10']"), HasSubstr("give one of 11, 13, 16, 19"));
  EXPECT_THAT(refusal_of("['vgg 11 10']"), HasSubstr("2 x 2 pixels at once"));
  EXPECT_THAT(refusal_of("['lenet 10 pool none']"), HasSubstr("max or average"));
  EXPECT_THAT(refusal_of("['autoencoder 10']", {1, 6, 8}), HasSubstr("divided by 4, but this one has 6 x 8"));
  EXPECT_THAT(refusal_of("['dcgan_generator 12']", {5}), HasSubstr("size 12; give a power of 2"));
  EXPECT_THAT(refusal_of("['dcgan_generator 8']"), HasSubstr("flatten it first"));
}

TEST(Layers, AreWrittenInThreeWays) {
  const auto chosen = [](std::string_view text) {
    return layer_chosen(parse_toml(fmt::format("it = {}", text), "test").at("it"));
  };
  for (const std::string_view text :
       {"'dense 16 0'", "'dense 16 bias 0'", "{ dense = 16, bias = 0 }", "{ name = 'dense', units = 16, bias = 0 }"}) {
    const Choice choice = chosen(text);
    EXPECT_EQ(choice.name, "dense") << text;
    EXPECT_EQ(choice.number("units"), 16) << text;
    EXPECT_EQ(choice.number("bias"), 0) << text;
  }
  EXPECT_THROW(chosen("{ dens = 16 }"), Error);
  EXPECT_THROW(chosen("{ dense = 16, byas = 0 }"), Error);
  EXPECT_THROW(chosen("3"), Error);
}

}  // namespace
}  // namespace kelvin
