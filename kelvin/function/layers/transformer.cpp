// SPDX-License-Identifier: Apache-2.0
// A transformer on words: embedding, positions, blocks with normalisation first, one more at the end, and a number for
// each word, its weight that of the embedding if tied. Labels of the blocks are those of PyTorch's TransformerEncoder.
#include "kelvin/function/architecture.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

constexpr Parameter transformer_parameters[] = {
    {"vocabulary", "", "number of words"},
    {"width", "", "numbers of a step"},
    {"depth", "", "number of blocks"},
    {"heads", "", "of each block"},
    {"units", "0", "between the fully connected layers of each block; 0: four times the width"},
    {"causal", "1", "1: a step sees itself and those before it only"},
    {"tied", "1", "1: the weight of the outputs is that of the embedding"},
    {"activation", "\"relu\"", "a row of `kelvin list activations`"},
};

Value transformer_layers(const Choice& c, const Shape&) {
  const std::size_t words = whole_number(c, "vocabulary"), width = whole_number(c, "width");
  const std::size_t given = whole_number(c, "units", 0), units = given > 0 ? given : 4 * width;
  Value::List list;
  add_layer(list, "embedding: embedding {} {}", words, width);
  add_layer(list, "positions: positional");
  for (std::size_t k = 0, depth = whole_number(c, "depth"); k < depth; ++k)
    add_layer(list, "encoder.layers.{}: transformer_block {} {} causal {} activation {}", k, whole_number(c, "heads"),
              units, int(is_set(c, "causal")), c.text("activation"));
  add_layer(list, "encoder.norm: layer_norm");
  if (is_set(c, "tied")) add_layer(list, "head: tied");
  else add_layer(list, "head: dense {}", words);
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(
    transformer, transformer_parameters, transformer_layers,
    "a transformer on words: a number for each word at each step",
    {{3},
     "['transformer 4 4 2 2 3 activation tanh', 'transformer_block 2 3 activation tanh', 'last_step', "
     "'dense 2']",
     4})

}  // namespace kelvin
