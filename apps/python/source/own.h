// SPDX-License-Identifier: Apache-2.0
// Potentials and letters that are Python functions.
#pragma once
#include "apps/python/source/callback.h"
#include "kelvin/run/model.h"

namespace kelvin::python {

// How a potential sees its arrays.
enum class Lending {
  copies,  // arrays of its own, kept from call to call: it may keep what it is given
  views,   // the memory of the chain itself, good during the call: for functions that keep nothing
};

struct OwnPotentialSettings {
  std::string name;
  Shared function;            // (q, rows, g, piece of randomness) -> U, writes g: dicts of arrays by the block's name
  std::vector<Block> blocks;  // without offsets
  std::size_t rows = 0;
  bool random = false;
  Lending lending = Lending::copies;
  bool flat = false;  // copies, side by side: under the name "*" it is given all of them as one array
};

// Reads {"name": str, "function": f, "blocks": [{"name", "shape", "role"?, "layer"?}], "rows", "random", "views",
// "flat"}.
OwnPotentialSettings read_potential(nb::dict);

// In both precisions.
void add_potential(Model&, const OwnPotentialSettings&, std::shared_ptr<Raised>);

// Reads {"symbol", "function", "moves", "normals", "thermal", "gradient", "forgets", "meaning"}: a function of
// (q, p, g, h, normals, constants) that writes q and p.
void add_letter(OwnLetters&, nb::dict, std::shared_ptr<Raised>);

// "potential" (a dict or None) and "letters" (a list): what a run is given; null if it is nothing.
std::shared_ptr<const Model> model_of(nb::handle potential, nb::handle letters, std::shared_ptr<Raised>);

}  // namespace kelvin::python
