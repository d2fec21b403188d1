// SPDX-License-Identifier: Apache-2.0
// Second derivatives of potentials, by central differences of the gradient.
#pragma once
#include "kelvin/model/potential.h"

namespace kelvin {

// H v, H the matrix of second derivatives of U at q; two gradients. Good to about 1e-7 of |H v|. There is none in
// float: the kinks of relu networks would spoil it.
void hessian_times(Potential<double>&, std::span<const double> q, Batch rows, std::span<const double> v,
                   std::span<double> Hv);

// n x n, row by row, symmetric. At most 2000 parameters: it costs 2 n gradients and n^2 numbers.
std::vector<double> hessian(Potential<double>&, std::span<const double> q, Batch rows);

// Eigenvalues of a symmetric n x n matrix, ascending.
std::vector<double> eigenvalues(std::span<const double> symmetric);

}  // namespace kelvin
