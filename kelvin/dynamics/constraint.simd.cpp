// SPDX-License-Identifier: Apache-2.0
// Circles, one for each entry, as flat loops; the linear combination that turns (q, p) of a sphere; and what keeps a
// matrix orthogonal, apart from its products.
#include "kelvin/core/lanes.h"
#include "kelvin/dynamics/constraint_loops.h"

namespace kelvin::KELVIN_ISA {
namespace {

// sin and cos of any angle in quarter turns: the nearest whole number of them lies in the low bits of `shifted`.
template <class Real, class Whole>
KELVIN_INLINE void turn(Lanes<Real> quarters, Real shift, Lanes<Real>& sine, Lanes<Real>& cosine) {
  const Lanes<Real> shifted = quarters + shift;
  Lanes<Real> s, c;
  sine_cosine(quarters - (shifted - shift), s, c);
  const Whole k = (Whole)shifted;
  const Lanes<Real> first = (k & 1) != 0 ? c : s, second = (k & 1) != 0 ? -s : c;
  sine = (k & 2) != 0 ? -first : first;
  cosine = (k & 2) != 0 ? -second : second;
}
KELVIN_INLINE void turn(Floats quarters, Floats& sine, Floats& cosine) {
  turn<float, Integers>(quarters, 12582912.0f, sine, cosine);
}
KELVIN_INLINE void turn(Doubles quarters, Doubles& sine, Doubles& cosine) {
  turn<double, LongIntegers>(quarters, 0x1.8p52, sine, cosine);
}

template <class Real, class F>
KELVIN_INLINE void each_vector(std::size_t n, F&& f) {
  constexpr std::size_t width = std::size_t(lanes<Real>);
  for (std::size_t i = 0; i < n; i += width) f(i, n - i < width ? n - i : width);
}

// q' = q cos a + s sin a, s' = -q sin a + s cos a with a = w h/m and w = (s p - q v)/r^2, which the drift conserves;
// p' = w s', v' = -w q'. Dividing by the length undoes rounding before it can add up.
template <class Real>
KELVIN_INLINE void drift(const Planes<Real>& x, double radius, double time) {
  const Lanes<Real> per_square = all(Real(1 / (radius * radius))), quarters = all(Real(time * 0.63661977236758134));
  each_vector<Real>(x.n, [&](std::size_t i, std::size_t count) {
    const Lanes<Real> q = load_some(x.q + i, count), s = load_some(x.s + i, count);
    const Lanes<Real> p = load_some(x.p + i, count), v = load_some(x.v + i, count);
    const Lanes<Real> w = (s * p - q * v) * per_square;
    Lanes<Real> sine, cosine;
    turn(w * quarters, sine, cosine);
    Lanes<Real> to_q = q * cosine + s * sine, to_s = s * cosine - q * sine;
    const Lanes<Real> scale = Real(radius) / root(to_q * to_q + to_s * to_s);
    to_q *= scale;
    to_s *= scale;
    store_some<Real>(x.q + i, to_q, count);
    store_some<Real>(x.s + i, to_s, count);
    store_some<Real>(x.p + i, w * to_s, count);
    store_some<Real>(x.v + i, -w * to_q, count);
  });
}

// (q, s) = r (q, s)/|(q, s)|
template <class Real>
KELVIN_INLINE void project(const Planes<Real>& x, double radius) {
  each_vector<Real>(x.n, [&](std::size_t i, std::size_t count) {
    const Lanes<Real> q = load_some(x.q + i, count), s = load_some(x.s + i, count);
    const Lanes<Real> scale = Real(radius) / root(q * q + s * s);
    store_some<Real>(x.q + i, q * scale, count);
    store_some<Real>(x.s + i, s * scale, count);
  });
}

// (p, v) = w (s, -q), w as above
template <class Real>
KELVIN_INLINE void tangent(const Planes<Real>& x, double radius) {
  const Lanes<Real> per_square = all(Real(1 / (radius * radius)));
  each_vector<Real>(x.n, [&](std::size_t i, std::size_t count) {
    const Lanes<Real> q = load_some(x.q + i, count), s = load_some(x.s + i, count);
    const Lanes<Real> w = (s * load_some(x.p + i, count) - q * load_some(x.v + i, count)) * per_square;
    store_some<Real>(x.p + i, w * s, count);
    store_some<Real>(x.v + i, -w * q, count);
  });
}

// q' = k0 q + k1 p, p' = k2 q + k3 p
template <class Real>
KELVIN_INLINE void combined(std::size_t n, const double* k, Real* q, Real* p) {
  const Real a = Real(k[0]), b = Real(k[1]), c = Real(k[2]), d = Real(k[3]);
  for (std::size_t i = 0; i < n; ++i) {
    const Real x = q[i], y = p[i];
    q[i] = a * x + b * y;
    p[i] = c * x + d * y;
  }
}

// q = from + time p
template <class Real>
KELVIN_INLINE void along(std::size_t n, double time, const Real* from, const Real* p, Real* q) {
  const Real h = Real(time);
  for (std::size_t i = 0; i < n; ++i) q[i] = from[i] + h * p[i];
}

// The entries above the diagonal and their mirror images, a square of each at a time: both become what f makes of them.
template <class Real, class F>
KELVIN_INLINE void each_mirrored(std::size_t n, Real* square, F&& f) {
  constexpr std::size_t side = std::size_t(lanes<Real>);
  const auto count = [&](std::size_t from) { return n - from < side ? n - from : side; };
  for (std::size_t i = 0; i < n; i += side)
    for (std::size_t j = i; j < n; j += side) {
      Lanes<Real> upper[side], lower[side];
      for (std::size_t k = 0; k < side; ++k) {
        upper[k] = i + k < n ? load_some(square + (i + k) * n + j, count(j)) : Lanes<Real>{};
        lower[k] = j + k < n ? load_some(square + (j + k) * n + i, count(i)) : Lanes<Real>{};
      }
      turn_square<Real>(lower);
      for (std::size_t k = 0; k < side; ++k) upper[k] = f(upper[k], lower[k], i == j ? k : 0);
      for (std::size_t k = 0; k < count(i); ++k) store_some<Real>(square + (i + k) * n + j, upper[k], count(j));
      turn_square<Real>(upper);
      for (std::size_t k = 0; k < count(j); ++k) store_some<Real>(square + (j + k) * n + i, upper[k], count(i));
    }
}
template <class Real>
KELVIN_INLINE void mirror(std::size_t n, Real* square) {
  Lanes<Real> column;
  for (int k = 0; k < lanes<Real>; ++k) column[k] = Real(k);
  each_mirrored(n, square, [&](Lanes<Real> upper, Lanes<Real> lower, std::size_t below) {
    return column < Real(below) ? lower : upper;
  });
}
template <class Real>
KELVIN_INLINE void symmetric(std::size_t n, Real* square) {
  each_mirrored(n, square, [](Lanes<Real> upper, Lanes<Real> lower, std::size_t) { return (upper + lower) / 2; });
}

// Takes 1 from the diagonal.
template <class Real>
KELVIN_INLINE Size less_one(std::size_t n, Real* square) {
  Lanes<Real> most = {};
  double longest = 0, lost = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Real* row = square + i * n;
    row[i] -= 1;
    Lanes<Real> squares = {};
    each_vector<Real>(n, [&](std::size_t j, std::size_t count) {
      const Lanes<Real> v = load_some(row + j, count), size = v < 0 ? -v : v;
      most = size > most ? size : most;
      squares += v * v;
    });
    const double length = double(sum(squares));
    lost += length - length;
    if (length > longest) longest = length;
  }
  double largest = 0;
  for (int k = 0; k < lanes<Real>; ++k) largest = double(most[k]) > largest ? double(most[k]) : largest;
  return {largest + lost, __builtin_sqrt(longest) + lost};
}

// Of a - b; not finite if some entry is not.
template <class Real>
KELVIN_INLINE double row_length(std::size_t rows, std::size_t columns, const Real* a, const Real* b) {
  double longest = 0, lost = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    Lanes<Real> squares = {};
    each_vector<Real>(columns, [&](std::size_t j, std::size_t count) {
      const Lanes<Real> v = load_some(a + i * columns + j, count) - load_some(b + i * columns + j, count);
      squares += v * v;
    });
    const double length = double(sum(squares));
    lost += length - length;
    if (length > longest) longest = length;
  }
  return __builtin_sqrt(longest) + lost;
}
template <class Real>
KELVIN_INLINE double column_length(std::size_t rows, std::size_t columns, const Real* a, const Real* b) {
  Lanes<Real> longest = {}, lost = {};
  each_vector<Real>(columns, [&](std::size_t j, std::size_t count) {
    Lanes<Real> squares = {};
    for (std::size_t i = 0; i < rows; ++i) {
      const Lanes<Real> v = load_some(a + i * columns + j, count) - load_some(b + i * columns + j, count);
      squares += v * v;
    }
    longest = squares > longest ? squares : longest;
    lost += squares - squares;
  });
  double most = 0;
  for (int k = 0; k < lanes<Real>; ++k) most = double(longest[k]) > most ? double(longest[k]) : most;
  return __builtin_sqrt(most) + double(sum(lost));
}

}  // namespace

#define KELVIN_CONSTRAINT_LOOPS(Real)                                                              \
  void circle_drift(const Planes<Real>& x, double radius, double time) { drift(x, radius, time); } \
  void circle_project(const Planes<Real>& x, double radius) { project(x, radius); }                \
  void circle_tangent(const Planes<Real>& x, double radius) { tangent(x, radius); }                \
  void combine(std::size_t n, const double* k, Real* q, Real* p) { combined(n, k, q, p); }         \
  void move_along(std::size_t n, double time, const Real* from, const Real* p, Real* q) {          \
    along(n, time, from, p, q);                                                                    \
  }                                                                                                \
  void mirror_upper(std::size_t n, Real* square) { mirror(n, square); }                            \
  void make_symmetric(std::size_t n, Real* square) { symmetric(n, square); }                       \
  Size size_less_one(std::size_t n, Real* square) { return less_one(n, square); }                  \
  double longest_row(std::size_t rows, std::size_t columns, const Real* a, const Real* b) {        \
    return row_length(rows, columns, a, b);                                                        \
  }                                                                                                \
  double longest_column(std::size_t rows, std::size_t columns, const Real* a, const Real* b) {     \
    return column_length(rows, columns, a, b);                                                     \
  }
KELVIN_CONSTRAINT_LOOPS(float)
KELVIN_CONSTRAINT_LOOPS(double)

}  // namespace kelvin::KELVIN_ISA
