// SPDX-License-Identifier: Apache-2.0
// Inputs made of other inputs: "x1^2", "sin(x1)", "x1*x2", "exp(x1)*x2^3". To add a function, add a row to `functions`.
#pragma once
#include <string>

#include "kelvin/data/dataset.h"

namespace kelvin {

// product = power { "*" power },  power = atom [ "^" number ],  atom = column | function "(" product ")"
void add_derived(Dataset&, const std::vector<std::string>& expressions, const std::string& source);

}  // namespace kelvin
