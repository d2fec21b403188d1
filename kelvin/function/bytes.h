// SPDX-License-Identifier: Apache-2.0
// Bytes as numbers: to[i] = from[i] / white.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kelvin/core/isa.h"

namespace kelvin {

#define KELVIN_DIVIDE_BYTES(Real) void divide_bytes(const std::uint8_t* from, std::size_t count, Real white, Real* to)
KELVIN_FOR_EACH_ISA(KELVIN_DIVIDE_BYTES(float))
KELVIN_FOR_EACH_ISA(KELVIN_DIVIDE_BYTES(double))
KELVIN_DIVIDE_BYTES(float);
KELVIN_DIVIDE_BYTES(double);
#undef KELVIN_DIVIDE_BYTES

}  // namespace kelvin
