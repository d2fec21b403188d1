// SPDX-License-Identifier: Apache-2.0
// Products of dense matrices stored row by row: the only file that knows which BLAS is used.
#pragma once
#include <cstddef>

namespace kelvin {

// OpenBLAS chooses its loops by the model of the processor when it is loaded, and takes models younger than itself for
// ancient ones, at a quarter of their speed. A program should set OPENBLAS_CORETYPE to this, if it is not null and the
// user has not set it, before the first product (apps/openblas.cpp does); the library leaves the environment alone.
const char* openblas_core();

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
