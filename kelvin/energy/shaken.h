// SPDX-License-Identifier: Apache-2.0
// Noise that is added to gradients before any letter reads them: a decorator, so that every optimizer can have it.
#pragma once
#include <functional>

#include "kelvin/energy/potential.h"

namespace kelvin {

struct BlockShake {
  std::string block;
  std::function<double(double evaluation)> variance;  // of each entry's noise
};

template <class Real>
std::unique_ptr<Potential<Real>> with_shaken_gradients(std::unique_ptr<Potential<Real>>, std::vector<BlockShake>);

}  // namespace kelvin
