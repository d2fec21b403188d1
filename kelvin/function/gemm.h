// SPDX-License-Identifier: Apache-2.0
// Products of dense matrices stored row by row: the only file that knows which BLAS is used.
#pragma once
#include <cstddef>

namespace kelvin {

// Rows and columns as stored, the rows `stride` numbers apart; `turned` uses the transpose.
template <class Real>
struct Factor {
  const Real* data;
  std::size_t rows, columns, stride;
  bool turned = false;
};

// c = alpha a b + beta c, the rows of c `stride` numbers apart. With beta = 0, c is written without being read.
void gemm(float alpha, Factor<float> a, Factor<float> b, float beta, float* c, std::size_t stride);
void gemm(double alpha, Factor<double> a, Factor<double> b, double beta, double* c, std::size_t stride);

// c = a a^T, of which only the upper triangle is written, at half the cost of the whole.
void gram(Factor<float> a, float* c, std::size_t stride);
void gram(Factor<double> a, double* c, std::size_t stride);

}  // namespace kelvin
