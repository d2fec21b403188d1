// SPDX-License-Identifier: Apache-2.0
// With a quadratic U every string without braces is an affine map plus Gaussian noise: x' = M x + c + N z, x = (q, p).
// The map is read off the running code (unit states, then noise that is 1 in one place), so what it says of a scheme's
// stationary law holds for the program and involves no sampling error.
#pragma once
#include "kelvin/dynamics/recipe.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {

struct AffineMap {
  Matrix map, noise;
  std::vector<double> shift;
};

AffineMap affine_map(const Energy<double>&, const Recipe&);

// The covariance with C = M C M' + N N'. Of q alone if the string uses no p. Throws if the map does not contract.
Matrix stationary_covariance(const AffineMap&);

inline AffineMap affine_map(const Potential<double>& U, const Recipe& recipe) {
  return affine_map(Energy<double>(U.clone()), recipe);
}

}  // namespace kelvin
