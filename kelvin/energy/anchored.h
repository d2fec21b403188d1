// SPDX-License-Identifier: Apache-2.0
// Control variates (Johnson and Zhang 2013): the gradient of a minibatch, less its own at an anchor, plus that of all
// rows there. Its mean over batches is the gradient of all rows, its noise that of a difference, which is small as long
// as q is near the anchor.
#pragma once
#include "kelvin/energy/potential.h"

namespace kelvin {

// The anchor is put to q at evaluations 0, every, 2 every, ...
template <class Real>
std::unique_ptr<Potential<Real>> with_anchor(std::unique_ptr<Potential<Real>> inner, std::uint64_t every);

}  // namespace kelvin
