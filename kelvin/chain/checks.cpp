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
        "part \"{}\": scheme \"{}\" has braces or N, which need every row, no mask and no gradient_noise at "
        "every evaluation; set batch.size = \"full\" or use a scheme without them such as BAOAB",
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
            "part \"{}\": letter '{}' compares gradients or energies of two points, which needs every row at each; set "
            "batch.size = \"full\" or use another letter",
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

// p of unit length moves in E = U/T as one.
void check_unit_speed(const Recipe& recipe) {
  for (const PartRecipe& part : recipe.parts) {
    if (!part.scheme.unit_speed) continue;
    const auto refuse = [&](const std::string& what) {
      throw Error("part \"{}\": scheme \"{}\" gives p unit length, which needs {}", part.name, part.scheme.text, what);
    };
    if (recipe.parts.size() > 1) refuse(fmt::format("one part for all that moves, not {}", recipe.parts.size()));
    if (!part.constraints.empty()) refuse("a part without constraints; use BAOAB with them");
    if (!part.frozen.empty()) refuse("whole blocks: freeze all of a block or none of it");
    if (part.size < 2) refuse("at least 2 parameters, not 1");
    const auto [low, high] = part.temperature.range();
    if (low != high || low <= 0)
      refuse(fmt::format("a constant temperature above 0, not one from {} to {}", low, high));
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

// What is learnt or drawn for one way to move.
void check_phases(const Recipe& recipe) {
  if (recipe.later.empty()) return;
  const Tuning& tuning = recipe.tuning;
  if (tuning.jitter.step > 0 || tuning.jitter.length > 0 || tuning.learns())
    throw Error("[adapt] and [jitter] need one way to move from beginning to end; leave out the phases or them");
  for (const PartRecipe& part : recipe.parts)
    for (const Move& move : part.scheme.moves)
      if (move.letter->needs_noise)
        throw Error("letter {} needs one way to move from beginning to end; leave out the phases", move.letter->symbol);
}

}  // namespace

void check_recipe(const Recipe& recipe, bool all_rows, int pieces) {
  check_meetings(recipe.parts);
  check_metropolis(recipe, all_rows);
  check_rows(recipe, all_rows);
  check_pieces(recipe, pieces);
  check_manifolds(recipe);
  check_tempering(recipe);
  check_unit_speed(recipe);
  check_tempo(recipe);
  check_phases(recipe);
}

}  // namespace kelvin
