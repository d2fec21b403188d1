// SPDX-License-Identifier: Apache-2.0
// The discriminator of Radford, Metz and Chintala (2016): an image to one number, by convolutions that halve it. The
// number is what a sigmoid would make a probability of.
#include <bit>

#include "kelvin/function/architecture.h"

namespace kelvin {
namespace {

constexpr Parameter dcgan_discriminator_parameters[] = {
    {"size", "", "pixels of a side of the image: a power of 2 from 8 on"},
    {"width", "64", "channels behind the first layer"},
    {"norm", "\"batch\"", KELVIN_NORM_MEANING},
    {"activation", "\"leaky_relu\"", "of the hidden layers"},
};

Value dcgan_discriminator_layers(const Choice& numbers, const Shape&) {
  const std::size_t size = whole_number(numbers, "size", 8), bias = numbers.text("norm") == "none";
  if (!std::has_single_bit(size)) throw layer_error(numbers, "has size {}; give a power of 2", size);
  const NormAndActivation behind(numbers);
  std::size_t channels = whole_number(numbers, "width");
  Value::List list;
  add_layer(list, "main.0: conv 4 {} stride 2 padding 1 bias {}", channels, bias);
  behind.activation(list);
  for (std::size_t side = size / 2; side > 4; side /= 2) {
    channels *= 2;
    add_layer(list, "{}: conv 4 {} stride 2 padding 1 bias {}", place_in("main", list), channels, bias);
    behind.both(list, place_in("main", list), channels);
  }
  add_layer(list, "{}: conv 4 1 bias {}", place_in("main", list), bias);
  add_layer(list, "flatten");
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(dcgan_discriminator, dcgan_discriminator_parameters, dcgan_discriminator_layers,
                        "discriminator of a DCGAN: an image becomes one number, above 0 where it looks real",
                        {{1, 16, 16}, "['dcgan_discriminator 16 width 2 activation tanh']"})

}  // namespace kelvin
