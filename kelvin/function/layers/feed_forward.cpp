// SPDX-License-Identifier: Apache-2.0
// Two fully connected layers at each step, as many numbers as before: y = W' f(W x + b) + b'.
#include "kelvin/function/activation.h"
#include "kelvin/function/layers/expanded.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

constexpr Parameter feed_forward_parameters[] = {
    {"units", "", "numbers between the two"},
    {"activation", "\"relu\"", "f: a row of `kelvin list activations`"},
};

LayerPlan feed_forward_plan(const Choice& numbers, const Shape& input) {
  activation_named(numbers.text("activation"));
  const std::size_t each = input.size() / steps_of(input);
  LayerPlan plan{.numbers = numbers, .input = input, .output = input};
  plan.branches.push_back(
      plan_layers(Value(std::vector<std::string>{fmt::format("dense {}", whole_number(numbers, "units")),
                                                 numbers.text("activation"), fmt::format("dense {}", each)}),
                  input));
  return plan;
}

// Counted only: its second layer has as many outputs as it is given inputs.
Value feed_forward_list(const Choice&) { return Value(std::vector<std::string>{"dense 1", "dense 1"}); }

}  // namespace

KELVIN_LAYER_ROW(feed_forward, Expanded, feed_forward_parameters, false, feed_forward_plan,
                 "two fully connected layers with an activation between, at each step of a sequence",
                 {{5, 3}, "['feed_forward 4 activation tanh', 'mean_over_steps', 'dense 2']"}, false, false,
                 feed_forward_list)

}  // namespace kelvin
