// SPDX-License-Identifier: Apache-2.0
// Initialisers: where the parameters of a block start. To add one, write a function and add a row in initialiser.cpp.
#pragma once
#include "kelvin/core/choice.h"
#include "kelvin/core/noise.h"
#include "kelvin/function/block.h"

namespace kelvin {

using ReadBlock = std::function<std::vector<double>(const std::string& path, const Block&)>;

struct Initialiser {
  std::string_view name;
  std::span<const Parameter> parameters;
  std::vector<double> (*values)(const Choice&, const Block&, const Stream&, const ReadBlock&);
  std::string_view meaning;
};

std::span<const Initialiser> initialisers();

// block.size() numbers, row by row. Give each block a stream of its own; `read` is used by rows that read a file.
std::vector<double> initial_values(const Choice&, const Block&, const Stream&, const ReadBlock& read);

}  // namespace kelvin
