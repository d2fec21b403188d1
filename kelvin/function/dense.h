// SPDX-License-Identifier: Apache-2.0
// Fully connected networks of any depth.
#pragma once
#include "kelvin/function/function.h"
#include "kelvin/function/settings.h"

namespace kelvin {

// The blocks of such a network, one after another: layer1.weight (outputs x inputs), layer1.bias, layer2.weight, ...
// Refuses sizes that make no network.
std::vector<Block> dense_blocks(const ModelSettings&);

template <class Real>
std::unique_ptr<Function<Real>> make_dense(const ModelSettings&);

}  // namespace kelvin
