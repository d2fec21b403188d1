// SPDX-License-Identifier: Apache-2.0
// Reparametrisation: coordinates x with q = T x, in which a chain may move. With T T' near the covariance of q over the
// temperature all directions of x are equally wide. A chain that moves in x with mass 1 moves in q with the mass matrix
// (T T')^-1; letters do not depend on it.
#pragma once
#include <memory>
#include <span>

#include "kelvin/core/pages.h"
#include "kelvin/function/block.h"

namespace kelvin {

template <class Real>
struct Coordinates {
  virtual ~Coordinates() = default;
  virtual void to_position(std::span<const Real> x, std::span<Real> q) = 0;  // q = T x
  virtual void to_coordinates(std::span<Real> q) = 0;                        // x = T^-1 q, in place
  virtual void pull_back(std::span<Real> g) = 0;                             // T' g, in place
  // Adds the blocks whose g is needed for that of the wanted ones.
  virtual void widen(std::span<const Block>, std::span<char>) const {}
  virtual std::span<const double> factor() const { return {}; }  // what a warm-up has found of T
  virtual void use(std::span<const double>) {}
  virtual std::unique_ptr<Coordinates> clone() const = 0;
};

// T = L: of `size` numbers, the first `dense` of them by a lower triangle, or, if dense is 0, each by its own factor.
// At first 1. The factor is the diagonal of L, or all of it column by column.
template <class Real>
std::unique_ptr<Coordinates<Real>> scaled_coordinates(std::size_t size, std::size_t dense);

}  // namespace kelvin
