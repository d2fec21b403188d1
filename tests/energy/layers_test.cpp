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

Dataset some_rows(std::size_t rows) {
  Dataset data;
  data.rows = rows;
  data.input_names.resize(in, "x");
  data.target_names.resize(out, "y");
  data.inputs = some_point(rows * in, 1, "inputs");
  data.targets = some_point(rows * out, 1, "targets");
  return data;
}

ModelSettings network_of(const std::vector<std::string>& layers) {
  ModelSettings settings;
  assign(settings.layers, Value(layers), "model.layers");
  return settings;
}

// A layer with its standard numbers, 4 for those that must be given.
std::string sample_of(const LayerRow& row) {
  if (row.name == "activation") return "tanh";
  std::string text(row.name);
  for (const Parameter& p : row.parameters)
    if (p.standard.empty()) text += " 4";
  return text;
}

std::vector<ModelSettings> every_kind() {
  std::vector<ModelSettings> out;
  for (const LayerRow* row : layer_rows())
    out.push_back(network_of({"dense 5", "tanh", sample_of(*row), "tanh", "dense 2"}));
  return out;
}

std::string name_of(const ModelSettings& settings) { return std::get<std::string>(settings.layers.items()[2].is); }

TEST(Layers, HaveTheGradientOfFiniteDifferences) {
  for (const ModelSettings& settings : every_kind())
    for (const std::size_t rows : {1, 7}) {
      SCOPED_TRACE(name_of(settings));
      const auto network = make_likelihood<double>(settings, some_rows(rows), {});
      expect_gradient_matches(*network, some_point(dimension_of(*network), 0.7));
    }
}

TEST(Layers, AreTheSameInFloatAndOnGatheredRows) {
  const Dataset data = some_rows(30);
  std::vector<std::uint32_t> backwards(data.rows);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  for (const ModelSettings& settings : every_kind()) {
    const auto network = make_likelihood<double>(settings, data, {});
    const auto q = some_point(dimension_of(*network), 0.5);
    std::vector<double> expected(q.size());
    const double U = evaluated(*network, q, {}, expected);
    for (const Batch batch : {Batch{}, Batch(backwards)}) {
      std::vector<double> g(q.size(), NAN);
      EXPECT_NEAR(evaluated(*network, q, batch, g), U, 1e-13 * U) << name_of(settings);
      EXPECT_LT(distance(g, expected), 1e-12 * norm(expected)) << name_of(settings);
      std::vector<float> single(q.size(), NAN);
      const auto in_float = make_likelihood<float>(settings, data, {});
      EXPECT_NEAR(evaluated(*in_float, std::vector<float>(q.begin(), q.end()), batch, single), U, 1e-5 * U);
      EXPECT_LT(distance({single.begin(), single.end()}, expected), 1e-5 * norm(expected)) << name_of(settings);
    }
  }
}

TEST(Layers, WriteOnlyTheSlopesThatAreWanted) {
  for (const ModelSettings& settings : every_kind()) {
    const auto network = make_likelihood<double>(settings, some_rows(7), {});
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
        EXPECT_EQ(part[i], whole[i]) << name_of(settings) << " " << blocks[wanted].name;
    }
  }
}

TEST(Layers, ByNameAreTheNetworkOfTheirSizes) {
  ModelSettings sizes;
  sizes.layers = {3, 7, 4, 2};
  sizes.activation = {"tanh"};
  const ModelSettings names = network_of({"dense 7", "tanh", "dense 4", "tanh", "dense 2"});
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
  EXPECT_THAT(refusal({"dense x"}), HasSubstr("\"x\" is no number"));
  EXPECT_THAT(refusal({"dense 3 1 1"}), HasSubstr("more numbers"));
  EXPECT_THAT(refusal({"dense 2.5"}), HasSubstr("whole number"));
  EXPECT_THAT(refusal({"relu 2"}), HasSubstr("takes no numbers"));
  EXPECT_THAT(refusal({"relu"}), HasSubstr("no layer with weights"));
  EXPECT_EQ(refusal({"dense 3 bias 0", "relu", "dense 1"}), "");
}

}  // namespace
}  // namespace kelvin
