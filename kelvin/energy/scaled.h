// SPDX-License-Identifier: Apache-2.0
// U in coordinates x with q = L x: with L L' near the covariance of q over T all directions of x are equally wide. A
// chain that moves in x with mass 1 is one that moves in q with the mass matrix (L L')^-1; no letter knows of it.
#pragma once
#include "kelvin/core/pages.h"
#include "kelvin/energy/decorated.h"

namespace kelvin {

template <class Real>
class Scaled final : public Decorated<Real> {
 public:
  // Of `size` numbers, the first `dense` of them by a lower triangle, or, if dense is 0, each by its own factor.
  Scaled(std::unique_ptr<Potential<Real>>, std::size_t size, std::size_t dense);

  // The diagonal of L, or all of it column by column; 1 at first.
  const std::vector<double>& factor() const { return factor_; }
  void use(std::span<const double> factor);

  std::span<const Real> position(std::span<const Real> x);             // q = L x, valid until the next call
  void coordinates(std::span<const Real> q, std::span<Real> x) const;  // x = L^-1 q

  double operator()(std::span<const Real> x, Batch rows, std::span<Real> g) override;  // g = L' times that of q
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<Scaled>(*this); }

 private:
  std::size_t dense_;
  std::vector<double> factor_;
  LargeArray<Real> q_;
};

}  // namespace kelvin
