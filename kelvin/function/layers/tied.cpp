// SPDX-License-Identifier: Apache-2.0
// y = E x + b at each step, E being the weight of the embedding before it: one number for each word.
#include "kelvin/function/layers/affine_layer.h"

namespace kelvin {
namespace {

constexpr Parameter tied_parameters[] = {{"bias", "1", "0 leaves out b"}};

LayerPlan tied_plan(const Choice& numbers, const Shape&) {
  throw Error(
      "{}{}layer \"tied\" shares the weight of an \"embedding\", but none stands before it in its list; add one, or "
      "use \"dense\"",
      numbers.where, numbers.where.empty() ? "" : ": ");
}

LayerPlan tied_to(const Choice& numbers, const Shape& input, const LayerPlan& embedding) {
  const Block& weight = embedding.blocks.front();
  const std::size_t in = input.size() / steps_of(input);
  if (input.rank() > 2 || in != weight.shape[1])
    throw Error(
        "layer \"tied\" takes steps of {} numbers, as many as the embedding has, but what comes before it is {}; "
        "add \"dense {}\" before it",
        weight.shape[1], input.text(), weight.shape[1]);
  return affine_plan(numbers, input, weight);
}

}  // namespace

KELVIN_LAYER_ROW(tied, AffineLayer, tied_parameters, true, tied_plan,
                 "fully connected, with the weight of the embedding: a number for each word",
                 {{5}, "['embedding 4 3', 'rnn 3', 'tied', 'mean_over_steps', 'dense 2']", 4}, false, false, nullptr,
                 tied_to, "embedding")

}  // namespace kelvin
