// SPDX-License-Identifier: Apache-2.0
// Schemes: how a string of letters becomes a list of moves. To name one, add a row to the table in scheme.cpp.
//
// A letter's share of the step is 1/(its occurrences): BAOAB gives B and A two halves. "B[2]AB" gives the first B twice
// the weight of the second. "(BAB)5" repeats; the step is always the time of the whole string. What stands in < > is
// taken back, so its letters share a step of their own.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "kelvin/dynamics/letters.h"

namespace kelvin {

inline constexpr double exact = std::numeric_limits<double>::infinity();
inline constexpr double no_law =
    std::numeric_limits<double>::quiet_NaN();  // no law to be right about, or no linear map to show it

// Where in a step p.p/m has the mean n T on a Gaussian, for any stable step. At a thermostat on any U: xi, whose mean
// does not drift, moves by eps h (p.p/m - n T) there and nowhere else.
enum class Kinetic { nowhere, on_step, after_bath, at_thermostat };

struct NamedScheme {
  std::string_view name, text;
  double order;     // of the error of <q^2> on a Gaussian; the tests measure it
  Kinetic kinetic;  // the tests measure it too
  std::string_view aliases, source;
};
std::span<const NamedScheme> schemes();

struct Move {
  const Letter* letter;
  double share;
  std::size_t occurrence = 0, occurrences = 1;  // of its letter in the string
};

// {(...)n}: all that stands in braces is one group of letters, n times.
struct Repeats {
  std::size_t first = 0, letters = 0, times = 0;
};

struct Scheme {
  std::string text;  // letters only
  std::vector<Move> moves;
  std::size_t kinetic_after = 0;  // the kinetic temperature is read before move number kinetic_after of the next pass
  bool kinetic_exact = false;
  bool has_momentum = false;  // some letter moves p
  bool adaptive = false;      // some letter uses xi, sigma or eps
  bool takes_sums = false;    // some letter needs the whole part
  bool proposes = false;      // some letter may stay where it is: braces, N
  bool travels = false;       // some letter follows a path of many gradients: N
  bool unit_speed = false;    // p has unit length
  bool own_time = false;      // some letter sets the pace: Z
  Repeats repeats = {};
  int memory = 0;  // the most that a letter keeps per element
};

// Accepts letters or the name of a known scheme, in any case. Letters made at run time may be given besides the
// table's.
Scheme parse_scheme(std::string_view text, std::span<const Letter> extra_letters = {});

}  // namespace kelvin
