// SPDX-License-Identifier: Apache-2.0
// Penalties: energies of a block that are added to U as they are; priors are divided by the number of rows. To add one,
// write its function and its row in penalty.cpp.
#pragma once
#include "kelvin/core/choice.h"
#include "kelvin/function/block.h"

namespace kelvin {

struct PenaltyNumbers {
  double strength = 0, radius = 0;  // radius: of those that have one
};

struct Penalty {
  // Returns the energy of the block's entries q and adds its gradient to g.
  template <class Real>
  using Add = double (*)(const Block&, std::span<const Real> q, PenaltyNumbers, std::span<Real> g);
  std::string_view name;
  std::span<const Parameter> parameters;
  Add<float> add_float;
  Add<double> add_double;
  std::string_view meaning;

  template <class Real>
  Add<Real> add() const {
    if constexpr (std::is_same_v<Real, float>) return add_float;
    else return add_double;
  }
};
std::span<const Penalty> penalties();

struct BlockPenalty {
  std::string block;
  Choice penalty;
};

// A row with its numbers, checked.
struct ChosenPenalty {
  const Penalty* row;
  PenaltyNumbers numbers;
};
ChosenPenalty penalty_of(const Choice&);

}  // namespace kelvin
