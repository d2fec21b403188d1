// SPDX-License-Identifier: Apache-2.0
// VGG networks (Simonyan and Zisserman 2015): convolutions of 3 x 3 pixels, halved images between their stages. Labels
// are those of torchvision, whose dense layers have two others between them.
#include "kelvin/function/architecture.h"

namespace kelvin {
namespace {

constexpr Parameter vgg_parameters[] = {
    {"depth", "", "11, 13, 16 or 19"},
    {"classes", "", "number of outputs"},
    {"width", "64", "channels of the first stage"},
    {"norm", "\"batch\"", KELVIN_NORM_MEANING},
    {"hidden", "0", "units of each of two dense layers before the last; 4096 in the paper, for images of 224 pixels"},
    {"drop", "0.5", "probability of dropout behind those"},
    {"activation", "\"relu\"", "of the hidden layers"},
    {"pool", "\"max\"", "max or average"},
};

Value vgg_layers(const Choice& numbers, const Shape&) {
  constexpr std::size_t depths[] = {11, 13, 16, 19};
  constexpr std::size_t convolutions[][5] = {{1, 1, 2, 2, 2}, {2, 2, 2, 2, 2}, {2, 2, 3, 3, 3}, {2, 2, 4, 4, 4}};
  constexpr std::size_t widest_stage = 3;
  const std::size_t row = chosen_depth(numbers, depths);
  const std::size_t hidden = whole_number(numbers, "hidden", 0);
  const NormAndActivation behind(numbers);
  const std::string pool = pool_of(numbers);
  Value::List list;
  for (std::size_t stage = 0; stage < 5; ++stage) {
    const std::size_t channels = whole_number(numbers, "width") << std::min(stage, widest_stage);
    for (std::size_t k = 0; k < convolutions[row][stage]; ++k) {
      add_layer(list, "{}: conv 3 {} padding 1", place_in("features", list), channels);
      behind.both(list, place_in("features", list), channels);
    }
    add_layer(list, "{} 2", pool);
  }
  add_layer(list, "flatten");
  for (std::size_t k = 0; hidden > 0 && k < 2; ++k) {
    add_layer(list, "classifier.{}: dense {}", 3 * k, hidden);
    behind.activation(list);
    if (numbers.number("drop") != 0) add_layer(list, "dropout {}", numbers.number("drop"));
  }
  add_layer(list, "classifier{}: dense {}", hidden > 0 ? ".6" : "", whole_number(numbers, "classes"));
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(vgg, vgg_parameters, vgg_layers,
                        "VGG network: \"vgg 16 10\" has 16 layers and 10 outputs, for images from 32 x 32 pixels on",
                        {{1, 32, 32}, "['vgg 11 2 width 1 activation tanh norm none pool average']"})

}  // namespace kelvin
