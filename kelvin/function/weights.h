// SPDX-License-Identifier: Apache-2.0
// Where the blocks of a function or a potential lie in q, or their slopes in g.
#pragma once
#include "kelvin/function/block.h"

namespace kelvin {

template <class Real>
struct Weights {
  Real* base = nullptr;
  const std::size_t* offsets = nullptr;  // one for each block, in the order in which its owner lists them
  Real* operator[](std::size_t block) const { return base + offsets[block]; }
};

}  // namespace kelvin
