// SPDX-License-Identifier: Apache-2.0
// One partition of the parameters, as its letters see it: numbers and spans only. Partitions are laid out one after
// another in the flat vectors, so each is a single span; letters may be handed any slice of it.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace kelvin {

// What is the same at every step.
struct PartConstants {
  double freedom = 0;  // degrees of freedom: entries that are not frozen
};

template <class Real>
struct Part {
  std::span<Real> q, p;                    // positions (the network's parameters) and momenta
  std::span<const Real> g;                 // gradient of U at q
  double gamma = 1, T = 1, m = 1;          // friction, temperature, mass: their values for this step
  double sigma = 0, eps = 0, damping = 1;  // adaptive Langevin: noise, coupling, and friction per xi
  double* xi = nullptr;                    // the friction it finds
  const PartConstants* constants = nullptr;
  std::size_t size() const { return q.size(); }
  Part slice(std::size_t first, std::size_t count) const {
    Part s = *this;
    s.q = q.subspan(first, count), s.p = p.subspan(first, count), s.g = g.subspan(first, count);
    return s;
  }
};

}  // namespace kelvin
