// SPDX-License-Identifier: Apache-2.0
// Every elementary flow. Add one: write the function, add its row. Nothing else.
#include "kelvin/dynamics/letters.h"

#include <cmath>

#include "kelvin/core/sums.h"

namespace kelvin::KELVIN_ISA {
namespace {

// dq = p/m dt
template <class Real>
void drift(const Part<Real>& s, double h, std::span<const Real>) {
  const Real c = Real(h / s.m);
  for (std::size_t i = 0; i < s.size(); ++i) s.q[i] += c * s.p[i];
}

// dp = -g dt
template <class Real>
void kick(const Part<Real>& s, double h, std::span<const Real>) {
  const Real c = Real(h);
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] -= c * s.g[i];
}

// dp = -gamma p dt + sqrt(2 gamma m T) dW, solved exactly; infinite friction draws p anew.
template <class Real>
void bath(const Part<Real>& s, double h, std::span<const Real> z) {
  const Real keep = Real(std::exp(-s.gamma * h)), spread = Real(std::sqrt(s.m * s.T * -std::expm1(-2 * s.gamma * h)));
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] = keep * s.p[i] + spread * z[i];
}

template <class Real>
void resample(const Part<Real>& s, double, std::span<const Real> z) {
  const Real spread = Real(std::sqrt(s.m * s.T));
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] = spread * z[i];
}

// dp = -rate p dt + sigma dW with a rate of either sign, solved exactly: p = e^-x p + sigma sqrt(h (1 - e^-2x)/2x) R,
// x = rate h. The ratio tends to 1 where x vanishes.
template <class Real>
void mix(const Part<Real>& s, double rate, double sigma, double h, std::span<const Real> z) {
  const double x = 2 * rate * h, ratio = std::abs(x) < 1e-300 ? 1 : -std::expm1(-x) / x;
  const Real keep = Real(std::exp(-rate * h)), spread = Real(sigma * std::sqrt(h * ratio));
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] = keep * s.p[i] + spread * z[i];
}

// dp = -xi p dt, or -eps xi p dt by the other convention
template <class Real>
void damp(const Part<Real>& s, double h, std::span<const Real>) {
  const Real keep = Real(std::exp(-s.damping * *s.xi * h));
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] *= keep;
}

// dp = sigma dW
template <class Real>
void shake(const Part<Real>& s, double h, std::span<const Real> z) {
  const Real spread = Real(s.sigma * std::sqrt(h));
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] += spread * z[i];
}

template <class Real>
void damp_and_shake(const Part<Real>& s, double h, std::span<const Real> z) {
  mix(s, s.damping * *s.xi, s.sigma, h, z);
}

// dxi = eps (p.p/m - n T) dt, n the degrees of freedom
template <class Real>
void thermostat(const Part<Real>& s, double h, std::span<const Real>) {
  *s.xi += h * s.eps * (dot(s.size(), s.p.data(), s.p.data()) / s.m - s.constants->freedom * s.T);
}

// Euler step of dq = -g/m dt + sqrt(2 T/m) dW; at T = 0 this is gradient descent.
template <class Real>
void overdamped(const Part<Real>& s, double h, std::span<const Real> z) {
  const Real c = Real(h / s.m), spread = Real(std::sqrt(2 * h * s.T / s.m));
  for (std::size_t i = 0; i < s.size(); ++i) s.q[i] += spread * z[i] - c * s.g[i];
}

// 2x - 3 + 4 e^-x - e^-2x, whose terms up to x^2 cancel: by its series sum (-x)^k (4 - 2^k) / k! where they would.
double position_spread(double x) {
  if (x > 0.5) return 2 * x - 3 + 4 * std::exp(-x) - std::exp(-2 * x);
  double sum = 0, power = x * x / 2, two = 4;
  for (int k = 3; k < 24; ++k) {
    power *= -x / k;
    two *= 2;
    sum += power * (4 - two);
  }
  return sum;
}

// dq = p/m dt, dp = -gamma p dt + sqrt(2 gamma m T) dW together, solved exactly. With x = gamma h and y = 1 - e^-x:
// q += h (y/x) p/m + X, p = e^-x p + V; Var X = (T/m) h^2 (2x - 3 + 4e^-x - e^-2x)/x^2, Cov = T h y^2/x, Var V = m T (1
// - e^-2x).
template <class Real>
void drift_in_bath(const Part<Real>& s, double h, std::span<const Real> z) {
  const double x = s.gamma * h, y = -std::expm1(-x), ratio = x > 0 ? y / x : 1;
  const double var_q = x > 0 ? s.T / s.m * h * h * position_spread(x) / (x * x) : 0;
  const double covariance = s.T * h * y * ratio, var_p = s.m * s.T * -std::expm1(-2 * x);
  const double a = std::sqrt(var_q), b = a > 0 ? covariance / a : 0, c = std::sqrt(var_p > b * b ? var_p - b * b : 0);
  const Real keep = Real(1 - y), reach = Real(h * ratio / s.m), aq = Real(a), bp = Real(b), cp = Real(c);
  for (std::size_t i = 0; i < s.size(); ++i) {
    s.q[i] += reach * s.p[i] + aq * z[2 * i];
    s.p[i] = keep * s.p[i] + bp * z[2 * i] + cp * z[2 * i + 1];
  }
}

template <class Real>
void nothing(const Part<Real>&, double, std::span<const Real>) {}

using enum Joint;
constexpr Letter table[] = {
    // clang-format off
    {'A', no,       true,  false, 0, false, Forgets::never,  drift<float>,         drift<double>,         "drift: q moves along p"},
    {'B', gradient, false, true,  0, false, Forgets::never,  kick<float>,          kick<double>,          "kick: p follows the gradient"},
    {'O', no,       false, true,  1, true,  Forgets::at_infinite_friction,
                                               bath<float>,          bath<double>,          "bath: friction and its noise on p, exactly"},
    {'R', no,       false, true,  1, true,  Forgets::always, resample<float>,      resample<double>,      "resample: p anew from its Gaussian (infinite friction)"},
    {'S', gradient, true,  false, 1, true,  Forgets::never,  overdamped<float>,    overdamped<double>,    "overdamped: one Euler step of q along the gradient with noise (SGLD; SGD at temperature 0)"},
    {'U', no,       true,  true,  2, true,  Forgets::never,  drift_in_bath<float>, drift_in_bath<double>, "drift in the bath: A and O together, exactly (finite friction)"},
    {'C', no,       false, true,  0, false, Forgets::never,  damp<float>,          damp<double>,          "damp: friction xi on p", false, true},
    {'D', no,       false, true,  1, false, Forgets::never,  shake<float>,         shake<double>,         "shake: noise sigma on p", false, true},
    {'E', no,       false, false, 0, false, Forgets::never,  thermostat<float>,    thermostat<double>,    "thermostat: xi follows the kinetic temperature", true, true, true},
    {'F', no,       false, true,  1, false, Forgets::never,  damp_and_shake<float>, damp_and_shake<double>, "damp and shake: C and D together, exactly", false, true},
    {'.', wait,     false, false, 0, false, Forgets::never,  nothing<float>,       nothing<double>,       "wait: meet the other parts, do nothing"},
    {'{', propose,  false, false, 0, false, Forgets::never,  nothing<float>,       nothing<double>,       "propose: remember this state"},
    {'}', decide,   false, false, 0, false, Forgets::never,  nothing<float>,       nothing<double>,       "decide: keep the new state or return to the remembered one with p reversed, by Metropolis"},
    // clang-format on
};

}  // namespace

std::span<const Letter> letters() { return table; }

}  // namespace kelvin::KELVIN_ISA
