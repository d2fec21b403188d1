// SPDX-License-Identifier: Apache-2.0
// Small networks of layers with their data, for tests of whole runs.
#pragma once
#include <fmt/format.h>

#include "tests/files.h"

namespace kelvin {

struct LayerRun {
  const char* name;
  std::string settings;  // [data] and [model]
};

inline const LayerRun layer_runs[] = {
    {"a conv net with batch norm and augmentation",
     "data = { file = \"images.csv\", shape = [1, 6, 6], augment = [\"flip\", \"crop 1\"] }\n"
     "model = { loss = \"softmax_cross_entropy\", prior = 1.0, layers = [\"conv 3 4\", \"batch_norm\", \"relu\", "
     "\"conv 3 4 padding same\", \"filter_response_norm\", \"flatten\", \"dense 3\"] }\n"},
    {"an LSTM",
     "data = { file = \"letters.txt\", text = { unit = \"characters\", steps = 8 } }\n"
     "model = { loss = \"softmax_cross_entropy\", prior = 1.0, layers = [\"embedding 4 5\", \"lstm 6\", \"dropout "
     "0.1\", \"dense 4\"] }\n"},
    {"a transformer",
     "data = { file = \"letters.txt\", text = { unit = \"characters\", steps = 8 } }\n"
     "model = { loss = \"softmax_cross_entropy\", prior = 1.0, layers = [\"embedding 4 6\", \"positional\", "
     "\"transformer_block 2 8 causal 1\", \"layer_norm\", \"dense 4\"] }\n"},
};

// The files that they name: 60 images of 6 x 6 in three classes, and 500 letters of four kinds.
inline void write_layer_data(const Directory& at) {
  std::uint32_t state = 1;
  const auto next = [&](std::uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
  };
  std::string images, letters;
  for (int c = 0; c < 36; ++c) images += fmt::format("p{},", c);
  images += "label\n";
  for (std::uint32_t row = 0; row < 60; ++row) {
    for (std::uint32_t c = 0; c < 36; ++c) images += fmt::format("{},", (c / 6 == row % 3 ? 5 : 0) + next(4));
    images += fmt::format("{}\n", row % 3);
  }
  for (int k = 0; k < 500; ++k) letters += char('a' + (k + next(2)) % 4);
  at.write("images.csv", images);
  at.write("letters.txt", letters);
}

}  // namespace kelvin
