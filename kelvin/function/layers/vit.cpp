// SPDX-License-Identifier: Apache-2.0
// A vision transformer: patches of an image, a token for the class, positions, blocks with normalisation first, and a
// number for each class from the token. Labels of the blocks are those of PyTorch's TransformerEncoder.
#include "kelvin/function/architecture.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

constexpr Parameter vit_parameters[] = {
    {"patch", "", "height and width of a patch"},
    {"width", "", "numbers of a step"},
    {"depth", "", "number of blocks"},
    {"heads", "", "of each block"},
    {"classes", "", "number of outputs"},
    {"units", "0", "between the fully connected layers of each block; 0: four times the width"},
    {"activation", "\"relu\"", "a row of `kelvin list activations`"},
};

Value vit_layers(const Choice& c, const Shape&) {
  const std::size_t width = whole_number(c, "width"), given = whole_number(c, "units", 0);
  const auto [high, wide] = height_and_width(c, "patch");
  Value::List list;
  add_layer(list, "conv_proj: patches {}x{} {}", high, wide, width);
  list.push_back(Value::Group{{"name", "class_token"}, {"label", Value::Group{{"token", "class_token"}}}});
  list.push_back(Value::Group{{"name", "positional"}, {"label", Value::Group{{"weight", "pos_embedding"}}}});
  for (std::size_t k = 0, depth = whole_number(c, "depth"); k < depth; ++k)
    add_layer(list, "encoder.layers.{}: transformer_block {} {} activation {}", k, whole_number(c, "heads"),
              given > 0 ? given : 4 * width, c.text("activation"));
  add_layer(list, "encoder.norm: layer_norm");
  add_layer(list, "first_step");
  add_layer(list, "head: dense {}", whole_number(c, "classes"));
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(vit, vit_parameters, vit_layers,
                        "a transformer on patches of an image: a number for each class",
                        {{2, 4, 4}, "['vit 2 4 2 2 3 units 3 activation tanh']"})

}  // namespace kelvin
