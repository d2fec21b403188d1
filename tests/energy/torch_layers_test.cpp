// SPDX-License-Identifier: Apache-2.0
// Layers of images against PyTorch's (tests/torch_layers.py): outputs and all slopes, to what a float can hold of them.
#include <gtest/gtest.h>

#include <cmath>

#include "kelvin/core/toml.h"
#include "kelvin/function/image_order.h"
#include "kelvin/function/stack.h"
#include "kelvin/io/npy.h"

namespace kelvin {
namespace {

struct TorchCase {
  std::string name;
  std::size_t rows;
  Shape input;
  std::string_view layers;
  bool training = true;
  std::vector<std::size_t> order = {};  // of our blocks, where PyTorch's are listed in another one
};

std::vector<TorchCase> torch_cases() {
  std::vector<TorchCase> all;
  for (const std::size_t rows : {1, 5}) {
    const auto add = [&](std::string name, const Shape& input, std::string_view layers, bool training = true) {
      all.push_back({fmt::format("{}_{}", name, rows), rows, input, layers, training});
    };
    add("conv_1_3", {1, 5, 7}, "['conv 3 3']");
    add("conv_3_17", {3, 8, 5}, "['conv 3x2 17 stride 2 padding 1x0']");
    add("conv_17_5", {17, 3, 5}, "['conv 1 5 bias 0']");
    add("conv_17_1", {17, 5, 3}, "['conv 3 1 padding 1']");
    add("conv_dilated", {5, 7, 6}, "['conv 3 3 dilation 2 padding 2']");
    add("conv_wide_steps", {3, 7, 9}, "['conv 2 5 stride 3']");
    add("conv_same", {3, 6, 7}, "['conv 2x5 5 padding same dilation 1x2']");
    add("conv_groups", {6, 7, 5}, "['conv 3 15 stride 2x1 padding 1 groups 3']");
    add("conv_depthwise", {17, 5, 5}, "['conv 3 17 padding 1 groups 17']");
    add("transposed_1_3", {1, 3, 4}, "['transposed_conv 3 3']");
    add("transposed_3_17", {3, 3, 2}, "['transposed_conv 4 17 stride 2 padding 1']");
    add("transposed_17_5", {17, 2, 3}, "['transposed_conv 3x2 5 stride 2 padding 1 output_padding 1']");
    add("transposed_groups", {6, 2, 3}, "['transposed_conv 3 9 groups 3 dilation 2 bias 0']");
    add("transposed_far", {3, 3, 2}, "['transposed_conv 2 5 stride 3 output_padding 2x1']");
    add("max_pool", {5, 5, 6}, "['max_pool 2']");
    add("max_pool_padded", {17, 5, 7}, "['max_pool 3x2 stride 2 padding 1']");
    add("average_pool", {3, 5, 6}, "['average_pool 2']");
    add("average_pool_padded", {17, 5, 7}, "['average_pool 3x2 stride 1x2 padding 1']");
    add("global_pool", {17, 3, 5}, "['global_pool']");
    add("flatten", {5, 3, 2}, "['flatten']");
    add("reshape", {30}, "['reshape 3 5x2']");
    add("upsample", {5, 3, 2}, "['upsample 2x3']");
    add("group_norm", {15, 3, 5}, "['group_norm 3']");
    add("instance_norm", {5, 5, 3}, "['group_norm 5']");
    add("group_norm_list", {15}, "['group_norm 3']");
    add("filter_response_norm", {5, 3, 5}, "['filter_response_norm']");
    add("concatenate", {3, 3, 5}, "[{ concatenate = [['conv 1 1'], ['conv 3 5 padding 1'], []] }]");
    for (const std::size_t channels : {1, 3, 17}) {
      add(fmt::format("batch_norm_{}_training", channels), {channels, 3, 5}, "['batch_norm momentum 0.3']");
      add(fmt::format("batch_norm_{}_prediction", channels), {channels, 3, 5}, "['batch_norm momentum 0.3']", false);
    }
  }
  all.push_back({"batch_norm_list_training_5", 5, {5}, "['batch_norm']"});
  all.push_back({"residual_5",
                 5,
                 {3, 5, 6},
                 "[{ residual = ['conv 3 5 stride 2 padding 1', 'batch_norm'], shortcut = ['conv 1 5 stride 2'] }]",
                 true,
                 {0, 1, 2, 3, 6, 7}});
  return all;
}

template <class Real>
struct TorchNumbers {
  std::span<const double> left;
  std::vector<Real> next(std::size_t count) {
    EXPECT_LE(count, left.size());
    const auto mine = left.first(std::min(count, left.size()));
    left = left.subspan(mine.size());
    return {mine.begin(), mine.end()};
  }
  // PyTorch's images have their channels first.
  std::vector<Real> next_rows(std::size_t rows, const Shape& shape) {
    const std::vector<Real> given = next(rows * shape.size());
    std::vector<Real> turned(given.size());
    channels_last(planes_of(shape), rows, given.data(), turned.data());
    return turned;
  }
};

// In float, with room for what cancels: a bias before batch norm has the slope 0, a sum of some hundred slopes, each of
// which is rounded by 1e-7 of itself.
template <class Real>
void expect_near(std::span<const Real> ours, const std::vector<Real>& theirs, const std::string& what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    error += std::pow(double(ours[i]) - double(theirs[i]), 2);
    norm += std::pow(double(theirs[i]), 2);
  }
  EXPECT_LE(std::sqrt(error), 1e-5 * std::sqrt(norm) + 4e-6) << what;
}

template <class Real>
void expect_torch(const TorchCase& it, const Array& reference) {
  const Value file = parse_toml(fmt::format("layers = {}", it.layers), "test");
  auto plans = plan_layers(file.at("layers"), it.input);
  number_layers(plans);
  const Shape output = output_of(plans, it.input);
  std::vector<Block> blocks;
  for (const LayerPlan& plan : plans) add_blocks(plan, blocks);
  lay_out(blocks);
  const auto offsets = offsets_of(blocks, blocks);

  TorchNumbers<Real> numbers{reference.values};
  const auto x = numbers.next_rows(it.rows, it.input), y = numbers.next_rows(it.rows, output);
  const auto dy = numbers.next_rows(it.rows, output), dx = numbers.next_rows(it.rows, it.input);
  std::vector<Real> w(parameter_count(blocks), Real(0.5)), g(w.size(), Real(NAN)), lost(w.size(), Real(NAN));
  std::vector<std::size_t> order = it.order;
  if (order.empty())
    for (std::size_t k = 0; k < blocks.size(); ++k) order.push_back(k);
  std::vector<std::vector<Real>> slopes(blocks.size());
  for (const std::size_t k : order) {
    std::ranges::copy(numbers.next(blocks[k].size()), w.begin() + long(blocks[k].offset));
    slopes[k] = numbers.next(blocks[k].size());
  }
  EXPECT_TRUE(numbers.left.empty());

  Stack<Real> stack(plans, it.input);
  const Slopes<Real> buffers{.g = {lost.data(), offsets.data()}, .wanted = {}};
  const Weights<const Real> weights{w.data(), offsets.data()};
  const Real* out =
      stack.forward(weights, it.rows, x.data(), {.training = it.training, .buffers = it.training ? &buffers : nullptr});
  expect_near<Real>({out, y.size()}, y, "outputs");
  std::ranges::copy(dy, stack.output_slopes());
  std::vector<Real> back(x.size());
  stack.backward(weights, {.g = {g.data(), offsets.data()}, .wanted = {}}, back.data());
  expect_near<Real>(back, dx, "slopes of the inputs");
  for (const std::size_t k : order) {
    if (blocks[k].buffer() && !it.training) continue;
    const auto& from = blocks[k].buffer() ? lost : g;
    expect_near<Real>(std::span(from).subspan(blocks[k].offset, blocks[k].size()), slopes[k], blocks[k].name);
  }
}

TEST(TorchLayers, AreOurs) {
  const auto reference = read_npz(KELVIN_SOURCE_DIR "/tests/reference/torch_layers.npz");
  const auto cases = torch_cases();
  EXPECT_EQ(reference.size(), cases.size());
  for (const TorchCase& it : cases) {
    SCOPED_TRACE(it.name);
    ASSERT_TRUE(reference.contains(it.name));
    expect_torch<float>(it, reference.at(it.name));
    expect_torch<double>(it, reference.at(it.name));
  }
}

}  // namespace
}  // namespace kelvin
