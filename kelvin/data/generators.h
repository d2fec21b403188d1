// SPDX-License-Identifier: Apache-2.0
// Datasets made by formula: inputs x1, x2, ..., target y. To add one, write its function and add its row to `all_generators` in
// generators.cpp. A dataset is a pure function of the seed and the parameters.
#pragma once
#include <cstdint>
#include <span>

#include "kelvin/core/choice.h"
#include "kelvin/data/dataset.h"

namespace kelvin {

// Random numbers by name: draw `place` of row i. `own` differs between the training, validation and test rows; `shared`
// is for what they have in common, such as the true weights of a regression.
struct Draws {
  std::uint64_t own = 0, shared = 0;
  std::size_t rows = 0;
  double uniform(std::uint16_t place, std::size_t i) const;
  double normal(std::uint16_t place, std::size_t i) const;
};

// A line that the points scatter about, or that runs between the classes.
struct Path {
  std::string name;
  std::vector<double> x, y;
  bool between = false;
};

struct Generator {
  std::string_view name;
  std::span<const Parameter> parameters;
  std::string_view meaning;
  Dataset (*draw)(const Choice& completed, const Draws&);
  std::vector<Path> (*paths)(const Choice& completed) = nullptr;  // for two inputs with a known geometry
};
std::span<const Generator> generators();

// Two-class sets have 0 and 1 as y; the reader of the settings decides whether these are numbers or classes.
Splits generate(const Choice&, std::uint64_t seed);

std::vector<Path> known_paths(const Choice&);  // none if the row has none

}  // namespace kelvin
