// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/block.h"

#include "kelvin/core/choice.h"

namespace kelvin {

std::size_t parameter_count(std::span<const Block> blocks) {
  std::size_t n = 0;
  for (const Block& b : blocks) n += b.size();
  return n;
}

const Block& block_named(const std::string& name, std::span<const Block> blocks) {
  return row_named(name, blocks, "block");
}

void lay_out(std::vector<Block>& blocks) {
  std::size_t end = 0;
  for (Block& b : blocks) {
    b.offset = end;
    end += b.size();
  }
}

void move_blocks(std::vector<Block>& mine, std::span<const Block> given) {
  for (Block& b : mine) {
    const Block& to = block_named(b.name, given);
    if (to.shape != b.shape)
      throw Error("block \"{}\" is {} but was arranged as {}; only its offset may change", b.name, b.shape.text(),
                  to.shape.text());
    b.offset = to.offset;
  }
}

std::vector<std::size_t> offsets_of(std::span<const Block> mine, std::span<const Block> given) {
  std::vector<Block> moved(mine.begin(), mine.end());
  move_blocks(moved, given);
  std::vector<std::size_t> out;
  for (const Block& b : moved) out.push_back(b.offset);
  return out;
}

}  // namespace kelvin
