// SPDX-License-Identifier: Apache-2.0
// Covariance of rows of numbers: its spectrum and leading directions.
#pragma once
#include "kelvin/analysis/posterior/selection.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {

// C = sum over rows of (x - mean)(x - mean)^T / (rows - 1).
struct Covariance {
  std::vector<double> mean;
  double trace = 0;
  Eigenpairs pairs;
  bool whole = false;  // all eigenvalues are there, not only the leading ones
};
enum class CovarianceWay {
  matrix,   // form C and solve it: all eigenvalues
  applied,  // C v from the rows, never formed: leading ones, for any number of parameters
};
Covariance covariance(const Rows&, std::size_t count, CovarianceWay);

}  // namespace kelvin
