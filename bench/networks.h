// SPDX-License-Identifier: Apache-2.0
// Steps of networks given as lists of layers, each with the same name as in torch_steps.py and jax_steps.py.
#pragma once
#include <vector>

#include "bench/cases.h"

namespace kelvin::bench {

std::vector<Case> network_cases();

}  // namespace kelvin::bench
