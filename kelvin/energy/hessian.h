// SPDX-License-Identifier: Apache-2.0
// Second derivatives of potentials, by central differences of the gradient.
#pragma once
#include "kelvin/energy/energy.h"

namespace kelvin {

// Products with H, the matrix of second derivatives of U at q: two gradients each, good to about 1e-7. There is none in
// float: differences of gradients would lose half of its digits.
class HessianAt {
 public:
  HessianAt(Energy<double>&, std::span<const double> q, Batch rows);
  void times(std::span<const double> v, std::span<double> Hv);

 private:
  struct Product {
    std::vector<double> Hv;
    double size = 0, kink = 0;  // |H v|, and how much it differs between the two sides of q
  };
  Product product(std::span<const double> v, double increment);

  Energy<double>& energy_;
  std::vector<double> q_, g_, at_, above_, below_;
  Batch rows_;
};

// n x n, row by row, symmetric. At most 2000 parameters: it costs 2 n gradients and n^2 numbers.
std::vector<double> hessian(Energy<double>&, std::span<const double> q, Batch rows);

}  // namespace kelvin
