// SPDX-License-Identifier: Apache-2.0
// Names for sets of a network's blocks, by their role and the depth of their layer: "@gains" or "@last" where blocks
// are chosen. To add one, add a row in block_groups.cpp.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kelvin/function/block.h"

namespace kelvin {

// The first and the last layer that do more than normalise what comes before them.
struct Ends {
  std::uint32_t first = 0, last = 0;
};

struct BlockGroup {
  std::string_view name;
  bool (*has)(const Block&, const Ends&);
  bool of_role;  // not of depth
  std::string_view meaning;
};
std::span<const BlockGroup> block_groups();

// Chooses among the blocks of one network.
class BlockChoice {
 public:
  explicit BlockChoice(std::span<const Block>);
  // By a name with * and ?, or by a group, "@gains"; an Error names the groups there are.
  bool matches(std::string_view pattern, const Block&) const;
  // By some of them in turn, of which those with a leading ! leave out.
  bool matches(const std::vector<std::string>& patterns, const Block&) const;

 private:
  Ends ends_;
};

}  // namespace kelvin
