// SPDX-License-Identifier: Apache-2.0
// A potential of two blocks for tests of partitioned schemes and optimizers.
#pragma once
#include <cmath>

#include "tests/evaluated.h"

namespace kelvin {

constexpr std::size_t size = 3;  // of each block

// U(x, y) = sum of cosh(x_i) + y_i^2/2 + y_i^4/4 + x_i y_(i+1): smooth, not quadratic, and the blocks see each other.
struct Coupled : Potential<double> {
  std::vector<Block> list{{.name = "layer1.weight", .shape = {size}, .layer = 1},
                          {.name = "layer2.weight", .shape = {size}, .layer = 2, .offset = size}};
  const std::vector<Block>& blocks() const override { return list; }
  double operator()(Weights<const double> q, const Evaluation&, Weights<double> g) override {
    const double *x = q[0], *y = q[1];
    double U = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t j = (i + 1) % size;
      U += std::cosh(x[i]) + y[i] * y[i] / 2 + std::pow(y[i], 4) / 4 + x[i] * y[j];
      g[0][i] = std::sinh(x[i]) + y[j];
      g[1][j] = y[j] + std::pow(y[j], 3) + x[i];
    }
    return U;
  }
  std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Coupled>(*this); }
};

}  // namespace kelvin
