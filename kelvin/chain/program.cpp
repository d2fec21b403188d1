// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/program.h"

#include <algorithm>

namespace kelvin {
namespace {

// Where each joint letter of a scheme stands, between 0 and the end.
std::vector<std::size_t> segments_of(const Scheme& scheme) {
  std::vector<std::size_t> out = {0};
  for (std::size_t k = 0; k < scheme.moves.size(); ++k)
    if (!scheme.moves[k].letter->local()) out.push_back(k);
  out.push_back(scheme.moves.size());
  return out;
}

bool moves_before_meeting(const Scheme& scheme) {
  for (const Move& move : scheme.moves) {
    if (!move.letter->local()) return false;
    if (move.letter->moves_q) return true;
  }
  return false;
}

std::vector<char> wanted_blocks(const Recipe& recipe, const std::vector<char>& readers) {
  std::vector<char> wanted;
  for (const Block& block : recipe.blocks) {
    const auto part = recipe.part_of.find(block.name);
    wanted.push_back(0);
    for (std::size_t k = 0; k < recipe.parts.size() && part != recipe.part_of.end(); ++k)
      wanted.back() |= char(readers[k] && recipe.parts[k].name == part->second);
  }
  return wanted;
}

}  // namespace

Program::Program(Recipe given)
    : recipe([&] {
        given.later.clear();
        return std::move(given);
      }()),
      alpha(recipe.tempered ? recipe.parts.size() - 1 : recipe.parts.size()) {
  const std::size_t parts = recipe.parts.size();
  for (const PartRecipe& part : recipe.parts) {
    segments.push_back(segments_of(part.scheme));
    starts_still &= !moves_before_meeting(part.scheme);
  }
  Meeting& before = meetings.emplace_back();
  before.letters.assign(parts, nullptr);
  before.readers.assign(parts, 1);
  before.wanted.assign(recipe.blocks.size(), 1);
  for (std::size_t m = 1; m + 1 < segments.front().size(); ++m) {
    Meeting& meeting = meetings.emplace_back();
    for (std::size_t k = 0; k < parts; ++k)
      meeting.letters.push_back(recipe.parts[k].scheme.moves[segments[k][m]].letter);
    meeting.move = &recipe.parts.front().scheme.moves[segments.front()[m]];
    const bool by_energy = meeting.letters.back()->joint == Joint::energy;  // of what the others are at
    for (std::size_t k = 0; k < parts; ++k) {
      const Letter& letter = *meeting.letters[k];
      meeting.readers.push_back(by_energy ? k != alpha : letter.joint != Joint::wait);
      if (letter.joint == Joint::gradient && !letter.everywhere) meeting.piece = letter.piece;
    }
    meeting.wanted = wanted_blocks(recipe, meeting.readers);
  }
  for (const Move& move : scheme().moves)
    if (scheme().proposes && move.letter->moves_q) leap_share = move.share;
}

}  // namespace kelvin
