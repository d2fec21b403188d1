// SPDX-License-Identifier: Apache-2.0
// What a preset fills in.
#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "kelvin/dynamics/preset.h"
#include "kelvin/run/settings.h"
#include "tests/files.h"

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
        blocks.push_back({.name = fmt::format("layer{}.weight", k), .shape = {2, 2}, .offset = 4 * (k - 1)});
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

}  // namespace
}  // namespace kelvin
