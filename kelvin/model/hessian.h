// SPDX-License-Identifier: Apache-2.0
// Second derivatives of small potentials, by central differences of the gradient.
#pragma once
#include "kelvin/model/potential.h"

namespace kelvin {

// n x n, row by row, symmetric. At most 2000 parameters: it costs 2 n gradients and n^2 numbers.
template <class Real>
std::vector<double> hessian(Potential<Real>&, std::span<const Real> q, Batch rows);

// Eigenvalues of a symmetric n x n matrix, ascending.
std::vector<double> eigenvalues(std::span<const double> symmetric);

}  // namespace kelvin
