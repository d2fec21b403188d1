// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/checks.h"

namespace kelvin {
namespace {

// Metropolis compares one energy with one temperature: on all the data, with every part equally hot.
void check_metropolis(const Recipe& recipe, bool full_batch) {
  const PartRecipe& first = recipe.parts.front();
  if (!first.scheme.proposes) return;
  if (!full_batch)
    throw Error(
        "part \"{}\": scheme \"{}\" has braces or N, which need every row and no mask at every evaluation; set "
        "batch.size = "
        "\"full\" or "
        "use a scheme without them such as BAOAB",
        first.name, first.scheme.text);
  for (const PartRecipe& part : recipe.parts) {
    const auto [low, high] = part.temperature.range();
    if (low != high || low != first.temperature.at(0) || low <= 0)
      throw Error(
          "part \"{}\": braces and N need one constant temperature above 0 for all parts; part \"{}\" has {}, this one "
          "{} to "
          "{}",
          part.name, first.name, first.temperature.at(0), low, high);
  }
}

void check_pieces(const Recipe& recipe, int pieces) {
  for (const PartRecipe& part : recipe.parts)
    for (const Move& m : part.scheme.moves)
      if (m.letter->piece > pieces || (m.letter->piece && pieces == 1))
        throw Error("part \"{}\": scheme \"{}\" kicks by pieces of U, but this U has one; use B in their place",
                    part.name, part.scheme.text);
}

void check_rows(const Recipe& recipe, bool full_batch) {
  for (const PartRecipe& part : recipe.parts)
    for (const Move& m : part.scheme.moves)
      if (m.letter->all_rows && !full_batch)
        throw Error(
            "part \"{}\": letter '{}' compares gradients of two steps, which needs every row at each; set "
            "batch.size = \"full\" or use another optimizer",
            part.name, m.letter->symbol);
}

// Paths of many leapfrogs and coordinates of other widths know of flat space only.
void check_manifolds(const Recipe& recipe) {
  for (const PartRecipe& part : recipe.parts) {
    if (part.constraints.empty()) continue;
    const bool travels = part.scheme.travels;
    if (travels || recipe.tuning.rescaling().shape != MassShape::none)
      throw Error("part \"{}\" has a constraint, which {} does not know how to keep; {}", part.name,
                  travels ? "letter N" : "adapt.metric",
                  travels ? "use a string with braces such as R{(BAB)10}" : "set adapt.metric = \"unit\"");
  }
}

void check_tempering(const Recipe& recipe) {
  for (std::size_t k = 0; k < recipe.parts.size(); ++k)
    for (const Move& m : recipe.parts[k].scheme.moves)
      if (m.letter->joint == Joint::energy && !(recipe.heats && k + 1 == recipe.parts.size()))
        throw Error("part \"{}\": letter '{}' is for the tempering variable; use B here", recipe.parts[k].name,
                    m.letter->symbol);
}

}  // namespace

void check_recipe(const Recipe& recipe, bool all_rows, int pieces) {
  check_meetings(recipe.parts);
  check_metropolis(recipe, all_rows);
  check_rows(recipe, all_rows);
  check_pieces(recipe, pieces);
  check_manifolds(recipe);
  check_tempering(recipe);
}

}  // namespace kelvin
