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
  // of optimizers
  double momentum = 0.9, dampening = 0, weight_decay = 0, beta1 = 0.9, beta2 = 0.999, floor = 1e-8, trust = 1;
  std::vector<std::size_t> blocks = {};  // where each block begins within the part, and the end
};

// What is known of the noise that minibatches leave in g: its covariance is diag(variance), or Y Y' with `count`
// columns y_j of the part's size, Y'Y = E diag(values) E'.
template <class Real>
struct GradientNoise {
  std::span<const Real> variance = {}, columns = {};
  std::span<const double> values = {}, vectors = {};  // vectors: E, column by column
};

template <class Real>
struct Part {
  std::span<Real> q, p;                    // positions (the network's parameters) and momenta
  std::span<const Real> g;                 // gradient of U at q
  double gamma = 1, T = 1, m = 1;          // friction, temperature, mass: their values for this step
  double sigma = 0, eps = 0, damping = 1;  // adaptive Langevin: noise, coupling, and friction per xi
  double* xi = nullptr;                    // the friction it finds
  const PartConstants* constants = nullptr;
  std::span<Real> u = {}, v = {};  // what an optimizer remembers of past gradients; empty unless a letter needs them
  double count = 1;                // the how-manieth time since the start this letter is applied
  double h = 0;                    // the whole step, of which a letter gets its share
  const GradientNoise<Real>* noise = nullptr;  // null unless a letter needs it
  double* work = nullptr;  // energy, in units of T, that momenta of unit length have taken up by turning
  std::size_t size() const { return q.size(); }
  Part slice(std::size_t first, std::size_t length) const {
    Part s = *this;
    s.q = q.subspan(first, length);
    s.p = p.subspan(first, length);
    s.g = g.subspan(first, length);
    if (!u.empty()) s.u = u.subspan(first, length);
    if (!v.empty()) s.v = v.subspan(first, length);
    return s;
  }
};

}  // namespace kelvin
