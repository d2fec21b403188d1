// SPDX-License-Identifier: Apache-2.0
// What follows from a recipe and stays the same while it is followed: where the parts meet, who reads the gradient
// there, and what is true of all of them together.
#pragma once
#include "kelvin/dynamics/recipe.h"

namespace kelvin {

// All parts stand at a joint letter.
struct Meeting {
  const Move* move = nullptr;          // of the first part; the same letter in all if it is one for all parts
  std::vector<const Letter*> letters;  // of each part
  std::vector<char> readers;           // of the parts: whether it reads the gradient here
  std::vector<char> wanted;            // the same for each block, for the potential
  int piece = 0;                       // of U, whose gradient is read
};

struct Program {
  explicit Program(Recipe);

  const Recipe recipe;                             // without later phases
  std::vector<Meeting> meetings;                   // number 0 stands before the string: everybody reads
  std::vector<std::vector<std::size_t>> segments;  // of part k: moves [k][m] ... [k][m + 1] - 1 follow meeting m
  bool starts_still = true;  // no part moves before the first meeting, so the gradient there may be taken a step early
  double leap_share = 1;     // of the step, that one leapfrog takes where there is one to propose with
  std::size_t alpha;         // the part that is the tempering variable; behind the last one if there is none

  // Facts of all parts: braces, N, Z and unit length are for all of them, at the same meetings.
  const Scheme& scheme() const { return recipe.parts.front().scheme; }
  bool moves_bath(std::size_t part) const { return recipe.heats && part == alpha; }  // U does not depend on it
  std::uint64_t since_beginning(std::uint64_t steps) const { return steps - recipe.begins; }
};

}  // namespace kelvin
