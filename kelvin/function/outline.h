// SPDX-License-Identifier: Apache-2.0
// What a network is made of, layer by layer: shapes, parameters and work.
#pragma once
#include <limits>

#include "kelvin/core/table.h"
#include "kelvin/function/layers.h"
#include "kelvin/function/settings.h"

namespace kelvin {

// The layers of the network that the settings describe; of one given by sizes, those that a list would have named.
std::vector<LayerPlan> outlined_layers(const ModelSettings&, const Shape& input);

struct NetworkSize {
  std::size_t parameters = 0, statistics = 0;  // statistics: numbers in buffers, such as running means
  double multiply_adds = 0;                    // of a forward pass of one row
};
NetworkSize size_of(const std::vector<LayerPlan>&);

// "conv 3x3 16 padding same": as a run file has it, without the layers that it holds.
std::string layer_text(const Choice& numbers);

inline constexpr std::size_t every_depth = std::numeric_limits<std::size_t>::max();

// A row for each layer, with the shape of a row of its outputs, its parameters and its multiply-adds. Layers inside
// others follow them, indented, so deep; what lies deeper counts with the layer that holds it.
Table table_of_layers(const std::vector<LayerPlan>&, std::size_t most_depth = every_depth);

// Lines for the start of a run, without the last newline; few of them however large the network is.
std::string outline(const std::vector<LayerPlan>&, const Shape& input);

}  // namespace kelvin
