// SPDX-License-Identifier: Apache-2.0
// Constraints: manifolds that the numbers of a block stay on, g(q) = 0. Letters know nothing of them: where a part has
// one, the chain lets it act after (or, for a drift, in place of) each letter. To add one, write its Manifold and its
// row in constraint.cpp.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>

#include "kelvin/core/choice.h"
#include "kelvin/energy/energy.h"

namespace kelvin {

// What a manifold acts on: entries of a block that the network sees, and the slack coordinates that it does not.
template <class Real>
struct ManifoldPoint {
  std::span<Real> q, p, slack_q, slack_p;
};

// What is asked for, and what happened on the way.
struct ProjectionReport {
  std::uint64_t fallbacks = 0;     // projections that had to be done another way
  std::uint64_t irreversible = 0;  // drifts that the way back does not retrace; counted only if asked for
  bool retrace = false;            // asks for it
  bool descends = false;           // q was moved without noise, towards a minimum that may lie at a wall
};

// The larger one; nan if one of them is.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }

// Where an initial point lay.
struct Settled {
  std::size_t moved = 0;  // units that had to be brought onto the manifold
  std::size_t stuck = 0;  // entries that no force can move, because the manifold is perpendicular to them there
};

template <class Real>
struct Manifold {
  virtual ~Manifold() = default;
  // Moves along the manifold for a time h, `time` being h/m; p stays tangent. Reversible: flip p, and it goes back.
  virtual void drift(const ManifoldPoint<Real>&, double time, ProjectionReport&) = 0;
  // Brings back a q that left it; `from` is the last point on it, the entries first, then their slack.
  virtual void project(const ManifoldPoint<Real>&, std::span<const Real> from, ProjectionReport&) = 0;
  virtual void tangent(const ManifoldPoint<Real>&) = 0;           // removes from p what points off it
  virtual Settled settle(const ManifoldPoint<Real>&) = 0;         // brings an initial point onto it and finds its slack
  virtual double residual(const ManifoldPoint<Real>&) const = 0;  // largest |g|, in units in which q is of order 1
  virtual double tangency(const ManifoldPoint<Real>&) const = 0;  // largest part of p that points off it
};

// A g of one's own: `count` equations for the entries of a block, row by row.
struct OwnConstraint {
  std::size_t count = 0;
  std::function<void(std::span<const double> q, std::span<double> g)> values;
  std::function<void(std::span<const double> q, std::span<double> J)> jacobian;  // count x entries, row by row
  double tolerance = 1e-13;
  int most = 50;  // Newton iterations
};

enum class Unit { entry, row, block };  // what one equation, or set of equations, holds together

struct Constraint;

// A constraint on one block of a part.
struct BlockConstraint {
  const Constraint* row = nullptr;  // none for a g of one's own
  Choice numbers;                   // of the row, complete
  std::string block, part;
  std::size_t rows = 1, columns = 1;  // a vector is one row
  std::size_t first = 0;              // where its entries begin within the part
  std::size_t slack = 0, slack_count = 0;
  std::shared_ptr<const OwnConstraint> own = nullptr;

  std::size_t size() const { return rows * columns; }
  Unit unit() const;
  std::size_t units() const;    // number of them
  std::size_t removed() const;  // degrees of freedom that it takes away
};

struct Constraint {
  std::string_view name;
  std::span<const Parameter> parameters;
  Unit unit;
  bool has_slack;                                                   // one more coordinate for each unit
  std::size_t (*equations)(std::size_t rows, std::size_t columns);  // of each unit
  std::unique_ptr<Manifold<float>> (*make_float)(const BlockConstraint&);
  std::unique_ptr<Manifold<double>> (*make_double)(const BlockConstraint&);
  std::string_view start;  // initialiser that lies on it; empty if any will do
  std::string_view meaning;
};
std::span<const Constraint> constraints();

// The row of that name with its numbers, checked.
BlockConstraint constraint_chosen(const Choice&, const std::string& part);
// The same with the radius of that block, where it has a table of them.
BlockConstraint constraint_on(BlockConstraint, const std::string& block);
bool holds(const BlockConstraint&, const Block&);  // weights always, vectors only if it says biases = true

template <class Real>
std::unique_ptr<Manifold<Real>> make_manifold(const BlockConstraint&);

template <class Real>
std::unique_ptr<Manifold<Real>> make_orthogonal(const BlockConstraint&);
template <class Real>
std::unique_ptr<Manifold<Real>> make_own(const BlockConstraint&);

}  // namespace kelvin
