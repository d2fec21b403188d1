// SPDX-License-Identifier: Apache-2.0
// The loops behind loss.cpp that gain from vectors, one version for each instruction set.
#pragma once
#include <cstddef>

#include "kelvin/core/isa.h"

namespace kelvin {

// The sum over rows of log(1 + e^f) - y f; writes the slopes.
KELVIN_FOR_EACH_ISA(double binary_cross_entropy(std::size_t rows, const float* outputs, const float* targets,
                                                float* slopes))
KELVIN_FOR_EACH_ISA(double binary_cross_entropy(std::size_t rows, const double* outputs, const double* targets,
                                                double* slopes))

// The sum over rows of log sum exp(f) - f of the right class, whose number is the target; writes the slopes. In float,
// up to so many classes stay in registers.
inline constexpr std::size_t most_classes = 64;
KELVIN_FOR_EACH_ISA(double softmax_cross_entropy(std::size_t rows, std::size_t width, const float* outputs,
                                                 const float* targets, float* slopes))
KELVIN_FOR_EACH_ISA(double softmax_cross_entropy(std::size_t rows, std::size_t width, const double* outputs,
                                                 const double* targets, double* slopes))

}  // namespace kelvin
