// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>

#include "kelvin/analysis/landscape/landscape.h"
#include "kelvin/dynamics/block_groups.h"

namespace kelvin {

std::vector<const Block*> chosen_blocks(std::span<const Block> blocks, const MovingBlocks& moving) {
  const BlockChoice choice(blocks);
  for (const std::string& pattern : moving.blocks)
    if (std::ranges::none_of(blocks, [&](const Block& b) { return choice.matches(pattern, b); })) {
      std::vector<std::string> names;
      for (const Block& b : blocks) names.push_back(b.name);
      throw Error("--blocks \"{}\" matches no block; the blocks are {}", pattern, fmt::join(names, ", "));
    }
  std::vector<const Block*> out;
  for (const Block& b : blocks) {
    const auto in_group = [&](const std::string& name) { return choice.matches("@" + name, b); };
    const auto named = [&](const std::string& pattern) { return choice.matches(pattern, b); };
    const bool of_group = moving.group.empty() || std::ranges::any_of(moving.group, in_group);
    if (of_group && std::ranges::any_of(moving.blocks, named)) out.push_back(&b);
  }
  if (out.empty())
    throw Error("--group {} has no block among those of --blocks \"{}\"; choose others", fmt::join(moving.group, ", "),
                fmt::join(moving.blocks, "\", \""));
  return out;
}

}  // namespace kelvin
