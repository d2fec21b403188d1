// SPDX-License-Identifier: Apache-2.0
// y = W x + b, W of units x inputs; of a sequence, each step by itself.
#include "kelvin/function/layers/affine_layer.h"

namespace kelvin {
namespace {

constexpr Parameter dense_parameters[] = {
    {"units", "", "number of outputs"},
    {"bias", "1", "0 leaves out b"},
};

LayerPlan dense_plan(const Choice& numbers, const Shape& input) {
  if (input.rank() > 2)
    throw Error(
        "layer \"dense\" takes a list of numbers or a sequence, but what comes before it is {}; flatten it first",
        input.text());
  const std::size_t in = input.size() / steps_of(input), out = whole_number(numbers, "units");
  if (double(in) * double(out) > 2147483648.0)
    throw Error("layer \"dense\" from {} to {} has more than 2^31 weights; use a smaller one", in, out);
  return affine_plan(numbers, input,
                     {.name = "weight", .shape = {out, in}, .role = Role::weight, .fan_in = in, .fan_out = out});
}

}  // namespace

LayerPlan affine_plan(const Choice& numbers, const Shape& input, Block weight) {
  const std::size_t steps = steps_of(input), out = weight.shape[0], in = weight.shape[1];
  LayerPlan plan{.numbers = numbers,
                 .input = input,
                 .output = input.rank() == 2 ? Shape{steps, out} : Shape{out},
                 .multiply_adds = double(steps) * double(weight.size())};
  plan.blocks.push_back(std::move(weight));
  if (is_set(numbers, "bias"))
    plan.blocks.push_back({.name = "bias", .shape = {out}, .role = Role::bias, .fan_in = in, .fan_out = out});
  return plan;
}

KELVIN_LAYER_ROW(dense, AffineLayer, dense_parameters, true, dense_plan,
                 "fully connected: y = W x + b, at each step of a sequence",
                 {{3}, "['dense 4', 'tanh', 'dense 2 bias 0']"})

}  // namespace kelvin
