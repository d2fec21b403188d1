// SPDX-License-Identifier: Apache-2.0
// Two fully connected layers at each step, as many numbers as before: y = W' f(W x + b) + b'.
#include "kelvin/function/activation.h"
#include "kelvin/function/architecture.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

constexpr Parameter feed_forward_parameters[] = {
    {"units", "", "numbers between the two"},
    {"activation", "\"relu\"", "f: a row of `kelvin list activations`"},
};

Value feed_forward_layers(const Choice& c, const Shape& input) {
  const std::string activation = c.text("activation");
  activation_named(activation);
  return Value(std::vector<std::string>{fmt::format("dense {}", whole_number(c, "units")), activation,
                                        fmt::format("dense {}", input.size() / steps_of(input))});
}

}  // namespace

KELVIN_ARCHITECTURE_ROW(feed_forward, feed_forward_parameters, feed_forward_layers,
                        "two fully connected layers with an activation between, at each step of a sequence",
                        {{5, 3}, "['feed_forward 4 activation tanh', 'mean_over_steps', 'dense 2']"})

}  // namespace kelvin
