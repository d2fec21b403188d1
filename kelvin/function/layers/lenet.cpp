// SPDX-License-Identifier: Apache-2.0
// LeNet-5 (LeCun and others 1998), with all channels joined and a dense end.
#include "kelvin/function/architecture.h"

namespace kelvin {

namespace {

constexpr Parameter lenet_parameters[] = {
    {"classes", "", "number of outputs"},
    {"activation", "\"tanh\"", "of the hidden layers"},
    {"pool", "\"average\"", "average or max"},
    {"width", "6", "channels behind the first convolution; the other layers are as wide in proportion"},
};

Value lenet_layers(const Choice& numbers, const Shape& input) {
  constexpr std::size_t full_size = 32;  // smaller images, such as digits of 28 x 28, get a border of two pixels
  const ImageShape image = image_before(numbers, input);
  const std::string activation = numbers.text("activation"), pool = pool_of(numbers);
  const std::size_t width = whole_number(numbers, "width");
  Value::List list;
  add_layer(list, "conv1: conv 5 {} padding {}", width, image.height < full_size || image.width < full_size ? 2 : 0);
  list.emplace_back(activation);
  add_layer(list, "{} 2", pool);
  add_layer(list, "conv2: conv 5 {}", 8 * width / 3);
  list.emplace_back(activation);
  add_layer(list, "{} 2", pool);
  add_layer(list, "flatten");
  for (std::size_t k = 1; k <= 2; ++k) {
    add_layer(list, "fc{}: dense {}", k, (k == 1 ? 20 : 14) * width);
    list.emplace_back(activation);
  }
  add_layer(list, "fc3: dense {}", whole_number(numbers, "classes"));
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(lenet, lenet_parameters, lenet_layers,
                        "LeNet-5: two convolutions and three dense layers, for images from 12 x 12 pixels on",
                        {{1, 12, 12}, "['lenet 2 width 1']"})

}  // namespace kelvin
