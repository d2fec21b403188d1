// SPDX-License-Identifier: Apache-2.0
// Fully connected networks of any depth: U is the mean loss over the rows of a batch. Priors are added elsewhere
// (prior.h).
#pragma once
#include "kelvin/energy/network.h"

namespace kelvin {

inline constexpr const char* log_scale_block = "noise.log_scale";

// The blocks of such a network, one after another: layer1.weight (outputs x inputs), layer1.bias, layer2.weight, ...
// and noise.log_scale when the loss learns a standard deviation. Refuses sizes that make no network.
std::vector<Block> mlp_blocks(const ModelSettings&);

// Keeps its own copy of the data, shared with its clones.
template <class Real>
std::unique_ptr<Network<Real>> make_mlp(const ModelSettings&, const Dataset&, const Remark&);

}  // namespace kelvin
