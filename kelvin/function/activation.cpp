// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/activation.h"

#include <cmath>

#include "kelvin/core/choice.h"

namespace kelvin {

bool Activation::bounded() const { return std::isfinite(lower) || std::isfinite(upper); }

std::span<const Activation> activations() { KELVIN_RETURN_BEST(activations()); }

const Activation& activation_named(std::string_view name) { return row_named(name, activations(), "activation"); }

}  // namespace kelvin
