// SPDX-License-Identifier: Apache-2.0
// The distribution of targets about an output: the noise model that a numeric loss stands for. To add one, write its
// functions and name it in the loss's row (loss.cpp).
#pragma once
#include <string_view>

namespace kelvin {

// What one draw says of one target: its mean, the scale of the noise about it, and what the law takes besides.
struct NoiseAt {
  double centre, scale = 1, shape = 0;
};

struct NoiseLaw {
  std::string_view name;
  bool counts;                                       // of whole numbers from 0 on
  double (*log_density)(double y, const NoiseAt&);   // of counts: log probability
  double (*distribution)(double y, const NoiseAt&);  // probability of at most y; of counts y is a whole number
  double (*distance)(double y, const NoiseAt&);      // mean of |number - y|; of counts y is a whole number
  double (*variance)(const NoiseAt&);
  double (*reach)(const NoiseAt&);  // less than 1e-12 lies further from the centre, on either side
};

extern const NoiseLaw normal_law;   // exp(-e^2 / 2 s^2), e = y - centre
extern const NoiseLaw laplace_law;  // exp(-|e| / s)
extern const NoiseLaw student_law;  // (1 + e^2 / (nu s^2))^(-(nu + 1) / 2), nu the shape, above 2
extern const NoiseLaw poisson_law;  // centre^y exp(-centre) / y!
extern const NoiseLaw
    negative_binomial_law;  // the same, its centre gamma distributed: variance centre + shape centre^2

}  // namespace kelvin
