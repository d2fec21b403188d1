// SPDX-License-Identifier: Apache-2.0
// The network that [model] describes: a list of layers, or sizes of a fully connected one.
#pragma once
#include "kelvin/function/function.h"
#include "kelvin/function/layers.h"
#include "kelvin/function/settings.h"

namespace kelvin {

// Layers as they follow from the shape of a row of inputs, the activation of the output last; blocks are named
// layer1.weight, layer1.bias, layer2.weight, ... by the layers that have any. Refuses what makes no network.
std::vector<LayerPlan> network_plan(const ModelSettings&, const Shape& input);

// Layers that have weights.
std::size_t weighted_layers(const ModelSettings&);

// `input`: the shape of a row of the data.
template <class Real>
std::unique_ptr<Function<Real>> make_network(const ModelSettings&, const Shape& input);

// The kind of a layer with which the outputs of a row depend on the other rows in training; empty if there is none.
std::string layer_coupling_rows(const ModelSettings&, const Shape& input);

// The blocks of that network, and its number of outputs.
std::vector<Block> network_blocks(const ModelSettings&, const Shape& input);
std::size_t network_outputs(const ModelSettings&, const Shape& input);

}  // namespace kelvin
