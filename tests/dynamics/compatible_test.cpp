// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/compatible.h"

#include <gmock/gmock.h>

#include "tests/support.h"

namespace kelvin {
namespace {

std::string refusal(const std::vector<Trait>& used) {
  Uses uses;
  for (const Trait trait : used)
    for (const TraitRow& row : traits())
      if (row.trait == trait) uses.add(trait, std::string(row.name));
  try {
    uses.check();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Compatible, EveryPairOfARowIsRefusedWithBothNames) {
  for (const Incompatibility& rule : incompatibilities())
    for (const TraitRow& a : traits())
      for (const TraitRow& b : traits())
        if (rule.first.contains(a.trait) && rule.second.contains(b.trait)) {
          EXPECT_THAT(refusal({a.trait, b.trait}), testing::HasSubstr(std::string(a.name)));
          EXPECT_THAT(refusal({a.trait, b.trait}), testing::HasSubstr(std::string(b.name)));
        }
}

TEST(Compatible, NothingIsRefusedByItselfAndEveryTraitByASomething) {
  for (const TraitRow& a : traits()) {
    EXPECT_EQ(refusal({a.trait}), "") << a.name;
    const bool used = std::ranges::any_of(incompatibilities(), [&](const Incompatibility& rule) {
      return rule.first.contains(a.trait) || rule.second.contains(a.trait);
    });
    EXPECT_TRUE(used) << a.name << " is in no row";
  }
}

TEST(Compatible, RecipesSayWhatTheyUse) {
  const auto U = make_toy<double>(gaussian({1, 2}));
  const auto refused = [&](const PartSettings& part, const std::function<void(Recipe&)>& change = {}) {
    Recipe recipe = recipe_for(*U, part);
    if (change) change(recipe);
    try {
      Uses(recipe).check();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(moving("BAOAB", 0.1)), "");
  EXPECT_EQ(refused(moving("R{BAB}", 0.1)), "");
  const auto jittered = [](Recipe& recipe) { recipe.tuning.jitter.step = 0.1; };
  EXPECT_EQ(refused(moving("R{BAB}", 0.1), jittered), "");
  EXPECT_THAT(refused(moving("BAOAB", 0.1), jittered),
              testing::HasSubstr("[jitter] does not go with scheme \"BAOAB\""));
  EXPECT_THAT(refused(moving("R{BAB}", 0.1, 1, 0)), testing::HasSubstr("one constant temperature above 0"));
  EXPECT_THAT(refused(moving("ZBAOABZ", 0.1), [](Recipe& r) { r.tuning.adapt.step = true; }),
              testing::HasSubstr("use [tempo]"));
}

}  // namespace
}  // namespace kelvin
