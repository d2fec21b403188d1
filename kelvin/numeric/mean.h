// SPDX-License-Identifier: Apache-2.0
// Means with their standard errors.
#pragma once
#include <cmath>
#include <span>

namespace kelvin {

struct MeanOf {
  double value = NAN, error = NAN;  // no error of a single number
};

// Of independent numbers: the error is their standard deviation / sqrt(n).
inline MeanOf mean_of(std::span<const double> x) {
  const double n = double(x.size());
  double sum = 0, rest = 0, squares = 0;
  for (const double v : x) sum += v;
  for (const double v : x) rest += v - sum / n;  // what rounding left out
  const double mean = (sum + rest) / n;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return {mean, x.size() > 1 ? std::sqrt(squares / (n - 1) / n) : NAN};
}

}  // namespace kelvin
