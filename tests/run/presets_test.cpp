// SPDX-License-Identifier: Apache-2.0
// What a preset fills in, and that every one runs on networks of layers.
#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "kelvin/dynamics/block_groups.h"
#include "kelvin/dynamics/preset.h"
#include "kelvin/function/network.h"
#include "kelvin/run/run.h"
#include "kelvin/trajectory/inputs.h"
#include "tests/layer_runs.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

RunSettings settings_of(const std::string& toml) { return read_run_settings(parse_toml(toml, "test")); }

TEST(Presets, EveryRowMakesPartsThatMeet) {
  for (const Preset& preset : presets())
    for (const char* layers : {"[2, 5, 5, 1]", "[2, 5, 5, 5, 1]"}) {
      const RunSettings s =
          settings_of(fmt::format("preset = '{}'\nmodel.layers = {}\nmodel.scale = 0", preset.name, layers));
      std::vector<Block> blocks;
      for (std::size_t k = 1; k < s.model.layers.sizes().size(); ++k)
        blocks.push_back({.name = fmt::format("layer{}.weight", k),
                          .shape = {2, 2},
                          .role = Role::weight,
                          .layer = std::uint32_t(k),
                          .offset = 4 * (k - 1)});
      EXPECT_NO_THROW(make_recipe(s.part, {}, blocks, {})) << preset.name;
    }
}

TEST(Presets, AnyPartitionCanUseThem) {
  const RunSettings s = settings_of(R"(
preset = { name = "adlala", step = 0.25, friction = 5.0 }
model.layers = [2, 5, 5, 1]
[part.first]
blocks = "layer1.*"
role = "hidden"
sigma = 0.04
[part.middle]
blocks = "layer2.*"
role = "hidden"
step = 0.5
[part.output]
blocks = "layer3.*"
)");
  EXPECT_EQ(s.part.at("first").scheme, "BACDEDCAB");
  EXPECT_EQ(s.part.at("first").sigma.number("value"), 0.04);
  EXPECT_EQ(s.part.at("middle").sigma.number("value"), 0.01);
  EXPECT_EQ(s.part.at("middle").step.number("value"), 0.5);
  EXPECT_EQ(s.part.at("output").step.number("value"), 0.25);
  EXPECT_EQ(s.part.at("output").scheme, "BAOAB");
  EXPECT_EQ(s.part.at("output").friction.number("value"), 5);
}

TEST(Presets, ARoleKeepsWhatDefinesTheMethod) {
  const RunSettings s = settings_of("preset = { name = 'lol', temperature = 1e-5 }\nmodel.layers = [2, 5, 1]");
  EXPECT_EQ(s.part.at("hidden").temperature.number("value"), 1e-5);
  EXPECT_EQ(s.part.at("output").temperature.number("value"), 0);
}

TEST(Presets, MistakesAreNamed) {
  EXPECT_THAT(error_of([] { settings_of("preset = 'adlalala'\nmodel.layers = [2, 5, 1]"); }),
              HasSubstr("did you mean \"adlala\"?"));
  EXPECT_THAT(error_of([] { settings_of("preset = 'lol'\nmodel.layers = [2, 5, 1]\n[part.all]\nstep = 0.1"); }),
              HasSubstr("no role \"all\" for part \"all\"; give it role = \"hidden\" or \"output\""));
  EXPECT_THAT(error_of([] { settings_of("preset = 'lol'\nmodel.toy = 'gaussian'"); }), HasSubstr("give the parts"));
  EXPECT_THAT(error_of([] { settings_of("model.layers = [2, 1]\npart.a.role = 'hidden'"); }),
              HasSubstr("needs a preset"));
  EXPECT_THAT(error_of([] { settings_of("preset = { name = 'lol', stepp = 1 }\nmodel.layers = [2, 5, 1]"); }),
              HasSubstr("stepp"));
}

// ---- networks of layers

// The blocks of each part of a preset.
std::map<std::string, std::vector<std::string>> parts_with(const std::string& preset, const std::string& layers,
                                                           const Shape& input) {
  const RunSettings s = settings_of(fmt::format("preset = '{}'\nmodel.layers = {}", preset, layers));
  const auto blocks = network_blocks(s.model, input);
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& [block, part] : make_recipe(s.part, {}, blocks, {}).part_of)
    if (!block.ends_with(".slack")) out[part].push_back(block);
  return out;
}

TEST(Presets, HaveTheirPartsByTheDepthAndRoleOfBlocks) {
  using testing::ElementsAre;
  const std::string conv =
      "['batch_norm', 'conv 3 4', 'relu', 'conv 3 4', 'batch_norm', 'flatten', 'dense 2', "
      "'layer_norm']";
  const auto circles = parts_with("c_sgd", conv, {1, 6, 6});
  EXPECT_THAT(circles.at("input"), ElementsAre("layer1.bias", "layer1.gain", "layer2.bias", "layer2.weight"));
  const auto lol = parts_with("lol", conv, {1, 6, 6});
  EXPECT_THAT(lol.at("output"), ElementsAre("layer5.bias", "layer5.weight", "layer6.bias", "layer6.gain"));
  const auto orthogonal = parts_with("o_cola_od", conv, {1, 6, 6});
  EXPECT_THAT(orthogonal.at("hidden"), ElementsAre("layer3.bias", "layer3.weight", "layer4.bias", "layer4.gain"));

  // A table of places is a matrix, but not one of weights.
  const auto words = parts_with("o_cola_od", "['embedding 5 4', 'positional', 'lstm 3', 'dense 5']", {7});
  EXPECT_THAT(words.at("ends"), testing::Contains("layer2.weight"));
  EXPECT_THAT(words.at("hidden"),
              ElementsAre("layer3.bias_hh_l0", "layer3.bias_ih_l0", "layer3.weight_hh_l0", "layer3.weight_ih_l0"));
}

TEST(Presets, OfAPerceptronHaveThePartsTheyAlwaysHad) {
  using testing::ElementsAre;
  const auto parts = parts_with("o_cola_od", "[2, 3, 3, 1]", {2});
  EXPECT_THAT(parts.at("hidden"), ElementsAre("layer2.bias", "layer2.weight"));
  EXPECT_THAT(parts.at("ends"), ElementsAre("layer1.bias", "layer1.weight", "layer3.bias", "layer3.weight"));
  const auto hidden = parts_with("lol", "[2, 3, 3, 1]", {2});
  EXPECT_THAT(hidden.at("hidden"), ElementsAre("layer1.bias", "layer1.weight", "layer2.bias", "layer2.weight"));
}

TEST(Presets, BlocksCanBeChosenByGroup) {
  const RunSettings s = settings_of(
      "model.layers = ['conv 3 4', 'batch_norm', 'flatten', 'dense 2']\n"
      "part.a.blocks = ['@gains', '@last']\npart.b.blocks = ['*', '!@gains', '!@last']");
  const auto blocks = network_blocks(s.model, {1, 6, 6});
  const auto parts = make_recipe(s.part, {}, blocks, {}).part_of;
  EXPECT_EQ(parts.at("layer2.gain"), "a");
  EXPECT_EQ(parts.at("layer3.bias"), "a");
  EXPECT_EQ(parts.at("layer2.bias"), "b");
  EXPECT_FALSE(parts.contains("layer2.running_mean")) << "nothing moves it";
  const RunSettings wrong = settings_of("model.layers = ['dense 2']\npart.a.blocks = '@gain'");
  EXPECT_THAT(error_of([&] { make_recipe(wrong.part, {}, network_blocks(wrong.model, {3}), {}); }),
              HasSubstr("did you mean \"gains\"?"));
}

// What a preset cannot do with a network it says in one sentence.
constexpr std::pair<const char*, const char*> refusals[] = {{"mclmc", "data.augment"}};

TEST(Presets, EveryRowRunsOnNetworksOfLayers) {
  const Directory files(in_memory());
  write_layer_data(files);
  for (const LayerRun& network : layer_runs)
    for (const Preset& preset : presets()) {
      RunSettings settings = settings_of(
          fmt::format("steps = 4\nevery = 2\nlog_every = 2\npreset = '{}'\n{}", preset.name, network.settings));
      complete(settings, run_kind("sample"));
      const std::string refused = error_of([&] {
        kelvin::Run run(settings, inputs_from(files.path("")));
        run.go();
        EXPECT_EQ(run.now().state, RunSnapshot::State::finished);
      });
      std::string_view expected;
      for (const auto& [name, why] : refusals)
        if (preset.name == name && refused.find(why) != std::string::npos) expected = why;
      if (expected.empty()) {
        EXPECT_EQ(refused, "") << preset.name << " on " << network.name;
      }
    }
}

}  // namespace
}  // namespace kelvin
