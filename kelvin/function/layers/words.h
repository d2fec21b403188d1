// SPDX-License-Identifier: Apache-2.0
// Inputs that are words: whole numbers below the size of a vocabulary.
#pragma once
#include "kelvin/core/error.h"

namespace kelvin {

template <class Real>
std::size_t word_of_input(Real x, std::size_t vocabulary) {
  if (!(x >= 0 && x < Real(vocabulary) && x == Real(std::size_t(x))))
    throw Error("layer \"embedding\" is given {} as a word, but has {} words; give whole numbers from 0 to {}", x,
                vocabulary, vocabulary - 1);
  return std::size_t(x);
}

}  // namespace kelvin
