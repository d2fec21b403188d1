// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/lanes.h"
#include "kelvin/model/loss_loops.h"

namespace kelvin::KELVIN_ISA {

// log(1 + e^f) - y f and its slope e^f / (1 + e^f) - y, with e = e^-|f| so that nothing overflows; log(1 + e) is
// corrected for the rounding of 1 + e.
double binary_cross_entropy(std::size_t rows, const float* outputs, const float* targets, float* slopes) {
  double total = 0;
  for (std::size_t s = 0; s < rows; s += lanes<float>) {
    const std::size_t count = rows - s < lanes<float> ? rows - s : lanes<float>;
    Floats f = {}, y = {};
    std::memcpy(&f, outputs + s, count * sizeof(float));
    std::memcpy(&y, targets + s, count * sizeof(float));
    const Floats size = f > 0 ? f : -f, cut = size < 87.0f ? size : 87.0f - Floats{};
    const Floats e = exponential(-cut), sum = 1.0f + e;
    const Floats slope = (f > 0 ? 1.0f - Floats{} : e) / sum - y;
    const Floats value = (f > 0 ? f : Floats{}) - y * f + (logarithm(sum) + (e - (sum - 1.0f)) / sum);
    std::memcpy(slopes + s, &slope, count * sizeof(float));
    for (std::size_t i = 0; i < count; ++i) total += double(value[i]);
  }
  return total;
}

}  // namespace kelvin::KELVIN_ISA
