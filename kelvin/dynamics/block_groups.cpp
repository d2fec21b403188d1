// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/block_groups.h"

#include <algorithm>
#include <set>

#include "kelvin/core/choice.h"
#include "kelvin/dynamics/recipe.h"

namespace kelvin {
namespace {

constexpr BlockGroup all_block_groups[] = {
    {"first", [](const Block& b, const Ends& ends) { return b.layer <= ends.first; }, false,
     "the first layer, norms before it, and what is in no layer"},
    {"inner", [](const Block& b, const Ends& ends) { return b.layer > ends.first && b.layer < ends.last; }, false,
     "the layers between the first and the last"},
    {"last", [](const Block& b, const Ends& ends) { return b.layer > 0 && b.layer >= ends.last; }, false,
     "the last layer, and norms behind it"},
    {"weights", [](const Block& b, const Ends&) { return b.role == Role::weight; }, true, "matrices and kernels"},
    {"biases", [](const Block& b, const Ends&) { return b.role == Role::bias; }, true, "what layers add"},
    {"gains", [](const Block& b, const Ends&) { return b.role == Role::gain; }, true, "what norms multiply by"},
    {"embeddings", [](const Block& b, const Ends&) { return b.role == Role::embedding; }, true,
     "vectors of tokens and of places"},
    {"statistics", [](const Block& b, const Ends&) { return b.buffer(); }, true,
     "running means and variances, which nothing samples"},
};

// A layer with gains is a norm.
Ends ends_of(std::span<const Block> blocks) {
  std::set<std::uint32_t> layers;
  for (const Block& b : blocks) layers.insert(b.layer);
  layers.erase(0);
  for (const Block& b : blocks)
    if (b.role == Role::gain) layers.erase(b.layer);
  return layers.empty() ? Ends{} : Ends{*layers.begin(), *layers.rbegin()};
}

}  // namespace

std::span<const BlockGroup> block_groups() { return all_block_groups; }

BlockChoice::BlockChoice(std::span<const Block> blocks) : ends_(ends_of(blocks)) {}

bool BlockChoice::matches(std::string_view pattern, const Block& block) const {
  if (!pattern.starts_with('@')) return kelvin::matches(pattern, block.name);
  return row_named(pattern.substr(1), block_groups(), "group of blocks").has(block, ends_);
}

bool BlockChoice::matches(const std::vector<std::string>& patterns, const Block& block) const {
  bool in = false;
  for (const std::string& p : patterns) {
    if (p.starts_with('!')) in = in && !matches(std::string_view(p).substr(1), block);
    else in = in || matches(std::string_view(p), block);
  }
  return in;
}

}  // namespace kelvin
