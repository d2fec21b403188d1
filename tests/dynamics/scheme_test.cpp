// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/scheme.h"

#include "kelvin/core/toml.h"
#include "kelvin/dynamics/recipe.h"
#include "kelvin/dynamics/schedule.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

std::string spelled(const Scheme& s) {
  std::string out;
  for (const Move& m : s.moves) out += m.letter->symbol;
  return out;
}

std::string refusal(const std::string& text) {
  return error_of([&] { parse_scheme(text); });
}

TEST(Scheme, ALettersShareIsOneOverItsOccurrences) {
  const Scheme s = parse_scheme("BAOAB");
  ASSERT_EQ(s.moves.size(), 5u);
  const double shares[] = {0.5, 0.5, 1, 0.5, 0.5};
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(s.moves[k].share, shares[k]);
}

TEST(Scheme, RepeatsNestAndShareTheWholeStep) {
  const Scheme s = parse_scheme("R{(BAB)10}");
  EXPECT_EQ(s.moves.size(), 33u);
  double drift = 0, kick = 0;
  for (const Move& m : s.moves) {
    drift += m.letter->symbol == 'A' ? m.share : 0;
    kick += m.letter->symbol == 'B' ? m.share : 0;
  }
  EXPECT_NEAR(drift, 1, 1e-14);
  EXPECT_NEAR(kick, 1, 1e-14);
  EXPECT_EQ(spelled(parse_scheme("((AB)2O)2")), "ABABOABABO");
  EXPECT_EQ(spelled(parse_scheme("OBA(.A)4")), "OBA.A.A.A.A");
  EXPECT_EQ(spelled(parse_scheme("B1(B2AB2)2B1")), "12A22A21") << "kicks by pieces of U";
}

TEST(Scheme, NamesAndAliasesStandForTheirStrings) {
  for (const NamedScheme& row : schemes()) {
    EXPECT_EQ(parse_scheme(row.name).text, row.text);
    EXPECT_EQ(parse_scheme(row.text).text, row.text);
  }
  EXPECT_EQ(parse_scheme("VRORV").text, "BAOAB");
  EXPECT_EQ(parse_scheme("gla2").text, "BABO");
}

TEST(Scheme, LettersMadeAtRunTimeAreReadToo) {
  const Letter flip{{},
                    'f',
                    Joint::no,
                    false,
                    true,
                    0,
                    false,
                    Forgets::never,
                    nullptr,
                    [](const Part<double>& s, double, std::span<const double>) {
                      for (double& p : s.p) p = -p;
                    },
                    "reverse p"};
  const Scheme s = parse_scheme("BAfAB", std::span(&flip, 1));
  EXPECT_EQ(s.moves[2].letter, &flip);
}

TEST(Scheme, MistakesAreNamed) {
  EXPECT_THAT(refusal("BAQAB"), HasSubstr("no letter 'Q' in scheme \"BAQAB\"; known letters: A B O"));
  EXPECT_THAT(refusal("baobab"), HasSubstr("did you mean \"baoab\"?"));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("(AB"), HasSubstr("'(' without ')'"));
  EXPECT_THAT(refusal("AB)2"), HasSubstr("')' without '('"));
  EXPECT_THAT(refusal("(AB)"), HasSubstr("how often"));
  EXPECT_THAT(refusal("(AB)0"), HasSubstr("how often"));
  EXPECT_THAT(refusal("((BAB)99999)99999"), HasSubstr("more than 65535 letters"));
  EXPECT_THAT(refusal("BA2B"), HasSubstr("'2' stands alone"));
  EXPECT_THAT(refusal("R{BAB"), HasSubstr("'{' without '}'"));
  EXPECT_THAT(refusal("RBAB}"), HasSubstr("'}' without '{'"));
  EXPECT_THAT(refusal("R{B{A}B}"), HasSubstr("'{' inside"));
  EXPECT_THAT(refusal("R{BA}"), HasSubstr("read the same backwards"));
  EXPECT_THAT(refusal("{BAOAB}"), HasSubstr("'O' draws noise inside"));
}

std::vector<Block> two_layers() {
  return {{.name = "layer1.weight", .shape = {4, 2}, .fan_in = 2},
          {.name = "layer1.bias", .shape = {4}, .fan_in = 2, .offset = 8},
          {.name = "layer2.weight", .shape = {1, 4}, .fan_in = 4, .offset = 12},
          {.name = "layer2.bias", .shape = {1}, .fan_in = 4, .offset = 16}};
}

PartSettings part(std::vector<std::string> blocks, std::string scheme) {
  PartSettings p;
  p.blocks = std::move(blocks), p.scheme = std::move(scheme);
  return p;
}

Recipe recipe(std::map<std::string, PartSettings> parts, std::vector<std::string> freeze = {}) {
  return make_recipe(parts, freeze, two_layers(), {});
}

TEST(Recipe, PartsAreContiguousWhateverTheirBlocks) {
  const Recipe r = recipe({{"weights", part({"*", "!*.bias"}, "BAOAB")}, {"biases", part({"*.bias"}, "BARAB")}});
  ASSERT_EQ(r.parts.size(), 2u);
  EXPECT_EQ(r.parts[0].name, "biases");
  EXPECT_EQ(r.parts[0].size, 5u);
  EXPECT_EQ(r.parts[1].offset, 5u);
  EXPECT_EQ(r.parts[1].size, 12u);
  EXPECT_EQ(r.blocks[1].name, "layer2.bias");
  EXPECT_EQ(r.blocks[1].offset, 4u);
}

TEST(Recipe, FrozenBlocksLeaveTheirPartAndFrozenEntriesStay) {
  const Recipe r =
      recipe({{"all", part({"*"}, "BAOAB")}}, {"layer1.bias=0.5", "layer1.weight[3,1]", "layer2.weight[2]=-1"});
  EXPECT_EQ(r.parts[0].size, 13u);
  EXPECT_EQ(r.parts[0].frozen, (std::vector<std::uint32_t>{7, 10}));
  EXPECT_EQ(r.parts[0].freedom(), 11u);
  EXPECT_EQ(r.blocks.back().name, "layer1.bias");
  EXPECT_EQ(r.fixed.size(), 5u);
  EXPECT_EQ(r.fixed.at(10), -1);
  EXPECT_EQ(r.fixed.at(13), 0.5);
}

TEST(Recipe, MistakesAreNamed) {
  EXPECT_THAT(error_of([] {
                recipe({{"a", part({"*"}, "BAOAB")}, {"b", part({"layer1.*"}, "BAOAB")}});
              }),
              HasSubstr("block \"layer1.weight\" is in part \"a\" and in part \"b\""));
  EXPECT_THAT(error_of([] {
                recipe({{"a", part({"layer1.*"}, "BAOAB")}});
              }),
              HasSubstr("block \"layer2.weight\" is in no part"));
  EXPECT_THAT(error_of([] {
                recipe({{"a", part({"*"}, "BAOAB")}, {"b", part({"layer3.*"}, "BAOAB")}});
              }),
              HasSubstr("\"layer3.*\"] matches no block"));
  EXPECT_THAT(
      error_of([] {
        recipe({{"a", part({"layer1.*"}, "BAOAB")}, {"b", part({"layer2.*"}, "ABOA")}});
      }),
      HasSubstr(
          "part \"b\": scheme \"ABOA\" has 1 joint letters but part \"a\" (\"BAOAB\") has 2; add '.' where \"b\""));
  EXPECT_THAT(error_of([] {
                recipe({{"a", part({"layer1.*"}, "R{BAB}")}, {"b", part({"layer2.*"}, "RB{AB}.")}});
              }),
              HasSubstr("read the same backwards"));
  EXPECT_THAT(error_of([] {
                recipe({{"a", part({"layer1.*"}, "R{BAB}.")}, {"b", part({"layer2.*"}, "R.{BAB}")}});
              }),
              HasSubstr("braces"));
  EXPECT_THAT(error_of([] { recipe({{"a", part({"*"}, "BAOAB")}}, {"layer9.*"}); }), HasSubstr("matches no block"));
  EXPECT_THAT(error_of([] { recipe({{"a", part({"*"}, "BAOAB")}}, {"layer1.weight[4,0]"}); }), HasSubstr("4 x 2"));
  EXPECT_THAT(error_of([] {
                recipe({{"a", part({"*"}, "BAOAB")}}, {"layer1.weight[x]"});
              }),
              HasSubstr("not understood"));
  auto bad = part({"*"}, "BAOAB");
  bad.step = Choice::number_of("constant", "value", -0.1);
  EXPECT_THAT(error_of([&] { recipe({{"a", bad}}); }), HasSubstr("part.a.step must be greater than 0, not -0.1"));
  auto infinite = part({"*"}, "UBU");
  infinite.friction = Choice::number_of("constant", "value", INFINITY);
  EXPECT_THAT(error_of([&] { recipe({{"a", infinite}}); }), HasSubstr("'U' needs a finite friction"));
}

TEST(Recipe, GlobsMatchAsInAShell) {
  EXPECT_TRUE(matches("layer1.*", "layer1.weight"));
  EXPECT_TRUE(matches("*.bias", "layer12.bias"));
  EXPECT_TRUE(matches("layer?.weight", "layer2.weight"));
  EXPECT_FALSE(matches("layer?.weight", "layer12.weight"));
  EXPECT_FALSE(matches("layer1", "layer1.weight"));
}

double value(const std::string& toml, double step, Horizon run = {100, 50}) {
  Choice choice;
  assign(choice, std::get<Value::Group>(parse_toml("x = " + toml, "test").is).at("x"), "x");
  return Schedule(choice, run).at(step);
}

TEST(Schedule, RowsFollowTheirFormulas) {
  EXPECT_EQ(value("0.3", 17), 0.3);
  EXPECT_EQ(value("\"posterior\"", 17), 0.02);
  EXPECT_EQ(value("{ name = \"posterior\", times = 0.5 }", 17), 0.01);
  EXPECT_DOUBLE_EQ(value("{ name = \"linear\", from = 1, to = 3 }", 50), 2);
  EXPECT_DOUBLE_EQ(value("{ name = \"linear\", from = 1, to = 3, over = 10 }", 50), 3);
  EXPECT_DOUBLE_EQ(value("{ name = \"cosine\", from = 1, to = 0 }", 25), (1 + std::sqrt(0.5)) / 2);
  EXPECT_DOUBLE_EQ(value("{ name = \"exponential\", from = 1, to = 0.01 }", 50), 0.1);
  EXPECT_DOUBLE_EQ(value("{ name = \"step\", from = 1, every = 30 }", 65), 0.01);
  EXPECT_DOUBLE_EQ(value("{ name = \"cyclical\", from = 1, every = 40 }", 100), 0.5);
  EXPECT_DOUBLE_EQ(value("{ name = \"polynomial\", from = 2, delay = 10, power = 0.5 }", 30), 1);
  EXPECT_DOUBLE_EQ(value("{ name = \"logarithmic\", from = 1 }", 2), 0.5);
  EXPECT_DOUBLE_EQ(value("{ name = \"warmup\", value = 2, over = 20 }", 4), 0.5);
  EXPECT_DOUBLE_EQ(value("{ name = \"warmup\", value = 2, over = 20 }", 60), 2);
  EXPECT_DOUBLE_EQ(value("{ name = \"warmup_cosine\", value = 2, over = 20, to = 0 }", 60), 1);
  EXPECT_DOUBLE_EQ(value("{ name = \"warmup_cosine\", value = 2, over = 20, to = 1 }", 100), 1);
}

TEST(Schedule, MistakesAreNamed) {
  EXPECT_THAT(error_of([] { value("\"cosin\"", 0); }), HasSubstr("no schedule \"cosin\""));
  EXPECT_THAT(error_of([] { value("\"cosin\"", 0); }), HasSubstr("did you mean \"cosine\"?"));
  EXPECT_THAT(error_of([] { value("{ name = \"cosine\", from = 1 }", 0); }), HasSubstr("\"cosine\" needs to"));
  EXPECT_THAT(error_of([] { value("{ name = \"cosine\", from = 1, too = 2 }", 0); }),
              HasSubstr("did you mean \"to\"?"));
}

}  // namespace
}  // namespace kelvin
