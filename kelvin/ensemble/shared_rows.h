// SPDX-License-Identifier: Apache-2.0
// A potential that takes its rows in shares and adds their gradients pairwise, as a tree: ranks that each take a branch
// of it get the same bytes as one that takes them all.
#pragma once
#include "kelvin/ensemble/comm.h"
#include "kelvin/energy/potential.h"

namespace kelvin {

// `shares` is a power of two, and so is the number of ranks in the team, which is not larger. All ranks of a team
// evaluate the same points in the same order; the team outlives the potential and its clones.
template <class Real>
std::unique_ptr<Potential<Real>> with_shared_rows(std::unique_ptr<Potential<Real>>, std::size_t shares, Comm& team);

}  // namespace kelvin
