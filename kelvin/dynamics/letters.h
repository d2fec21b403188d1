// SPDX-License-Identifier: Apache-2.0
// Letters: the elementary flows that schemes are spelled with. To add one, write the function and its row in
// letters.simd.cpp.
#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <string_view>

#include "kelvin/dynamics/part.h"

namespace kelvin {

// Moves a part for a time h. z holds `normals` standard normals per element, those of element i at z[normals * i].
template <class Real>
using Flow = void (*)(const Part<Real>&, double h, std::span<const Real> z);

// At a joint letter all parts meet. What the chain does there before the letters act:
enum class Joint {
  no,        // local: parts do not meet
  wait,      // meet, nothing else
  gradient,  // evaluate U and its gradient if q has moved
  energy,    // the tempering variable is told U and the kinetic energy of the others, which is its gradient
};

enum class Forgets { never, always, at_infinite_friction };  // whether p afterwards depends on p before

struct CompanionRow;

// What only some letters have or need.
struct LetterTraits {
  bool whole = false;     // needs a sum: is handed the whole part and never a slice
  bool adaptive = false;  // uses xi, sigma or eps
  bool moves_xi = false;
  int memory = 0;            // numbers per element that last from step to step: u, then v
  bool decays = false;       // applies weight_decay itself; for all others it is an energy, part of U
  bool scales = false;       // divides each entry of g by a size of its own: on a manifold g is made tangent before
  bool all_rows = false;     // means nothing with minibatches
  bool needs_noise = false;  // reads the covariance of the gradient's noise
  int piece = 0;             // the piece of U whose gradient it reads; 0 for all of it
  bool drifts = false;       // moves q along p: on a manifold, along that
  int look = 0;              // 1 begins a look ahead, -1 takes it back
  bool unit_speed = false;   // keeps |p| = 1
  bool everywhere = false;   // all parts have it at the same meetings
  bool proposes = false;     // may stay where it is: needs U itself, of every row, and one temperature
  int brace = 0;             // 1 begins a proposal, -1 decides on it
  bool travels = false;      // follows a path of many gradients
  bool own_time = false;     // sets the pace of all parts, and the weight of draws
};

// What a letter made at run time does, in either precision.
struct OwnFlow {
  std::function<void(const Part<float>&, double h, std::span<const float> z)> with_float;
  std::function<void(const Part<double>&, double h, std::span<const double> z)> with_double;
};

struct Letter : LetterTraits {
  char symbol;
  Joint joint;
  bool moves_q, moves_p;
  int normals;   // per element
  bool thermal;  // its noise is proportional to sqrt(T): at T = 0 none need be made
  Forgets forgets_p;
  Flow<float> flow_float;
  Flow<double> flow_double;
  std::string_view meaning;  // shown by `kelvin list letters`, and the source of docs/letters.md
  const OwnFlow* own = nullptr;
  const CompanionRow* companion = nullptr;  // whose letter it is, if it is one

  bool forgets(double friction) const {
    return forgets_p == Forgets::always || (forgets_p == Forgets::at_infinite_friction && std::isinf(friction));
  }
  bool local() const { return joint == Joint::no; }
  bool shaken(double T) const { return normals > 0 && !(thermal && T == 0); }
  bool bath() const { return local() && normals > 0 && !unit_speed; }
  void flow(const Part<float>& s, double h, std::span<const float> z) const {
    own ? own->with_float(s, h, z) : flow_float(s, h, z);
  }
  void flow(const Part<double>& s, double h, std::span<const double> z) const {
    own ? own->with_double(s, h, z) : flow_double(s, h, z);
  }
};

// Of letters at which only a companion of the chain acts.
template <class Real>
void no_flow(const Part<Real>&, double, std::span<const Real>) {}

// One for all parts together, at which a companion acts with the gradient at hand.
constexpr Letter companion_letter(char symbol, LetterTraits traits, std::string_view meaning) {
  traits.everywhere = true;
  return {traits, symbol,         Joint::gradient, false,           false,  0,
          false,  Forgets::never, no_flow<float>,  no_flow<double>, meaning};
}

// Those of the table in letters.simd.cpp, then those of the companions.
std::span<const Letter> letters();

// Letters made at run time, to be given to make_recipe besides the table's. They last as long as a recipe does.
class OwnLetters {
 public:
  // `traits` and the flags are those of the table; a letter added before with the same symbol is
  // replaced. Throws for a symbol that a string cannot contain.
  void add(const Letter& row, OwnFlow);
  std::span<const Letter> rows() const { return rows_; }

 private:
  std::vector<Letter> rows_;
  std::vector<std::unique_ptr<OwnFlow>> flows_;
};

// What a chain needs besides its parts: joint letters with memory of their own, adaptations, thermostats of all parts.
// Each is one file in chain/companions/ and one name in letters.cpp.
template <class Real>
class Chain;
template <class Real>
struct Companion;
struct CompanionRow {
  std::string_view name;
  std::span<const Letter> letters;  // at which it acts; empty where a setting asks for it
  // Null where the chain's recipe does not need it.
  std::unique_ptr<Companion<float>> (*make_float)(Chain<float>&);
  std::unique_ptr<Companion<double>> (*make_double)(Chain<double>&);
};
std::span<const CompanionRow* const> companion_rows();

}  // namespace kelvin
