// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/hessian.h"

#include <cmath>
#include <limits>

#include "kelvin/core/error.h"

namespace kelvin {

HessianAt::HessianAt(Energy<double>& energy, std::span<const double> q, Batch rows)
    : energy_(energy),
      q_(q.begin(), q.end()),
      g_(q.size()),
      at_(q.size()),
      above_(q.size()),
      below_(q.size()),
      rows_(rows) {
  energy_(q_, {.rows = rows_}, g_);
}

// (g(q + e v) - g(q - e v)) / 2e
HessianAt::Product HessianAt::product(std::span<const double> v, double e) {
  Product made{std::vector<double>(q_.size())};
  for (std::size_t i = 0; i < q_.size(); ++i) at_[i] = q_[i] + e * v[i];
  energy_(at_, {.rows = rows_}, above_);
  for (std::size_t i = 0; i < q_.size(); ++i) at_[i] = q_[i] - e * v[i];
  energy_(at_, {.rows = rows_}, below_);
  for (std::size_t i = 0; i < q_.size(); ++i) {
    made.Hv[i] = (above_[i] - below_[i]) / (2 * e);
    const double kink = (above_[i] - g_[i]) / e - (g_[i] - below_[i]) / e;
    made.size += made.Hv[i] * made.Hv[i];
    made.kink += kink * kink;
  }
  made.size = std::sqrt(made.size);
  made.kink = std::sqrt(made.kink);
  return made;
}

// For a smooth U, rounding eps / e and truncation e^2 balance at e = eps^(1/3). But a kink (relu) within reach adds its
// jump of the gradient over 2e, and networks have as many as rows x units: e = sqrt(eps) meets few of them, and where
// the two sides of q still disagree, a smaller one meets fewer.
void HessianAt::times(std::span<const double> v, std::span<double> Hv) {
  double square = 0, largest = 1;
  for (std::size_t i = 0; i < q_.size(); ++i) {
    square += v[i] * v[i];
    largest = std::max(largest, std::abs(q_[i]));
  }
  if (square == 0) return std::fill(Hv.begin(), Hv.end(), 0.0);
  double e = std::sqrt(std::numeric_limits<double>::epsilon()) * largest / std::sqrt(square);
  Product best = product(v, e);
  for (int tries = 0; tries < 4 && best.kink > 1e-3 * best.size; ++tries) {
    Product next = product(v, e /= 4);
    if (next.kink < best.kink) best = std::move(next);
  }
  std::copy(best.Hv.begin(), best.Hv.end(), Hv.begin());
}

std::vector<double> hessian(Energy<double>& energy, std::span<const double> q, Batch rows) {
  const std::size_t n = q.size();
  if (n > 2000)
    throw Error("the hessian of {} parameters is too large; it is computed for at most 2000, so use a smaller network",
                n);
  std::vector<double> h(n * n), column(n), unit(n);
  HessianAt H(energy, q, rows);
  for (std::size_t i = 0; i < n; ++i) {
    unit[i] = 1;
    H.times(unit, column);
    unit[i] = 0;
    for (std::size_t j = 0; j < n; ++j) {
      h[i * n + j] += column[j] / 2;
      h[j * n + i] += column[j] / 2;
    }
  }
  return h;
}

}  // namespace kelvin
