// SPDX-License-Identifier: Apache-2.0
// Numbers in 16 bits (IEEE 754 binary16), as they are stored.
#pragma once
#include <cstdint>

namespace kelvin {

std::uint16_t half_of(float);  // the nearest one
float number_of_half(std::uint16_t);

}  // namespace kelvin
