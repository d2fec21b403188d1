// SPDX-License-Identifier: Apache-2.0
// The next word, or letter, after each one: an embedding, long short-term memory, and a number for each word.
#include "kelvin/function/architecture.h"

namespace kelvin {
namespace {

constexpr Parameter char_lstm_parameters[] = {
    {"vocabulary", "", "number of words"},
    {"numbers", "", "that stand for each word"},
    {"units", "", "of the long short-term memory"},
    {"layers", "1", "of it"},
};

Value char_lstm_layers(const Choice& c, const Shape&) {
  const std::size_t words = whole_number(c, "vocabulary");
  Value::List list;
  add_layer(list, "embedding: embedding {} {}", words, whole_number(c, "numbers"));
  add_layer(list, "lstm: lstm {} {}", whole_number(c, "units"), whole_number(c, "layers"));
  add_layer(list, "fc: dense {}", words);
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(char_lstm, char_lstm_parameters, char_lstm_layers,
                        "embedding, lstm and a number for each word at each step",
                        {{5}, "['char_lstm 4 2 3 layers 2', 'mean_over_steps', 'dense 2']", 4})

}  // namespace kelvin
