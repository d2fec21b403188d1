// SPDX-License-Identifier: Apache-2.0
#include "kelvin/numeric/half.h"

#include <Eigen/Core>
#include <bit>

namespace kelvin {

std::uint16_t half_of(float x) { return std::bit_cast<std::uint16_t>(Eigen::half(x)); }
float number_of_half(std::uint16_t bits) { return float(std::bit_cast<Eigen::half>(bits)); }

}  // namespace kelvin
