// SPDX-License-Identifier: Apache-2.0
// The library's matrices as those of Eigen, to calculate with in tests, and back.
#pragma once
#include "kelvin/numeric/eigen.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {

inline Eigen::MatrixXd dense(const Matrix& m) {
  return Eigen::Map<const Eigen::MatrixXd>(m.numbers.data(), Eigen::Index(m.rows), Eigen::Index(m.columns));
}

inline Matrix plain(const Eigen::MatrixXd& m) {
  Matrix out(std::size_t(m.rows()), std::size_t(m.cols()));
  out.numbers.assign(m.data(), m.data() + m.size());
  return out;
}

}  // namespace kelvin
