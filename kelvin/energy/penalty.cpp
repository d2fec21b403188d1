// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/penalty.h"

#include <algorithm>
#include <cmath>

#include "kelvin/energy/quadratic.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {
namespace {

// strength |q|
template <class Real>
double absolute(const Block&, std::span<const Real> q, PenaltyNumbers n, std::span<Real> g) {
  double sum = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    sum += std::abs(double(q[i]));
    g[i] += Real(n.strength * double((q[i] > 0) - (q[i] < 0)));
  }
  return n.strength * sum;
}

// strength q^2 / 2
template <class Real>
double square(const Block&, std::span<const Real> q, PenaltyNumbers n, std::span<Real> g) {
  return n.strength / 2 * add_springs(n.strength, 0, q, g);
}

// strength |Q^T Q - 1|^2, Q the matrix or its transpose, whichever has fewer columns than rows. Its gradient is
// 4 strength Q (Q^T Q - 1). Biases are left alone.
template <class Real>
double orthogonal(const Block& block, std::span<const Real> q, PenaltyNumbers n, std::span<Real> g) {
  if (!block.is_matrix()) return 0;
  const RowMajor<Real> W{q.data(), block.rows(), block.columns()};
  const bool tall = W.rows >= W.columns;
  const OffOrthogonal<Real> apart = off_orthogonal(W);
  const std::size_t side = std::min(W.rows, W.columns);
  const RowMajor<Real> off{apart.numbers.data(), side, side};
  add_product(Real(4 * n.strength), tall ? W : off, tall ? off : W, g.data());
  return n.strength * apart.square;
}

// strength (|w|^2 - r^2)^2 for each row w of a matrix, what the constraint "norm" holds at 0. Its gradient is
// 4 strength (|w|^2 - r^2) w.
template <class Real>
double norm(const Block& block, std::span<const Real> q, PenaltyNumbers n, std::span<Real> g) {
  if (!block.is_matrix()) return 0;
  double sum = 0;
  for (std::size_t first = 0; first < q.size(); first += block.columns()) {
    double off = -n.radius * n.radius;
    for (std::size_t i = first; i < first + block.columns(); ++i) off += double(q[i]) * double(q[i]);
    for (std::size_t i = first; i < first + block.columns(); ++i) g[i] += Real(4 * n.strength * off * double(q[i]));
    sum += off * off;
  }
  return n.strength * sum;
}

// strength (|w| - r)^2 for each weight beyond r: what "circle" and "box" forbid.
template <class Real>
double box(const Block& block, std::span<const Real> q, PenaltyNumbers n, std::span<Real> g) {
  if (!block.is_matrix()) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    const double beyond = std::max(0.0, std::abs(double(q[i])) - n.radius);
    g[i] += Real(2 * n.strength * std::copysign(beyond, double(q[i])));
    sum += beyond * beyond;
  }
  return n.strength * sum;
}

constexpr Parameter numbers[] = {{"strength", "", "factor of the energy"}};
constexpr Parameter numbers_and_radius[] = {{"strength", "", "factor of the energy"}, {"radius", "1", "r"}};
constexpr Penalty all_penalties[] = {
    {"l1", numbers, absolute<float>, absolute<double>, "strength |q|"},
    {"l2", numbers, square<float>, square<double>, "strength q^2 / 2: weight decay"},
    {"orthogonal", numbers, orthogonal<float>, orthogonal<double>,
     "strength |Q^T Q - 1|^2 of each matrix, Q having the longer side as rows; biases are left alone"},
    {"norm", numbers_and_radius, norm<float>, norm<double>,
     "strength (|w|^2 - r^2)^2 of each row w of a matrix; biases are left alone"},
    {"box", numbers_and_radius, box<float>, box<double>,
     "strength (|w| - r)^2 of each weight beyond r; biases are left alone"},
};

}  // namespace

std::span<const Penalty> penalties() { return all_penalties; }

ChosenPenalty penalty_of(const Choice& given) {
  const Penalty& row = row_named(given.name, penalties(), "penalty", given.where);
  const Choice chosen = given.completed(row.parameters, "penalty");
  PenaltyNumbers numbers;
  for (const auto& [name, number] : {std::pair{"strength", &numbers.strength}, {"radius", &numbers.radius}})
    if (chosen.has(name)) {
      *number = chosen.number(name);
      if (!(*number >= 0) || !std::isfinite(*number))
        throw Error("penalty \"{}\": {} is {:g}; it must be at least 0", row.name, name, *number);
    }
  return {&row, numbers};
}

}  // namespace kelvin
