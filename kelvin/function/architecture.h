// SPDX-License-Identifier: Apache-2.0
// Architectures by name: layers that stand for a list of others, written as in a run file.
#pragma once
#include <algorithm>

#include "kelvin/function/images.h"
#include "kelvin/function/stack.h"

namespace kelvin {

// What stands behind convolutions, from the numbers `norm` and `activation` of an architecture.
class NormAndActivation {
 public:
  explicit NormAndActivation(const Choice& architecture);
  bool normalises() const { return !norm_.empty(); }
  void norm(Value::List&, const std::string& label, std::size_t channels) const;
  void activation(Value::List& to) const { to.emplace_back(activation_); }
  // A norm with a threshold needs no activation.
  void both(Value::List&, const std::string& label, std::size_t channels) const;

 private:
  std::string norm_, activation_;
};
#define KELVIN_NORM_MEANING "behind each convolution: batch, group, filter_response or none"

std::string pool_of(const Choice& architecture);  // the layer that its `pool` names

// Labels are what state dicts of PyTorch call the layers of an architecture (layers.h).
template <class... Values>
void add_layer(Value::List& to, fmt::format_string<Values...> text, Values&&... values) {
  to.emplace_back(fmt::format(text, std::forward<Values>(values)...));
}
Value residual_block(std::string label, Value::List layers, Value::List shortcut);
// The place that follows in such a list, as PyTorch's Sequential of that name calls it: "features.3".
inline std::string place_in(std::string_view sequential, const Value::List& list, std::size_t before = 0) {
  return fmt::format("{}.{}", sequential, list.size() - before);
}

// Which of the depths that an architecture exists in its number `depth` is.
std::size_t chosen_depth(const Choice& architecture, std::span<const std::size_t> known);

LayerPlan architecture_plan(const Choice&, const Shape& input, const Value& layers);

// `layers` makes the list of a choice and an input; how many of them have weights must not depend on the input.
#define KELVIN_ARCHITECTURE_ROW(NAME, parameters, layers, meaning, ...)                          \
  LayerPlan NAME##_plan(const Choice& numbers, const Shape& input) {                             \
    return architecture_plan(numbers, input, layers(numbers, input));                            \
  }                                                                                              \
  extern const LayerRow NAME##_layer_row;                                                        \
  const LayerRow NAME##_layer_row = {#NAME,   parameters,  false, NAME##_plan, nullptr, nullptr, \
                                     meaning, __VA_ARGS__, false, false,       layers};

}  // namespace kelvin
