// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/checks.h"

#include "kelvin/dynamics/compatible.h"

namespace kelvin {
namespace {

void check_pieces(const Recipe& recipe, int pieces) {
  for (const PartRecipe& part : recipe.parts)
    for (const Move& m : part.scheme.moves)
      if (m.letter->piece > pieces || (m.letter->piece && pieces == 1))
        throw Error("part \"{}\": scheme \"{}\" kicks by pieces of U, but this U has one; use B in their place",
                    part.name, part.scheme.text);
}

void check_tempering(const Recipe& recipe) {
  for (std::size_t k = 0; k < recipe.parts.size(); ++k)
    for (const Move& m : recipe.parts[k].scheme.moves)
      if (m.letter->joint == Joint::energy && !(recipe.heats && k + 1 == recipe.parts.size()))
        throw Error("part \"{}\": letter '{}' is for the tempering variable; use B here", recipe.parts[k].name,
                    m.letter->symbol);
}

// p of unit length moves in E = U/T as one.
void check_unit_speed(const Recipe& recipe) {
  for (const PartRecipe& part : recipe.parts) {
    if (!part.scheme.unit_speed) continue;
    const auto refuse = [&](const std::string& what) {
      throw Error("part \"{}\": scheme \"{}\" gives p unit length, which needs {}", part.name, part.scheme.text, what);
    };
    if (!part.frozen.empty()) refuse("whole blocks: freeze all of a block or none of it");
    if (part.size < 2) refuse("at least 2 parameters, not 1");
    if (const auto [light, heavy] = part.mass.range(); light != 1 || heavy != 1) refuse("mass = 1");
  }
}

// Draws of one law have weights in one unit.
void check_tempo(const Recipe& recipe) {
  for (const Recipe& phase : recipe.later)
    if (phase.parts.front().scheme.own_time != recipe.parts.front().scheme.own_time)
      throw Error("letter Z gives draws weights, which need it in all phases or in none; \"{}\" and \"{}\" differ",
                  recipe.parts.front().scheme.text, phase.parts.front().scheme.text);
}

}  // namespace

void check_recipe(const Recipe& recipe, bool all_rows, int pieces) {
  check_meetings(recipe.parts);
  Uses uses(recipe);
  if (!all_rows) uses.add(Trait::minibatches, "a run with minibatches, masks or gradient_noise");
  uses.check();
  check_pieces(recipe, pieces);
  check_tempering(recipe);
  check_unit_speed(recipe);
  check_tempo(recipe);
}

}  // namespace kelvin
