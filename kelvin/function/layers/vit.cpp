// SPDX-License-Identifier: Apache-2.0
// A vision transformer: patches of an image, a token for the class, positions, blocks with normalisation first, and a
// number for each class from the token.
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
  std::vector<std::string> names = {fmt::format("patches {}x{} {}", high, wide, width), "class_token", "positional"};
  const std::string block = fmt::format("transformer_block {} {} activation {}", whole_number(c, "heads"),
                                        given > 0 ? given : 4 * width, c.text("activation"));
  names.insert(names.end(), whole_number(c, "depth"), block);
  for (const std::string& name : {std::string("layer_norm"), std::string("first_step")}) names.push_back(name);
  names.push_back(fmt::format("dense {}", whole_number(c, "classes")));
  return Value(names);
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(vit, vit_parameters, vit_layers,
                        "a transformer on patches of an image: a number for each class",
                        {{2, 4, 4}, "['vit 2 4 2 2 3 units 3 activation tanh']"})

}  // namespace kelvin
