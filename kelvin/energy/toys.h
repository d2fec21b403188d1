// SPDX-License-Identifier: Apache-2.0
// Potentials with known answers, public so that any sampler can be tried on them: one block "q", no data. To add one,
// write its energy and its exact moments and add a row in toys.cpp.
#pragma once
#include "kelvin/core/choice.h"
#include "kelvin/energy/potential.h"

namespace kelvin {

// Averages over exp(-U / T), one entry per coordinate; nan where unknown.
struct Moments {
  std::vector<double> mean, variance;
  double energy;  // of U
};

struct ToyEnergy {
  std::size_t dimension;
  std::function<double(std::span<const double> q, std::span<double> g)> energy;  // returns U, writes its gradient
  std::vector<double> stiffness = {},
                      mean = {};    // or, if not empty: U = sum of stiffness (q - mean)^2 / 2, one for all or each
  std::vector<double> pulls = {};   // rows x dimension: what each row of "data" adds to the gradient; they sum to 0
  std::vector<double> pieces = {};  // or: U = (pieces[0] + pieces[1]) q^2 / 2, which B1 and B2 can tell apart
  std::vector<std::string> blocks = {"q"};  // more than one: each a single coordinate
};

struct Toy {
  std::string_view name;
  std::span<const Parameter> parameters;
  ToyEnergy (*energy)(const Choice&);
  Moments (*moments)(const Choice&, double temperature);
  std::string_view meaning;
};

std::span<const Toy> toys();
const Toy& toy_named(const Choice&);

template <class Real>
std::unique_ptr<Potential<Real>> make_toy(const Choice&);

Moments exact_moments(const Choice&, double temperature);

}  // namespace kelvin
