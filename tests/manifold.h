// SPDX-License-Identifier: Apache-2.0
// What tests of constraints share: U linear in several equal matrices and quadratic in a vector, and a walker on it.
#pragma once
#include "tests/support.h"

namespace kelvin {

// U = -sum of slope_i W_i over the matrices, + |b|^2/2
template <class Real>
struct Linear : Potential<Real> {
  std::vector<Block> list;
  std::vector<Real> slope;
  double spike = 1;  // factor of the slope
  Linear(std::size_t matrices, std::size_t rows, std::size_t columns, std::vector<Real> given = {})
      : slope(std::move(given)) {
    slope.resize(rows * columns);
    for (std::size_t k = 0; k < matrices; ++k) list.push_back({.name = fmt::format("W{}", k), .shape = {rows, columns}});
    list.push_back({.name = "b", .shape = {3}});
  }
  const std::vector<Block>& blocks() const override { return list; }
  double operator()(Weights<const Real> q, const Evaluation&, Weights<Real> g) override {
    double U = 0;
    for (std::size_t b = 0; b < list.size(); ++b)
      for (std::size_t i = 0; i < list[b].size(); ++i) {
        const Real x = q[b][i];
        const bool matrix = list[b].is_matrix();
        g[b][i] = matrix ? -Real(spike) * slope[i] : x;
        U += double(g[b][i] * x) / (matrix ? 1 : 2);
      }
    return U;
  }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<Linear>(*this); }
};

inline Choice constraint(const std::string& name, double radius = 0, Value::Group more = {}) {
  if (radius > 0) more["radius"].is = radius;
  return Choice(name, std::move(more));
}

inline PartSettings held(PartSettings part, const Choice& on) {
  part.constraint = on;
  return part;
}

// Started with every weight normal, before it is brought onto the manifold.
template <class Real>
struct HeldWalker {
  Noise<Real> noise;
  Linear<Real>* U;
  Chain<Real> chain;
  HeldWalker(const Linear<Real>& potential, const PartSettings& part, std::uint64_t seed = 1)
      : HeldWalker(new Linear<Real>(potential), recipe_for(potential, part), seed) {}
  HeldWalker(Linear<Real>* potential, const Recipe& recipe, std::uint64_t seed = 1)
      : U(potential),
        chain(std::unique_ptr<Potential<Real>>(potential), recipe, Batches({}, 0, seed, 0), noise, seed, 0) {
    std::vector<Real> q(recipe.size);
    noise.normals({99, 0, 0, 0}, 0, q);
    chain.start(q);
  }
  std::span<const Real> block(const std::string& name) {
    for (const Block& b : chain.recipe().blocks)
      if (b.name == name) return chain.q().subspan(b.offset, b.size());
    throw Error("no block {}", name);
  }
  // Mean of f(W) over the matrices, at each of `steps` steps after `warmup`.
  template <class F>
  Estimate mean(std::size_t warmup, std::size_t steps, F&& f) {
    for (std::size_t n = 0; n < warmup; ++n) chain.step();
    std::vector<double> series;
    for (std::size_t n = 0; n < steps; ++n) {
      chain.step();
      double sum = 0, count = 0;
      for (const Block& b : chain.recipe().blocks)
        if (b.is_matrix() && !b.slack()) sum += f(chain.q().subspan(b.offset, b.size())), ++count;
      series.push_back(sum / count);
    }
    return estimate(series);
  }
};

}  // namespace kelvin
