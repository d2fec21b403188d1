// SPDX-License-Identifier: Apache-2.0
// Features combine freely except for the rows of one table, the source of docs/compatible.md. To add a rule, add a bit
// to a row or a row in compatible.cpp.
#pragma once
#include "kelvin/dynamics/recipe.h"

namespace kelvin {

enum class Trait : std::uint32_t {
  minibatches = 1u << 0,  // an evaluation does not see every row
  noisy = 1u << 1,        // U depends on the evaluation: masks, gradient_noise, control variates
  uneven = 1u << 2,       // temperatures that change, differ from part to part, or are 0
  in_phases = 1u << 3,    // several ways to move, one after another
  several_parts = 1u << 4,
  constrained = 1u << 5,
  reparametrised = 1u << 6,  // coordinates that a warm-up finds
  finds_step = 1u << 7,
  finds_friction = 1u << 8,
  jittered = 1u << 9,
  proposes = 1u << 10,         // may stay where it is: { }, N
  unadjusted = 1u << 11,       // never does
  travels = 1u << 12,          // N
  own_time = 1u << 13,         // Z
  unit_speed = 1u << 14,       // T, P
  reads_noise = 1u << 15,      // V
  compares_points = 1u << 16,  // letters that mean nothing with minibatches
  splits_energy = 1u << 17,    // B1, B2
  remembers = 1u << 18,        // letters with memory of their own
  tempered = 1u << 19,
  switched = 1u << 20,
  exchanges = 1u << 21,
  shares_metric = 1u << 22,  // of walkers
  moves_walkers = 1u << 23,  // by Metropolis
  in_row_shares = 1u << 24,
  anchored = 1u << 25,   // control variates
  weighed = 1u << 26,    // draws carry weights
  certified = 1u << 27,  // two chains share their noise
};

constexpr std::uint32_t bit(Trait trait) { return std::uint32_t(trait); }
constexpr std::uint32_t operator|(Trait a, Trait b) { return bit(a) | bit(b); }
constexpr std::uint32_t operator|(std::uint32_t a, Trait b) { return a | bit(b); }

struct TraitRow {
  Trait trait;
  std::string_view name, meaning;
};
std::span<const TraitRow> traits();

// What has one of the first traits does not go with what has one of the second.
struct Traits {
  std::uint32_t bits;
  constexpr Traits(Trait one) : bits(bit(one)) {}
  constexpr Traits(std::uint32_t several) : bits(several) {}
  bool contains(Trait trait) const { return bits & bit(trait); }
};
struct Incompatibility {
  Traits first, second;
  std::string_view why, cure;
};
std::span<const Incompatibility> incompatibilities();

// What a run uses, each as its user wrote it.
class Uses {
 public:
  Uses() = default;
  explicit Uses(const Recipe&);  // its parts, their schemes, its tuning and its phases
  void add(Trait, std::string what);
  void check() const;  // throws for the first row of the table that is broken

 private:
  const std::string* find(Traits) const;
  std::map<Trait, std::string> what_;
};

}  // namespace kelvin
