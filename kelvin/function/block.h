// SPDX-License-Identifier: Apache-2.0
// What the parameters of a potential are: named arrays, without a convention in their names.
#pragma once
#include <cstdint>

#include "kelvin/data/shape.h"

namespace kelvin {

// What a block is for. Slack belongs to a constraint or to tempering: U does not see it, and no run stores it.
// Gains multiply what a layer has normalised. A buffer is what a layer remembers of the rows it has seen, such as
// running means: it is kept with every draw and never sampled.
enum class Role { weight, bias, gain, embedding, scale, coordinate, buffer, slack };

// What a state dict of PyTorch calls a block: a tensor, or several that lie stacked along its first extent.
using TorchNames = std::vector<std::string>;

// A named array of parameters, row by row: "layer1.weight", 50 x 784.
struct Block {
  std::string name;
  Shape shape = {1};
  Role role = Role::coordinate;
  std::uint32_t layer = 0;              // depth in its network, from 1; 0 outside networks
  std::size_t fan_in = 0, fan_out = 0;  // inputs and outputs of the units that share it; 0 outside networks
  std::size_t offset = 0;               // where it starts in q
  double neutral = 0;                   // where rules that have no scale for it let it start
  // One for each layer that has it; none outside networks. Of a layer that stands in no network: within that layer,
  // where its own name is another one.
  std::vector<TorchNames> torch = {};

  std::size_t size() const { return shape.size(); }
  bool slack() const { return role == Role::slack; }
  bool buffer() const { return role == Role::buffer; }
  // As a matrix, outputs x the rest; a list of numbers is one column.
  bool is_matrix() const { return shape.rank() > 1; }
  std::size_t rows() const { return shape[0]; }
  std::size_t columns() const { return size() / shape[0]; }
};

std::size_t parameter_count(std::span<const Block>);

const Block& block_named(const std::string& name, std::span<const Block>);

// Puts the blocks one after another, from 0 on.
void lay_out(std::vector<Block>&);

// Gives each of `mine` the offset of the block of that name in `given`, which must have the same shape.
void move_blocks(std::vector<Block>& mine, std::span<const Block> given);

// Offsets of `mine` among `given`.
std::vector<std::size_t> offsets_of(std::span<const Block> mine, std::span<const Block> given);

}  // namespace kelvin
