// SPDX-License-Identifier: Apache-2.0
// The activations of a hidden layer of a trained network for given rows: data for the next network of a stack.
#pragma once
#include "kelvin/analysis/stored_run.h"

namespace kelvin {

// Values of hidden layer 1, 2, ... at parameters q of the run's network: rows x units.
template <class Real>
std::vector<Real> encoded(const Problem<Real>&, std::span<const Real> q, std::size_t layer, const Dataset&);

}  // namespace kelvin
