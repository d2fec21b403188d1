// SPDX-License-Identifier: Apache-2.0
// Largest eigenvalues of symmetric operators: of a matrix, or of anything that can be applied to a vector.
#pragma once
#include <functional>
#include <span>
#include <vector>

namespace kelvin {

struct Eigenpairs {
  std::vector<double> values;                // falling
  std::vector<std::vector<double>> vectors;  // of length 1, the entry of largest size positive; there may be fewer
};

Eigenpairs all_eigenpairs(std::span<const double> matrix, std::size_t size, std::size_t vectors);

// A matrix that is known by its products with vectors.
struct Operator {
  std::size_t size = 0;
  std::function<void(std::span<const double> v, std::span<double> Hv)> times;
};

// By implicitly restarted Lanczos iterations, to 1e-10 of the eigenvalues.
Eigenpairs leading_eigenpairs(const Operator&, std::size_t count);
Eigenpairs leading_eigenpairs(std::span<const double> matrix, std::size_t size, std::size_t count);

}  // namespace kelvin
