// SPDX-License-Identifier: Apache-2.0
// Gradients against central differences, for the tests of every potential.
#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "kelvin/core/noise.h"
#include "tests/evaluated.h"

namespace kelvin {

template <class U>
std::size_t dimension_of(const U& potential) {
  std::size_t n = 0;
  for (const Block& b : potential.blocks()) n += b.size();
  return n;
}

// Whether each number belongs to a buffer.
template <class U>
std::vector<char> in_buffers(const U& potential) {
  std::vector<char> buffer;
  for (const Block& b : potential.blocks()) buffer.insert(buffer.end(), b.size(), b.buffer());
  return buffer;
}

// Normals times `scale`, the same for float and double.
template <class Real = double>
std::vector<Real> some_point(std::size_t n, double scale, std::string_view name = "point") {
  std::vector<double> z(n);
  normals({stream_key(1, name)}, 0, z);
  for (double& x : z) x *= scale;
  return {z.begin(), z.end()};
}

inline double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double a : x) sum += a * a;
  return std::sqrt(sum);
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> d(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) d[i] = a[i] - b[i];
  return norm(d);
}

constexpr std::size_t enough_coordinates = 150;

// || (U(q + e) - U(q - e)) / 2e - g ||, over all coordinates but those of buffers, where g is something else; where
// there are very many, over every so many of them.
template <class U>
double difference_error(U& potential, std::vector<double> q, double e) {
  std::vector<double> g(q.size()), unused(q.size()), error(q.size());
  evaluated(potential, q, {}, g);
  const std::vector<char> buffer = in_buffers(potential);
  for (std::size_t i = 0; i < q.size(); i += 1 + q.size() / enough_coordinates) {
    if (buffer[i]) continue;
    const double x = q[i];
    q[i] = x + e;
    const double above = evaluated(potential, q, {}, unused);
    q[i] = x - e;
    const double below = evaluated(potential, q, {}, unused);
    q[i] = x;
    error[i] = (above - below) / (2 * e) - g[i];
  }
  return norm(error);
}

// The error of central differences is c e^2 if the gradient is right: half the increment, a quarter of the error (to a
// few percent, the next term being of order e^2 relative). A kink within reach would leave an error of order e and
// fail. Where U is of second degree in each coordinate c = 0, and rounding alone is left: 1e-16 / e.
template <class U>
void expect_gradient_matches(U& potential, const std::vector<double>& q, double e = 2e-3) {
  const double coarse = difference_error(potential, q, e), fine = difference_error(potential, q, e / 2);
  if (coarse < 1e-11) return;
  EXPECT_NEAR(coarse / fine, 4, 0.2) << "errors " << coarse << " and " << fine;
  std::vector<double> g(q.size());
  evaluated(potential, q, {}, g);
  EXPECT_LT(fine, 1e-3 * (norm(g) + 1));
}

}  // namespace kelvin
