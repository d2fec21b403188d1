// SPDX-License-Identifier: Apache-2.0
// Activations: functions of one number, applied to whole spans. To add one, write its value and its slope and add a row
// in activation.simd.cpp; the tests check the slope of every row.
#pragma once
#include <span>
#include <string_view>
#include <type_traits>

#include "kelvin/core/isa.h"

namespace kelvin {

template <class Real>
struct ActivationOn {
  void (*forward)(std::span<Real> x);                                // x becomes y = value(x)
  void (*backward)(std::span<const Real> kept, std::span<Real> dy);  // dy *= slope; `kept` is y, or x if it needs that
  bool needs_inputs;  // the slope is a function of x; of all others it is one of y, so that x need not be kept
};

struct Activation {
  std::string_view name;
  ActivationOn<float> in_float;
  ActivationOn<double> in_double;
  double lower, upper;  // of the values; may be infinite
  bool positive_part;   // it is max(x, 0), which other loops may do on their way
  std::string_view meaning;

  bool bounded() const;  // above, below or both: inputs far out on that side cannot be told apart
  template <class Real>
  const ActivationOn<Real>& on() const {
    if constexpr (std::is_same_v<Real, float>) return in_float;
    else return in_double;
  }
};

// The table, with loops for this machine.
KELVIN_FOR_EACH_ISA(std::span<const Activation> activations())
std::span<const Activation> activations();
const Activation& activation_named(std::string_view name);

}  // namespace kelvin
