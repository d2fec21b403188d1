// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/images.h"

namespace kelvin {

Error refused_layer(const Choice& layer, const std::string& sentence) {
  return Error("{}{}layer \"{}\" {}", layer.where, layer.where.empty() ? "" : ": ", layer.name, sentence);
}

ImageShape image_before(const Choice& layer, const Shape& input) {
  if (input.rank() != 3)
    throw layer_error(layer,
                      "takes images (channels x height x width), but what comes before it is {}; put a layer such as "
                      "\"reshape 1 28\" in between, or give the data a shape",
                      input.text());
  return {input[0], input[1], input[2]};
}

Pixels pixels_of(const Shape& input) {
  if (input.rank() == 3) return {input[1] * input[2], input[0]};
  const std::size_t channels = input[input.rank() - 1];
  return {input.size() / channels, channels};
}

ImageShape windowed(const Choice& layer, const ImageShape& input, const Windows& windows, std::size_t channels) {
  const auto& [down, along] = windows;
  const ImageShape output{channels, down.fitting(input.height), along.fitting(input.width)};
  if (output.pixels() == 0)
    throw layer_error(layer,
                      "looks at {} x {} pixels at once, but the image before it has {} x {} with its padding; use a "
                      "smaller kernel or size, or more padding",
                      down.extent(), along.extent(), input.height + down.before + down.after,
                      input.width + along.before + along.after);
  return output;
}

}  // namespace kelvin
