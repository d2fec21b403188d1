// SPDX-License-Identifier: Apache-2.0
// What the parameters of a potential are: named arrays.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kelvin {

// A named array of parameters, row by row: "layer1.weight", 50 x 784, where it starts in q.
struct Block {
  std::string name;
  std::size_t rows = 1, columns = 1, offset = 0;
  std::size_t fan_in = 0;  // inputs of each unit the block belongs to (initialisers scale by it); 0 outside networks
  bool vector = false;     // a list of `rows` numbers rather than a matrix: biases, coordinates
  bool slack = false;      // belongs to a constraint: U does not see it, and no run stores it
  std::size_t size() const { return rows * columns; }
};

std::size_t parameter_count(std::span<const Block>);
std::vector<std::size_t> shape_of(const Block&);

const Block& block_named(const std::string& name, std::span<const Block>);

// Gives each of `mine` the offset of the block of that name in `given`, which must have the same shape.
void move_blocks(std::vector<Block>& mine, std::span<const Block> given);

}  // namespace kelvin
