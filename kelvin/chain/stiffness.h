// SPDX-License-Identifier: Apache-2.0
// How near a walker is to the limit of stability.
#pragma once
#include "kelvin/chain/chain.h"

namespace kelvin {

// h^2 times the largest curvature of U in the walker's coordinates, h its step between two gradients: 4 is the limit of
// stability. By Lanczos' method, with `gradients` of them; from below.
template <class Real>
double stiffness(Chain<Real>&, int gradients = 12);

}  // namespace kelvin
