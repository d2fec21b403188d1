// SPDX-License-Identifier: Apache-2.0
// One partition of the parameters, as its letters see it: numbers and spans only. Partitions are laid out one after
// another in the flat vectors, so each is a single span; letters may be handed any slice of it.
#pragma once
#include <span>

namespace kelvin {

template <class Real>
struct Part {
  std::span<Real> q, p;            // positions (the network's parameters) and momenta
  std::span<const Real> g;         // gradient of U at q
  double gamma = 1, T = 1, m = 1;  // friction, temperature, mass: their values for this step
  std::size_t size() const { return q.size(); }
  Part slice(std::size_t first, std::size_t count) const {
    return {q.subspan(first, count), p.subspan(first, count), g.subspan(first, count), gamma, T, m};
  }
};

}  // namespace kelvin
