// SPDX-License-Identifier: Apache-2.0
// Priors: energies of single parameters, added inside U so that every letter and every acceptance test sees them. To
// add one, write its energy and slope and add a row in prior.cpp.
#pragma once
#include "kelvin/energy/likelihood.h"

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
  std::string_view meaning;
};

std::span<const Prior> priors();

// A row with its numbers, checked. A bare number (prior = 1.0) is a gaussian of that scale.
struct PriorNumbers {
  const Prior* row;
  std::vector<double> numbers;
  bool proper() const { return row->proper(numbers.data()); }
};
PriorNumbers prior_of(const Choice&);

struct BlockPrior {
  std::string block;
  Choice prior;
};

// U plus the sum of the prior energies over N, N the number of rows of data (1 without data); the gradient likewise.
template <class Real>
std::unique_ptr<Potential<Real>> with_priors(std::unique_ptr<Potential<Real>>, const std::vector<BlockPrior>&);

// Why exp(-U / T) of this network cannot be normalised, and what to do, in one sentence; empty if it can. Blocks
// without a prior in the list are flat; those that `freeze` names as a whole do not move. A toy can always be
// normalised.
std::string why_improper(const ModelSettings&, const Dataset&, const std::vector<BlockPrior>&);

}  // namespace kelvin
