// SPDX-License-Identifier: Apache-2.0
// Products of dense matrices stored row by row: the only file that knows which BLAS is used.
#pragma once
#include <cstddef>

namespace kelvin {

// Rows and columns as stored; `turned` uses the transpose.
template <class Real>
struct Factor {
  const Real* data;
  std::size_t rows, columns;
  bool turned = false;
};

// c = alpha a b + beta c. With beta = 0, c is written without being read.
void gemm(float alpha, Factor<float> a, Factor<float> b, float beta, float* c);
void gemm(double alpha, Factor<double> a, Factor<double> b, double beta, double* c);

}  // namespace kelvin
