// SPDX-License-Identifier: Apache-2.0
// Every row of the table of layers, between two dense ones: a new row needs no test of its own for what is asked here.
#include <gmock/gmock.h>

#include <numeric>

#include "kelvin/core/settings.h"
#include "kelvin/energy/likelihood.h"
#include "kelvin/function/network.h"
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
      for (std::size_t i = 0; i < data.inputs.size(); ++i) data.inputs[i] = double((i * i + i / 3) % words);
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
