// SPDX-License-Identifier: Apache-2.0
// The loops behind loss.cpp that gain from vectors, one version for each instruction set.
#pragma once
#include <cstddef>

#include "kelvin/core/isa.h"

namespace kelvin {

// The sum over rows of log(1 + e^f) - y f; writes the slopes.
KELVIN_FOR_EACH_ISA(double binary_cross_entropy(std::size_t rows, const float* outputs, const float* targets,
                                                float* slopes))

// The sum over rows of log sum exp(f) - f of the right class, whose number is the target; writes the slopes. The first
// is for up to 64 classes, which stay in registers.
inline constexpr std::size_t most_classes = 64;
KELVIN_FOR_EACH_ISA(double softmax_cross_entropy(std::size_t rows, std::size_t width, const float* outputs,
                                                 const float* targets, float* slopes))
KELVIN_FOR_EACH_ISA(double softmax_of_many(std::size_t rows, std::size_t width, const float* outputs,
                                           const float* targets, float* slopes))

}  // namespace kelvin
