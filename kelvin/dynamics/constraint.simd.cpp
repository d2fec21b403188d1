// SPDX-License-Identifier: Apache-2.0
// Circles, one for each entry, as flat loops; and the linear combination that turns (q, p) of a sphere.
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
  sine = (k & 2) != 0 ? -first : first, cosine = (k & 2) != 0 ? -second : second;
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
    to_q *= scale, to_s *= scale;
    store_some<Real>(x.q + i, to_q, count), store_some<Real>(x.s + i, to_s, count);
    store_some<Real>(x.p + i, w * to_s, count), store_some<Real>(x.v + i, -w * to_q, count);
  });
}

// (q, s) = r (q, s)/|(q, s)|
template <class Real>
KELVIN_INLINE void project(const Planes<Real>& x, double radius) {
  each_vector<Real>(x.n, [&](std::size_t i, std::size_t count) {
    const Lanes<Real> q = load_some(x.q + i, count), s = load_some(x.s + i, count);
    const Lanes<Real> scale = Real(radius) / root(q * q + s * s);
    store_some<Real>(x.q + i, q * scale, count), store_some<Real>(x.s + i, s * scale, count);
  });
}

// (p, v) = w (s, -q), w as above
template <class Real>
KELVIN_INLINE void tangent(const Planes<Real>& x, double radius) {
  const Lanes<Real> per_square = all(Real(1 / (radius * radius)));
  each_vector<Real>(x.n, [&](std::size_t i, std::size_t count) {
    const Lanes<Real> q = load_some(x.q + i, count), s = load_some(x.s + i, count);
    const Lanes<Real> w = (s * load_some(x.p + i, count) - q * load_some(x.v + i, count)) * per_square;
    store_some<Real>(x.p + i, w * s, count), store_some<Real>(x.v + i, -w * q, count);
  });
}

// q' = k0 q + k1 p, p' = k2 q + k3 p
template <class Real>
KELVIN_INLINE void combined(std::size_t n, const double* k, Real* q, Real* p) {
  const Real a = Real(k[0]), b = Real(k[1]), c = Real(k[2]), d = Real(k[3]);
  for (std::size_t i = 0; i < n; ++i) {
    const Real x = q[i], y = p[i];
    q[i] = a * x + b * y, p[i] = c * x + d * y;
  }
}

// Largest |x|; not finite if some x is not.
template <class Real>
KELVIN_INLINE double largest_of(std::size_t n, const Real* x) {
  Lanes<Real> most = {}, lost = {};
  each_vector<Real>(n, [&](std::size_t i, std::size_t count) {
    const Lanes<Real> v = load_some(x + i, count), size = v < 0 ? -v : v;
    most = size > most ? size : most;
    lost += v - v;
  });
  double worst = 0;
  for (int k = 0; k < lanes<Real>; ++k) worst = double(most[k]) > worst ? double(most[k]) : worst;
  return worst + double(sum(lost));
}

}  // namespace

double largest(std::size_t n, const float* x) { return largest_of(n, x); }
double largest(std::size_t n, const double* x) { return largest_of(n, x); }
void circle_drift(const Planes<float>& x, double radius, double time) { drift(x, radius, time); }
void circle_drift(const Planes<double>& x, double radius, double time) { drift(x, radius, time); }
void circle_project(const Planes<float>& x, double radius) { project(x, radius); }
void circle_project(const Planes<double>& x, double radius) { project(x, radius); }
void circle_tangent(const Planes<float>& x, double radius) { tangent(x, radius); }
void circle_tangent(const Planes<double>& x, double radius) { tangent(x, radius); }
void combine(std::size_t n, const double* k, float* q, float* p) { combined(n, k, q, p); }
void combine(std::size_t n, const double* k, double* q, double* p) { combined(n, k, q, p); }

}  // namespace kelvin::KELVIN_ISA
