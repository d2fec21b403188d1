// SPDX-License-Identifier: Apache-2.0
// What every potential does with its list of blocks.
#pragma once
#include "kelvin/model/potential.h"

namespace kelvin {

std::size_t parameter_count(std::span<const Block>);
std::vector<std::size_t> shape_of(const Block&);

const Block& block_named(const std::string& name, std::span<const Block>);

// Gives each of `mine` the offset of the block of that name in `given`, which must have the same shape.
void move_blocks(std::vector<Block>& mine, std::span<const Block> given);

}  // namespace kelvin
