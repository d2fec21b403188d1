// SPDX-License-Identifier: Apache-2.0
// Priors: energies of single parameters, added inside U so that every letter and every acceptance test sees them. To
// add one, write its energy and slope and add a row in prior.cpp.
#pragma once
#include "kelvin/data/dataset.h"
#include "kelvin/function/block.h"
#include "kelvin/function/settings.h"

namespace kelvin {

struct Prior {
  // Adds the energies of q; adds `share` times their slopes to g.
  template <class Real>
  using Add = double (*)(std::span<const Real> q, const double* numbers, double share, std::span<Real> g);

  std::string_view name;
  std::span<const Parameter> parameters;
  double (*energy)(double q, const double* numbers);  // -log density up to a constant; numbers: as `parameters`
  double (*slope)(double q, const double* numbers);
  bool (*proper)(const double* numbers);             // can be normalised
  std::string_view (*fault)(const double* numbers);  // what is wrong with the numbers; empty if nothing
  Add<float> add_float;
  Add<double> add_double;
  bool by_fan_in;  // weights have the scale divided by the root of their inputs
  bool learned;    // and a scale that is learned for each layer
  std::string_view meaning;

  template <class Real>
  Add<Real> add() const {
    if constexpr (std::is_same_v<Real, float>) return add_float;
    else return add_double;
  }
};

std::span<const Prior> priors();

// A row with its numbers, checked. A bare number (prior = 1.0) is a gaussian of that scale.
struct PriorNumbers {
  const Prior* row;
  std::vector<double> numbers;
  bool proper() const { return row->proper(numbers.data()); }
  bool flat() const;  // no energy anywhere
};
PriorNumbers prior_of(const Choice&);

// Of a block: its weights may have another scale than its biases.
PriorNumbers prior_of(const Choice&, const Block&);

// Scales that a prior learns: a block of one number, the logarithm of its scale, for each layer with weights among
// these. None of most priors.
std::vector<Block> learned_scales(const Choice&, std::span<const Block>);
std::string name_of_scale(const Block&);      // that of the layer of these weights
Choice prior_of_scales(const Choice& prior);  // what such a block has as its own prior

struct BlockPrior {
  std::string block;
  Choice prior;
};

// Why exp(-U / T) of this network cannot be normalised, and what to do, in one sentence; empty if it can. Blocks
// without a prior in the list are flat; those that `freeze` names as a whole do not move. A toy can always be
// normalised.
std::string why_improper(const ModelSettings&, const Dataset&, const std::vector<BlockPrior>&);

}  // namespace kelvin
