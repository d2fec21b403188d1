// SPDX-License-Identifier: Apache-2.0
// A potential of two blocks for tests of partitioned schemes and optimizers.
#pragma once
#include <cmath>

#include "kelvin/energy/potential.h"

namespace kelvin {

constexpr std::size_t size = 3;  // of each block

// U(x, y) = sum of cosh(x_i) + y_i^2/2 + y_i^4/4 + x_i y_(i+1): smooth, not quadratic, and the blocks see each other.
struct Coupled : Potential<double> {
  std::vector<Block> list{{.name = "layer1.weight", .shape = {size}}, {.name = "layer2.weight", .shape = {size}, .offset = size}};
  std::vector<Block> blocks() const override { return list; }
  void arrange(std::span<const Block> given) override { list.assign(given.begin(), given.end()); }
  double operator()(std::span<const double> q, Batch, std::span<double> g) override {
    const std::size_t x = list[0].name[5] == '1' ? list[0].offset : list[1].offset, y = size - x;
    double U = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t j = (i + 1) % size;
      U += std::cosh(q[x + i]) + q[y + i] * q[y + i] / 2 + std::pow(q[y + i], 4) / 4 + q[x + i] * q[y + j];
      g[x + i] = std::sinh(q[x + i]) + q[y + j];
      g[y + j] = q[y + j] + std::pow(q[y + j], 3) + q[x + i];
    }
    return U;
  }
  std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Coupled>(*this); }
};

}  // namespace kelvin
