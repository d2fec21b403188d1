// SPDX-License-Identifier: Apache-2.0
// The loops behind loss.cpp that gain from vectors, one version for each instruction set.
#pragma once
#include <cstddef>

#include "kelvin/core/isa.h"

namespace kelvin {

// The sum over rows of log(1 + e^f) - y f; writes the slopes.
KELVIN_FOR_EACH_ISA(double binary_cross_entropy(std::size_t rows, const float* outputs, const float* targets,
                                                float* slopes))

}  // namespace kelvin
