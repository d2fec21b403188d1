// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/layers.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "kelvin/function/activation.h"

namespace kelvin {

// To add a kind of layer, write layers/NAME.cpp and add its name.
// clang-format off
#define KELVIN_LAYERS(row) \
  row(dense) \
  row(layer_norm) \
  row(activation)
// clang-format on
#define KELVIN_DECLARE_LAYER(name) extern const LayerRow name##_layer_row;
#define KELVIN_LIST_LAYER(name) &name##_layer_row,
KELVIN_LAYERS(KELVIN_DECLARE_LAYER)

std::span<const LayerRow* const> layer_rows() {
  static constexpr const LayerRow* rows[] = {KELVIN_LAYERS(KELVIN_LIST_LAYER)};
  return rows;
}

const LayerRow& layer_named(const std::string& name, const std::string& where) {
  std::vector<std::string> known;
  for (const LayerRow* row : layer_rows()) {
    if (row->name == name) return *row;
    known.emplace_back(row->name);
  }
  for (const Activation& activation : activations()) known.emplace_back(activation.name);
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  throw Error("{}{}no layer \"{}\"; known: {}{}", where, where.empty() ? "" : ": ", name, list,
              suggestion(name, known));
}

namespace {

bool is_activation(const std::string& name) {
  return std::ranges::any_of(activations(), [&](const Activation& a) { return a.name == name; });
}

Value number_of(const std::string& word, const std::string& text, const std::string& where) {
  double x = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
  if (error != std::errc() || end != word.data() + word.size())
    throw Error("{}{}layer \"{}\": \"{}\" is no number; write numbers in their order, or name and number: \"dense 16\"",
                where, where.empty() ? "" : ": ", text, word);
  return placed(x, where);
}

}  // namespace

Choice layer_chosen(const Value& given) {
  Choice out;
  if (!given.text()) {
    assign(out, given, "model.layers");
  } else {
    const auto& text = std::get<std::string>(given.is);
    std::istringstream words(text);
    words >> out.name;
    out.where = given.where;
    if (!is_activation(out.name)) {
      const auto parameters = layer_named(out.name, out.where).parameters;
      std::size_t place = 0;
      for (std::string word; words >> word;) {
        const bool named = std::ranges::any_of(parameters, [&](const Parameter& p) { return p.name == word; });
        std::string value = word;
        if (named && !(words >> value)) throw Error("layer \"{}\": behind \"{}\" stands no number", text, word);
        if (!named && place == parameters.size())
          throw Error("layer \"{}\" has more numbers than \"{}\" takes ({})", text, out.name, parameters.size());
        out.values[named ? word : std::string(parameters[place++].name)] = number_of(value, text, given.where);
      }
    } else if (std::string more; words >> more) {
      throw Error("layer \"{}\": the activation \"{}\" takes no numbers", text, out.name);
    }
  }
  if (is_activation(out.name)) out = Choice("activation", {{"of", out.name}});
  return out.completed(layer_named(out.name, out.where).parameters, "layer");
}

}  // namespace kelvin
