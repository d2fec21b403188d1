// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/bytes.h"

namespace kelvin::KELVIN_ISA {

void divide_bytes(const std::uint8_t* from, std::size_t count, float white, float* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = float(from[i]) / white;
}
void divide_bytes(const std::uint8_t* from, std::size_t count, double white, double* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = double(from[i]) / white;
}

}  // namespace kelvin::KELVIN_ISA
