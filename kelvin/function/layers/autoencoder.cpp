// SPDX-License-Identifier: Apache-2.0
// An image to a few numbers, and these to an image again: two convolutions that halve it, and their mirror image.
#include "kelvin/function/architecture.h"

namespace kelvin {
namespace {

constexpr Parameter autoencoder_parameters[] = {
    {"code", "", "numbers between the two halves"},
    {"width", "16", "channels behind the first convolution"},
    {"norm", "\"none\"", KELVIN_NORM_MEANING},
    {"activation", "\"relu\"", "of the hidden layers"},
};

Value autoencoder_layers(const Choice& numbers, const Shape& input) {
  const ImageShape image = image_before(numbers, input);
  if (image.height % 4 != 0 || image.width % 4 != 0)
    throw layer_error(numbers, "takes images whose height and width can be divided by 4, but this one has {} x {}",
                      image.height, image.width);
  const NormAndActivation behind(numbers);
  const std::size_t width = whole_number(numbers, "width"), height = image.height / 4, along = image.width / 4;
  Value::List list;
  for (const std::size_t channels : {width, 2 * width}) {
    add_layer(list, "{}: conv 3 {} stride 2 padding 1", place_in("encoder", list), channels);
    behind.both(list, place_in("encoder", list), channels);
  }
  add_layer(list, "flatten");
  add_layer(list, "{}: dense {}", place_in("encoder", list), whole_number(numbers, "code"));
  const std::size_t encoder = list.size();
  add_layer(list, "decoder.0: dense {}", 2 * width * height * along);
  behind.activation(list);
  add_layer(list, "reshape {} {}x{}", 2 * width, height, along);
  add_layer(list, "{}: transposed_conv 4 {} stride 2 padding 1", place_in("decoder", list, encoder), width);
  behind.both(list, place_in("decoder", list, encoder), width);
  add_layer(list, "{}: transposed_conv 4 {} stride 2 padding 1", place_in("decoder", list, encoder), image.channels);
  add_layer(list, "flatten");
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(autoencoder, autoencoder_parameters, autoencoder_layers,
                        "convolutional autoencoder: its outputs are an image like its inputs, as a list",
                        {{1, 4, 4}, "['autoencoder 3 width 2 activation tanh']"})

}  // namespace kelvin
