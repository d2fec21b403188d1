// SPDX-License-Identifier: Apache-2.0
// What layers of sequences ask of their input: steps x numbers, step after step.
#pragma once
#include "kelvin/function/layers.h"

namespace kelvin {

struct Sequence {
  std::size_t steps, numbers;
};

inline Sequence sequence_given(const Choice& layer, const Shape& input) {
  if (input.rank() != 2)
    throw Error(
        "{}{}layer \"{}\" takes a sequence (steps x numbers), but what comes before it is {}; begin with \"embedding\" "
        "for words, \"patches\" for an image, or give the data such a shape",
        layer.where, layer.where.empty() ? "" : ": ", layer.name, input.text());
  return {input[0], input[1]};
}

// A number of a row as one of so many words.
template <class Real>
std::size_t word_in(std::string_view layer, Real x, std::size_t words) {
  if (!(x >= 0 && x < Real(words) && x == Real(std::size_t(x))))
    throw Error("layer \"{}\" is given {} as a word, but has {} words; give whole numbers from 0 to {}", layer, x,
                words, words - 1);
  return std::size_t(x);
}

// Steps of a sequence, or the one of a list.
inline std::size_t steps_of(const Shape& input) { return input.rank() == 2 ? input[0] : 1; }

// A yes or no, written 1 or 0.
inline bool is_set(const Choice& layer, std::string_view parameter) { return layer.number(parameter) != 0; }

// One of two words.
inline bool is_first_word(const Choice& layer, std::string_view parameter, std::string_view first,
                          std::string_view second) {
  const std::string given = layer.text(parameter);
  if (given != first && given != second)
    throw Error("{}{}layer \"{}\": {} is \"{}\"; give \"{}\" or \"{}\"", layer.where, layer.where.empty() ? "" : ": ",
                layer.name, parameter, given, first, second);
  return given == first;
}

}  // namespace kelvin
