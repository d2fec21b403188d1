// SPDX-License-Identifier: Apache-2.0
// Run files, overrides, schemes and patterns that mean harm: an Error in good time, never a crash. The fuzz targets
// under fuzz/ look for more.
#include "kelvin/core/toml.h"
#include "kelvin/run/settings.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  while (times-- > 0) out += text;
  return out;
}

TEST(Hostile, ARunFileCutAnywhereIsReadOrNamesTheFile) {
  const std::string good = bytes_of(KELVIN_SOURCE_DIR "/examples/gap.toml");
  for (std::size_t n = 0; n < good.size(); ++n) {
    const std::string message = error_of([&] { parse_toml(good.substr(0, n), "run.toml"); });
    EXPECT_THAT(message, AnyOf("", StartsWith("run.toml line "))) << n;
  }
}

TEST(Hostile, DeepNestingIsRefused) {
  const std::string dots = repeated("a.", 200000) + "a";
  for (const std::string& text : {"[" + dots + "]", dots + " = 1", "x = " + repeated("[", 200000), "[[" + dots + "]]",
                                  "x = { " + dots + " = 1 }", repeated("x={", 100000)})
    EXPECT_THAT(error_of([&] { parse_toml(text, "run.toml"); }), StartsWith("run.toml"));
  Value root;
  root.is = Value::Group();
  EXPECT_THAT(error_of([&] { override_with(root, dots + "=1"); }), HasSubstr("more than 1000 dots"));
  EXPECT_EQ(error_of([&] { parse_toml("x = [" + repeated("0.5, ", 5000) + "1.5]\npath = \"../../a.csv\"", "f"); }), "")
      << "many numbers are no nesting";
}

// Edit distances take the product of the lengths: 30 names and a million characters would be half a minute.
TEST(Hostile, GiantNamesGetNoSuggestion) {
  const std::string giant(1000000, 'x');
  const std::string message = error_of([&] { read_run_settings(parse_toml(giant + " = 1", "run.toml")); });
  EXPECT_THAT(message, StartsWith("run.toml line 1: no setting"));
  EXPECT_EQ(message.find("did you mean"), std::string::npos);
}

// Found by fuzzing: it was read as "not given", and the record of the run then said something else.
TEST(Hostile, AnEmptyChoiceIsRefused) {
  for (const char* assignment : {"part.all.step=", "part.all.step={ name = \"\" }"}) {
    Value file = parse_toml("model = { layers = [1, 1] }", "run.toml");
    override_with(file, assignment);
    EXPECT_THAT(error_of([&] { read_run_settings(file); }), HasSubstr("part.all.step is empty"));
  }
}

TEST(Hostile, SchemesStayWithinTheirLimits) {
  const auto message = [](const std::string& text) { return error_of([&] { parse_scheme(text); }); };
  EXPECT_THAT(message(repeated("(", 500000)), HasSubstr("inside each other"));
  EXPECT_THAT(message(repeated("(", 200000) + "A" + repeated(")1", 200000)), HasSubstr("inside each other"));
  EXPECT_THAT(message("((A)99999)99999"), HasSubstr("more than 65535 letters"));
  EXPECT_THAT(message(std::string(65536, 'A')), HasSubstr("more than 65535 letters")) << "places are 16 bits wide";
  EXPECT_EQ(message(std::string(65535, 'A')), "");
  EXPECT_THAT(message(repeated("()99999", 100000) + "A"), HasSubstr("nothing to repeat"));
}

TEST(Hostile, PatternsWithManyStarsAreMatchedAtOnce) {
  EXPECT_FALSE(matches(repeated("*a", 40) + "b", std::string(200, 'a')));
  EXPECT_TRUE(matches(repeated("*a", 40) + "*", std::string(200, 'a')));
  EXPECT_TRUE(matches("", ""));
  EXPECT_TRUE(matches("***", ""));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("layer*.w*t", "layer12.weight"));
  EXPECT_TRUE(matches("*.weight", "a.weight.weight")) << "the star may take more than the shortest piece";
  EXPECT_FALSE(matches("layer?.bias", "layer12.bias"));
  EXPECT_TRUE(matches("*ab?d*", "aabababcdx"));
}

}  // namespace
}  // namespace kelvin
