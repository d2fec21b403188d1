// SPDX-License-Identifier: Apache-2.0
// The generator of Radford, Metz and Chintala (2016): numbers to an image, by transposed convolutions that double it.
#include <bit>

#include "kelvin/function/architecture.h"

namespace kelvin {
namespace {

constexpr Parameter dcgan_generator_parameters[] = {
    {"size", "", "pixels of a side of the image: a power of 2 from 8 on"},
    {"channels", "3", "of the image"},
    {"width", "64", "channels before the last layer"},
    {"norm", "\"batch\"", KELVIN_NORM_MEANING},
    {"activation", "\"relu\"", "of the hidden layers"},
};

Value dcgan_generator_layers(const Choice& numbers, const Shape& input) {
  const std::size_t size = whole_number(numbers, "size", 8), bias = numbers.text("norm") == "none";
  if (!std::has_single_bit(size)) throw layer_error(numbers, "has size {}; give a power of 2", size);
  if (input.rank() != 1)
    throw layer_error(numbers, "takes a list of numbers, but what comes before it is {}; flatten it first",
                      input.text());
  const NormAndActivation behind(numbers);
  std::size_t channels = whole_number(numbers, "width") * size / 8;
  Value::List list;
  add_layer(list, "reshape {} 1", input.size());  // PyTorch's example is given such an image
  const std::size_t before = list.size();
  add_layer(list, "main.0: transposed_conv 4 {} bias {}", channels, bias);
  behind.both(list, "main.1", channels);
  for (std::size_t side = 4; 2 * side < size; side *= 2) {
    channels /= 2;
    add_layer(list, "{}: transposed_conv 4 {} stride 2 padding 1 bias {}", place_in("main", list, before), channels,
              bias);
    behind.both(list, place_in("main", list, before), channels);
  }
  add_layer(list, "{}: transposed_conv 4 {} stride 2 padding 1 bias {}", place_in("main", list, before),
            whole_number(numbers, "channels"), bias);
  add_layer(list, "tanh");
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(dcgan_generator, dcgan_generator_parameters, dcgan_generator_layers,
                        "generator of a DCGAN: a list of numbers becomes an image with values from -1 to 1",
                        {{3},
                         "['dcgan_generator 8 1 width 2 activation tanh', 'average_pool 4', 'flatten', 'dense 2']"})

}  // namespace kelvin
