// SPDX-License-Identifier: Apache-2.0
// Wide residual networks (Zagoruyko and Komodakis 2016): norm and activation come before each convolution.
#include "kelvin/function/architecture.h"

namespace kelvin {
namespace {

constexpr Parameter wide_resnet_parameters[] = {
    {"depth", "", "6 n + 4 with n blocks in each of three stages: 16, 22, 28, 40"},
    {"factor", "", "how many times wider than a residual network of 16, 32 and 64 channels"},
    {"classes", "", "number of outputs"},
    {"norm", "\"batch\"", KELVIN_NORM_MEANING},
    {"activation", "\"relu\"", "of the hidden layers"},
    {"width", "16", "channels of the first layer"},
};

Value wide_resnet_layers(const Choice& numbers, const Shape&) {
  const std::size_t depth = whole_number(numbers, "depth"), width = whole_number(numbers, "width");
  if (depth < 10 || depth % 6 != 4)
    throw layer_error(numbers, "has depth {}; give 6 n + 4, such as 16, 22, 28 or 40", depth);
  const NormAndActivation before(numbers);
  const auto conv = [&](Value::List& to, const char* label, std::size_t kernel, std::size_t channels,
                        std::size_t stride) {
    add_layer(to, "{}: conv {} {} stride {} padding {} bias {}", label, kernel, channels, stride, kernel / 2,
              before.normalises() ? 0 : 1);
  };
  Value::List list;
  conv(list, "conv1", 3, width, 1);
  std::size_t last = width;
  for (std::size_t stage = 0; stage < 3; ++stage)
    for (std::size_t i = 0; i < (depth - 4) / 6; ++i) {
      const std::size_t channels = (whole_number(numbers, "factor") * width) << stage;
      const std::size_t stride = stage > 0 && i == 0 ? 2 : 1;
      const bool same = channels == last && stride == 1;
      const std::string label = fmt::format("block{}.layer.{}", stage + 1, i);
      Value::List layers, shortcut;
      if (same) before.both(layers, "bn1", last);
      else before.both(list, label + ".bn1", last);  // which the shortcut, a convolution, shares
      conv(layers, "conv1", 3, channels, stride);
      before.both(layers, "bn2", channels);
      conv(layers, "conv2", 3, channels, 1);
      if (!same) conv(shortcut, "convShortcut", 1, channels, stride);
      list.push_back(residual_block(label, std::move(layers), std::move(shortcut)));
      last = channels;
    }
  before.both(list, "bn1", last);
  add_layer(list, "global_pool");
  add_layer(list, "fc: dense {}", whole_number(numbers, "classes"));
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(wide_resnet, wide_resnet_parameters, wide_resnet_layers,
                        "wide residual network: \"wide_resnet 28 10 100\" is WRN-28-10 with 100 outputs",
                        {{1, 8, 8}, "['wide_resnet 10 2 2 width 1 activation tanh']"})

}  // namespace kelvin
