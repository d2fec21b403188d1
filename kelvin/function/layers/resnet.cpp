// SPDX-License-Identifier: Apache-2.0
// Residual networks (He and others 2016): a stem, stages of residual blocks that halve the image and double the
// channels, the mean over the pixels, and a dense end. Labels are those of torchvision.
#include "kelvin/function/architecture.h"

namespace kelvin {
namespace {

constexpr Parameter resnet_parameters[] = {
    {"depth", "", "10, 18, 34 or 50; or 20, 32, 44 or 56: three stages for small images"},
    {"classes", "", "number of outputs"},
    {"width", "0", "channels of the first stage; 0: 64, or 16 with three stages"},
    {"norm", "\"batch\"", KELVIN_NORM_MEANING},
    {"stem", "\"auto\"",
     "\"3x3\"; or \"7x7\", which halves the image twice; auto: 3x3 with three stages or below 64 pixels"},
    {"activation", "\"relu\"", "of the hidden layers"},
};

struct ResnetStages {
  std::size_t depth, blocks[4];  // blocks: of each stage
  bool bottleneck = false;
  std::size_t count() const { return blocks[3] == 0 ? 3 : 4; }
};
constexpr ResnetStages resnet_stages[] = {{10, {1, 1, 1, 1}},       {18, {2, 2, 2, 2}}, {34, {3, 4, 6, 3}},
                                          {50, {3, 4, 6, 3}, true}, {20, {3, 3, 3}},    {32, {5, 5, 5}},
                                          {44, {7, 7, 7}},          {56, {9, 9, 9}}};

const ResnetStages& stages_of(const Choice& numbers) {
  std::vector<std::size_t> depths;
  for (const ResnetStages& stages : resnet_stages) depths.push_back(stages.depth);
  return resnet_stages[chosen_depth(numbers, depths)];
}

bool has_large_stem(const Choice& numbers, const ImageShape& image, const ResnetStages& stages) {
  constexpr std::size_t large = 64;  // pixels
  const std::string stem = numbers.text("stem");
  if (stem != "auto" && stem != "3x3" && stem != "7x7")
    throw layer_error(numbers, "has stem \"{}\"; give \"3x3\", \"7x7\" or auto", stem);
  if (stem == "auto") return stages.count() == 4 && std::min(image.height, image.width) >= large;
  return stem == "7x7";
}

struct ResnetConv {
  std::string label;
  std::size_t kernel, channels, stride = 1;
};

void add_resnet_conv(Value::List& to, const NormAndActivation& behind, const ResnetConv& conv) {
  add_layer(to, "{}: conv {} {} stride {} padding {} bias {}", conv.label, conv.kernel, conv.channels, conv.stride,
            conv.kernel / 2, behind.normalises() ? 0 : 1);
}

// A block that begins with so many channels and ends with others; a bottleneck has a quarter of those inside.
struct ResnetBlock {
  std::string label;
  bool bottleneck;
  std::size_t in, out, stride;
};

Value resnet_block(const NormAndActivation& behind, const ResnetBlock& block) {
  const std::size_t inside = block.bottleneck ? block.out / 4 : block.out;
  Value::List layers, shortcut;
  std::vector<ResnetConv> convs = {{"conv", 3, inside, block.stride}, {"conv", 3, block.out}};
  if (block.bottleneck) convs = {{"conv", 1, inside}, {"conv", 3, inside, block.stride}, {"conv", 1, block.out}};
  for (std::size_t k = 1; k <= convs.size(); ++k) {
    ResnetConv& conv = convs[k - 1];
    conv.label += std::to_string(k);
    add_resnet_conv(layers, behind, conv);
    const std::string norm = fmt::format("bn{}", k);
    if (k < convs.size()) behind.both(layers, norm, conv.channels);
    else behind.norm(layers, norm, conv.channels);
  }
  if (block.stride != 1 || block.in != block.out) {
    add_resnet_conv(shortcut, behind, {"downsample.0", 1, block.out, block.stride});
    behind.norm(shortcut, "downsample.1", block.out);
  }
  return residual_block(block.label, std::move(layers), std::move(shortcut));
}

Value resnet_layers(const Choice& numbers, const Shape& input) {
  const ResnetStages& stages = stages_of(numbers);
  const NormAndActivation behind(numbers);
  const bool large_stem = has_large_stem(numbers, image_before(numbers, input), stages);
  const std::size_t given = whole_number(numbers, "width", 0), standard = stages.count() == 4 ? 64 : 16;
  const std::size_t width = given > 0 ? given : standard;
  Value::List list;
  add_resnet_conv(list, behind, {"conv1", large_stem ? 7u : 3u, width, large_stem ? 2u : 1u});
  behind.both(list, "bn1", width);
  if (large_stem) add_layer(list, "max_pool 3 stride 2 padding 1");
  std::size_t last = width;
  for (std::size_t k = 0; k < stages.count(); ++k)
    for (std::size_t i = 0; i < stages.blocks[k]; ++i) {
      const std::size_t out = (width << k) * (stages.bottleneck ? 4 : 1);
      list.push_back(resnet_block(behind, {.label = fmt::format("layer{}.{}", k + 1, i),
                                           .bottleneck = stages.bottleneck,
                                           .in = last,
                                           .out = out,
                                           .stride = k > 0 && i == 0 ? 2u : 1u}));
      behind.activation(list);
      last = out;
    }
  add_layer(list, "global_pool");
  add_layer(list, "fc: dense {}", whole_number(numbers, "classes"));
  return Value(std::move(list));
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(resnet, resnet_parameters, resnet_layers,
                        "residual network: \"resnet 18 10\" has 18 layers and 10 outputs",
                        {{1, 4, 4}, "['resnet 10 2 width 1 activation tanh norm none']"})

}  // namespace kelvin
