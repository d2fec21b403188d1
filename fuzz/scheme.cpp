// SPDX-License-Identifier: Apache-2.0
// Lines: the scheme of part "a", its blocks, the scheme of part "b", its blocks, an entry of model.freeze.
#include <cmath>

#include "fuzz/target.h"
#include "kelvin/dynamics/recipe.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  std::vector<std::string> lines(1);
  int digits = 0;
  for (const char c : text_of(data, size)) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 3) return 0;  // long repeats cost the time of many inputs; tests/hostile_test.cpp has them
    if (c == '\n') lines.emplace_back();
    else lines.back() += c;
  }
  lines.resize(std::max<std::size_t>(lines.size(), 5));
  survives([&] {
    std::map<const Letter*, double> shares;
    for (const Move& m : parse_scheme(lines[0]).moves) shares[m.letter] += m.share;
    for (const auto& [letter, share] : shares) must(std::abs(share - 1) < 1e-9);
  });
  return survives([&] {
    std::map<std::string, PartSettings> parts;
    parts["a"].scheme = lines[0], parts["a"].blocks = {lines[1]};
    if (!lines[2].empty()) parts["b"].scheme = lines[2], parts["b"].blocks = {"*", "!" + lines[3]};
    const std::vector<std::string> freeze(lines.begin() + 4, lines.end() - (lines[4].empty() ? 1 : 0));
    std::vector<Block> blocks = {{.name = "layer1.weight", .shape = {3, 2}, .layer = 1, .fan_in = 2},
                                 {.name = "layer1.bias", .shape = {3}, .layer = 1, .fan_in = 2, .offset = 6},
                                 {.name = "layer2.weight", .shape = {1, 3}, .layer = 2, .fan_in = 3, .offset = 9},
                                 {.name = "layer2.bias", .shape = {1}, .layer = 2, .fan_in = 3, .offset = 12}};
    const Recipe recipe = make_recipe(parts, freeze, blocks, {});
    must(recipe.size == 13 && recipe.blocks.size() == blocks.size());
    for (const PartRecipe& part : recipe.parts)
      for (const std::uint32_t i : part.frozen) must(i < part.size);
  });
}
