// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/block.h"

#include "kelvin/core/choice.h"

namespace kelvin {

std::size_t parameter_count(std::span<const Block> blocks) {
  std::size_t n = 0;
  for (const Block& b : blocks) n += b.size();
  return n;
}

std::vector<std::size_t> shape_of(const Block& block) {
  if (block.vector) return {block.rows};
  return {block.rows, block.columns};
}

const Block& block_named(const std::string& name, std::span<const Block> blocks) {
  return row_named(name, blocks, "block");
}

void move_blocks(std::vector<Block>& mine, std::span<const Block> given) {
  for (Block& b : mine) {
    const Block& to = block_named(b.name, given);
    if (to.rows != b.rows || to.columns != b.columns)
      throw Error("block \"{}\" is {} x {} but was arranged as {} x {}; only its offset may change", b.name, b.rows,
                  b.columns, to.rows, to.columns);
    b.offset = to.offset;
  }
}

}  // namespace kelvin
