// SPDX-License-Identifier: Apache-2.0
// Every elementary flow. Add one: write the function, add its row. Nothing else.
#include "kelvin/dynamics/letters.h"

#include <cmath>

#include "kelvin/numeric/sums.h"

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

// dp = -(h/2T) C p dt, C the covariance of the noise of g: half of the noise h^2 C that a step's kicks bring is met by
// friction as Einstein's relation asks. Solved exactly: p = exp(-s C) p, s = (h/2T) t. With C = Y Y' and Y'Y = E
// diag(k) E':  p += Y E diag((e^-sk - 1)/k) E' Y' p.
template <class Real>
void damp_noise(const Part<Real>& part, double t, std::span<const Real>) {
  const GradientNoise<Real>& noise = *part.noise;
  const std::size_t n = part.size(), m = noise.values.size();
  const double s = part.T > 0 ? part.h * t / (2 * part.T) : 0;
  for (std::size_t i = 0; i < noise.variance.size(); ++i) part.p[i] *= Real(std::exp(-s * double(noise.variance[i])));
  double along[64], weights[64] = {};
  for (std::size_t j = 0; j < m; ++j) along[j] = dot(n, noise.columns.data() + j * n, part.p.data());
  for (std::size_t e = 0; e < m; ++e) {
    double sum = 0;
    for (std::size_t j = 0; j < m; ++j) sum += noise.vectors[e * m + j] * along[j];
    const double k = noise.values[e], x = s * k;
    sum *= x > 1e-12 ? std::expm1(-x) / k : -s;
    for (std::size_t j = 0; j < m; ++j) weights[j] += noise.vectors[e * m + j] * sum;
  }
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t i = 0; i < n; ++i) part.p[i] += Real(weights[j]) * noise.columns[j * n + i];
}

// Euler step of dp = -g dt - gamma p dt + sqrt(2 gamma m T) dW
template <class Real>
void euler(const Part<Real>& s, double h, std::span<const Real> z) {
  const Real c = Real(h), keep = Real(1 - s.gamma * h), spread = Real(std::sqrt(2 * h * s.gamma * s.m * s.T));
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] = keep * s.p[i] - c * s.g[i] + spread * z[i];
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

// ---- momenta of unit length, u = p, in the energy E = U/T of n degrees of freedom

template <class Real>
void normalise(std::span<Real> p) {
  const double size = std::sqrt(dot(p.size(), p.data(), p.data()));
  for (Real& x : p) x = Real(double(x) / size);
}

// du = -(1 - u u') G dt / (n - 1), G = grad E, solved exactly for constant G. With e = -G/|G|, a = e.u, delta =
// h |G| / (n - 1), z = e^-delta:  u ~ (1 - z)(1 + z + a (1 - z)) e + 2 z u, and the kinetic energy grows by
// (n - 1) log(cosh delta + a sinh delta) = (n - 1) (delta + log((1 + a + (1 - a) z^2) / 2)).
template <class Real>
void turn(const Part<Real>& s, double h, std::span<const Real>) {
  const double g = std::sqrt(dot(s.size(), s.g.data(), s.g.data()));
  normalise(s.p);
  if (g == 0) return;
  const double n = s.constants->freedom - 1, delta = h * g / (s.T * n), a = -dot(s.size(), s.g.data(), s.p.data()) / g;
  const double z = std::exp(-delta), rest = -std::expm1(-delta);
  const double along = -rest * (1 + z + a * rest) / g, keep = 2 * z;
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] = Real(along * double(s.g[i]) + keep * double(s.p[i]));
  normalise(s.p);
  if (s.work) *s.work += n * (delta + std::log((1 + a + (1 - a) * z * z) / 2));
}

// u ~ u + nu R, nu^2 = (e^(2 gamma h) - 1) / n: forgets its direction over a length 1/gamma.
template <class Real>
void stray(const Part<Real>& s, double h, std::span<const Real> z) {
  const double nu = std::sqrt(std::expm1(2 * s.gamma * h) / s.constants->freedom);
  const bool anew = std::isinf(nu);
  const Real keep = anew ? 0 : 1, spread = anew ? 1 : Real(nu);
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] = keep * s.p[i] + spread * z[i];
  normalise(s.p);
}

// ---- optimizers: h is the learning rate, a the number of this update, counted from 1

// u = momentum u + (1 - dampening) g, at first u = g; q -= h u
template <class Real>
void heavy_ball(const Part<Real>& s, double h, std::span<const Real>) {
  const PartConstants& c = *s.constants;
  const bool first = s.count == 1 || c.momentum == 0;
  const Real keep = Real(first ? 0 : c.momentum), add = Real(first ? 1 : 1 - c.dampening), rate = Real(h);
  for (std::size_t i = 0; i < s.size(); ++i) {
    s.u[i] = keep * s.u[i] + add * s.g[i];
    s.q[i] -= rate * s.u[i];
  }
}

// u = momentum u + g; q -= h (g + momentum u)
template <class Real>
void nesterov(const Part<Real>& s, double h, std::span<const Real>) {
  const Real keep = Real(s.constants->momentum), rate = Real(h);
  for (std::size_t i = 0; i < s.size(); ++i) {
    s.u[i] = keep * s.u[i] + s.g[i];
    s.q[i] -= rate * (s.g[i] + keep * s.u[i]);
  }
}

// u = beta1 u + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2: the direction is u/(1 - beta1^a) over
// sqrt(v/(1 - beta2^a)) + floor
template <class Real>
struct Moments {
  Real keep_u, add_u, keep_v, add_v, scale_u, scale_v, floor;
  explicit Moments(const Part<Real>& s) {
    const PartConstants& c = *s.constants;
    keep_u = Real(c.beta1);
    add_u = Real(1 - c.beta1);
    keep_v = Real(c.beta2);
    add_v = Real(1 - c.beta2);
    scale_u = Real(1 / (1 - std::pow(c.beta1, s.count)));
    scale_v = Real(1 / std::sqrt(1 - std::pow(c.beta2, s.count)));
    floor = Real(c.floor);
  }
  void update(const Part<Real>& s, std::size_t i) const {
    s.u[i] = keep_u * s.u[i] + add_u * s.g[i];
    s.v[i] = keep_v * s.v[i] + add_v * s.g[i] * s.g[i];
  }
  Real direction(const Part<Real>& s, std::size_t i) const {
    return scale_u * s.u[i] / (scale_v * std::sqrt(s.v[i]) + floor);
  }
};

template <class Real>
void adam(const Part<Real>& s, double h, std::span<const Real>) {
  const Moments<Real> moments(s);
  const Real rate = Real(h);
  for (std::size_t i = 0; i < s.size(); ++i) {
    moments.update(s, i);
    s.q[i] -= rate * moments.direction(s, i);
  }
}

// Adam on weights that shrink by themselves: q -= h (direction + weight_decay q)
template <class Real>
void adamw(const Part<Real>& s, double h, std::span<const Real>) {
  const Moments<Real> moments(s);
  const Real rate = Real(h), shrink = Real(1 - h * s.constants->weight_decay);
  for (std::size_t i = 0; i < s.size(); ++i) {
    moments.update(s, i);
    s.q[i] = shrink * s.q[i] - rate * moments.direction(s, i);
  }
}

// u = beta2 u + (1 - beta2) g^2; q -= h g / (sqrt u + floor)
template <class Real>
void rmsprop(const Part<Real>& s, double h, std::span<const Real>) {
  const PartConstants& c = *s.constants;
  const Real keep = Real(c.beta2), add = Real(1 - c.beta2), floor = Real(c.floor), rate = Real(h);
  for (std::size_t i = 0; i < s.size(); ++i) {
    s.u[i] = keep * s.u[i] + add * s.g[i] * s.g[i];
    s.q[i] -= rate * s.g[i] / (std::sqrt(s.u[i]) + floor);
  }
}

// Santa, a thermostat u for every entry and the metric of RMSprop: v = beta2 v + (1 - beta2) g^2, at first v = g^2,
// G = 1/sqrt(floor + sqrt v), and
// dp = -G g dt - u p dt + sqrt(2 gamma m T) dW, du = eps (p^2/m - T) dt, then dq = G p/m dt. At T = 0 u rests.
template <class Real>
void santa(const Part<Real>& s, double h, std::span<const Real> z) {
  const PartConstants& c = *s.constants;
  const bool first = s.count == 1;
  const Real keep = Real(first ? 0 : c.beta2), add = Real(first ? 1 : 1 - c.beta2), floor = Real(c.floor);
  const Real coupling = Real(s.T > 0 ? s.eps * h / 2 : 0), T = Real(s.T), m = Real(s.m), half = Real(h / 2);
  const Real kick = Real(h), reach = Real(h / s.m), spread = Real(std::sqrt(2 * s.gamma * s.m * s.T * h));
  for (std::size_t i = 0; i < s.size(); ++i) {
    s.v[i] = keep * s.v[i] + add * s.g[i] * s.g[i];
    const Real G = 1 / std::sqrt(floor + std::sqrt(s.v[i]));
    Real xi = first ? Real(*s.xi) : s.u[i];
    xi += coupling * (s.p[i] * s.p[i] / m - T);
    const Real damp = std::exp(-half * xi);
    s.p[i] = damp * (damp * s.p[i] - kick * G * s.g[i] + spread * z[i]);
    s.u[i] = xi + coupling * (s.p[i] * s.p[i] / m - T);
    s.q[i] += reach * G * s.p[i];
  }
}

// u += g^2; q -= h g / (sqrt u + floor)
template <class Real>
void adagrad(const Part<Real>& s, double h, std::span<const Real>) {
  const Real floor = Real(s.constants->floor), rate = Real(h);
  for (std::size_t i = 0; i < s.size(); ++i) {
    s.u[i] += s.g[i] * s.g[i];
    s.q[i] -= rate * s.g[i] / (std::sqrt(s.u[i]) + floor);
  }
}

// For each block of the part by itself: f(block).
template <class Real, class F>
void each_block(const Part<Real>& s, F&& f) {
  const auto& begins = s.constants->blocks;
  for (std::size_t b = 0; b + 1 < begins.size(); ++b) f(s.slice(begins[b], begins[b + 1] - begins[b]));
}

// With r the direction, |.| over a block: trust |q| / |r|, or 1 where one of them vanishes.
double trusted(double trust, double size_of_q, double size_of_r) {
  return size_of_q > 0 && size_of_r > 0 ? trust * size_of_q / size_of_r : 1;
}

// In each block u = momentum u + t (g + w q), t = trust |q| / (|g| + w |q|), w the weight decay; q -= h u
template <class Real>
void lars(const Part<Real>& whole, double h, std::span<const Real>) {
  const PartConstants& c = *whole.constants;
  each_block(whole, [&](const Part<Real>& s) {
    const double q = std::sqrt(dot(s.size(), s.q.data(), s.q.data())),
                 g = std::sqrt(dot(s.size(), s.g.data(), s.g.data()));
    const Real t = Real(trusted(c.trust, q, g + c.weight_decay * q));
    const Real keep = Real(c.momentum), decay = Real(c.weight_decay), rate = Real(h);
    for (std::size_t i = 0; i < s.size(); ++i) {
      s.u[i] = keep * s.u[i] + t * (s.g[i] + decay * s.q[i]);
      s.q[i] -= rate * s.u[i];
    }
  });
}

// In each block r = direction of Adam + w q, w the weight decay; q -= h trust |q|/|r| r
template <class Real>
void lamb(const Part<Real>& whole, double h, std::span<const Real>) {
  const PartConstants& c = *whole.constants;
  each_block(whole, [&](const Part<Real>& s) {
    const Moments<Real> moments(s);
    const Real decay = Real(c.weight_decay);
    double square = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      moments.update(s, i);
      const double r = double(moments.direction(s, i) + decay * s.q[i]);
      square += r * r;
    }
    const Real rate = Real(h * trusted(c.trust, std::sqrt(dot(s.size(), s.q.data(), s.q.data())), std::sqrt(square)));
    for (std::size_t i = 0; i < s.size(); ++i) s.q[i] -= rate * (moments.direction(s, i) + decay * s.q[i]);
  });
}

// q -= a g with a = |dq.dg| / dg.dg of the last two points, u and v being the last q and g; at first, and where g has
// not changed, a = h
template <class Real>
void barzilai_borwein(const Part<Real>& s, double h, std::span<const Real>) {
  double product = 0, square = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double dq = double(s.q[i]) - double(s.u[i]), dg = double(s.g[i]) - double(s.v[i]);
    product += dq * dg;
    square += dg * dg;
  }
  const double ratio = std::abs(product) / square;
  const Real a = Real(s.count > 1 && ratio > 0 && std::isfinite(ratio) ? ratio : h);
  for (std::size_t i = 0; i < s.size(); ++i) {
    s.u[i] = s.q[i];
    s.v[i] = s.g[i];
    s.q[i] -= a * s.g[i];
  }
}

// ---- looking ahead: (u, v) = (q, p), and back again. The swap leaves in (u, v) what was seen last.
template <class Real>
void look(const Part<Real>& s, double, std::span<const Real>) {
  for (std::size_t i = 0; i < s.size(); ++i) s.u[i] = s.q[i], s.v[i] = s.p[i];
}

template <class Real>
void take_back(const Part<Real>& s, double, std::span<const Real>) {
  for (std::size_t i = 0; i < s.size(); ++i) std::swap(s.u[i], s.q[i]), std::swap(s.v[i], s.p[i]);
}

// p = -p
template <class Real>
void turn_around(const Part<Real>& s, double, std::span<const Real>) {
  for (std::size_t i = 0; i < s.size(); ++i) s.p[i] = -s.p[i];
}

template <class Real>
void nothing(const Part<Real>&, double, std::span<const Real>) {}

using enum Joint;
constexpr Letter all_letters[] = {
    // clang-format off
    {{.drifts = true},                                    'A', no,       true,  false, 0, false, Forgets::never,  drift<float>,         drift<double>,         "drift: q moves along p"},
    {{},                                                  'B', gradient, false, true,  0, false, Forgets::never,  kick<float>,          kick<double>,          "kick: p follows the gradient"},
    {{},                                                  'O', no,       false, true,  1, true,  Forgets::at_infinite_friction,
                                                                                                  bath<float>,          bath<double>,          "bath: friction and its noise on p, exactly"},
    {{},                                                  'R', no,       false, true,  1, true,  Forgets::always, resample<float>,      resample<double>,      "resample: p anew from its Gaussian (infinite friction)"},
    {{},                                                  'S', gradient, true,  false, 1, true,  Forgets::never,  overdamped<float>,    overdamped<double>,    "overdamped: one Euler step of q along the gradient with noise (SGLD; SGD at temperature 0)"},
    {{},                                                  'U', no,       true,  true,  2, true,  Forgets::never,  drift_in_bath<float>, drift_in_bath<double>, "drift in the bath: A and O together, exactly (finite friction)"},
    {{.adaptive = true},                                  'C', no,       false, true,  0, false, Forgets::never,  damp<float>,          damp<double>,          "damp: friction xi on p"},
    {{.adaptive = true},                                  'D', no,       false, true,  1, false, Forgets::never,  shake<float>,         shake<double>,         "shake: noise sigma on p"},
    {{.whole = true, .adaptive = true, .moves_xi = true}, 'E', no,       false, false, 0, false, Forgets::never,  thermostat<float>,    thermostat<double>,    "thermostat: xi follows the kinetic temperature"},
    {{.adaptive = true},                                  'F', no,       false, true,  1, false, Forgets::never,  damp_and_shake<float>, damp_and_shake<double>, "damp and shake: C and D together, exactly"},
    {{.whole = true, .needs_noise = true},                'V', no,       false, true,  0, false, Forgets::never,  damp_noise<float>,    damp_noise<double>,    "covariance-controlled friction: takes out of p the heat that the minibatches' noise brings"},
    {{.memory = 1},                                       'h', gradient, true,  false, 0, false, Forgets::never,  heavy_ball<float>,    heavy_ball<double>,    "heavy ball: SGD with momentum and dampening"},
    {{.memory = 1},                                       'n', gradient, true,  false, 0, false, Forgets::never,  nesterov<float>,      nesterov<double>,      "SGD with Nesterov's momentum"},
    {{.memory = 2, .scales = true},                       'm', gradient, true,  false, 0, false, Forgets::never,  adam<float>,          adam<double>,          "Adam: a step along running moments of the gradient (beta1, beta2, floor)"},
    {{.memory = 2, .decays = true, .scales = true},       'w', gradient, true,  false, 0, false, Forgets::never,  adamw<float>,         adamw<double>,         "AdamW: Adam, with weight decay apart from the gradient"},
    {{.memory = 1, .scales = true},                       'v', gradient, true,  false, 0, false, Forgets::never,  rmsprop<float>,       rmsprop<double>,       "RMSprop: the gradient over its running size (beta2, floor)"},
    {{.memory = 1, .scales = true},                       'g', gradient, true,  false, 0, false, Forgets::never,  adagrad<float>,       adagrad<double>,       "AdaGrad: the gradient over its accumulated size (floor)"},
    {{.whole = true, .memory = 1, .decays = true},        'l', gradient, true,  false, 0, false, Forgets::never,  lars<float>,          lars<double>,          "LARS: momentum, with a rate for each block (momentum, trust)"},
    {{.whole = true, .memory = 2, .decays = true, .scales = true}, 'k', gradient, true,  false, 0, false, Forgets::never,  lamb<float>,          lamb<double>,          "LAMB: Adam, with a rate for each block (beta1, beta2, floor, trust)"},
    {{.whole = true, .memory = 2, .all_rows = true},      't', gradient, true,  false, 0, false, Forgets::never,  barzilai_borwein<float>, barzilai_borwein<double>, "gradient descent with the two-point step of Barzilai and Borwein (every row at every step)"},
    {{.adaptive = true, .memory = 2},                     's', gradient, true,  true,  1, true,  Forgets::never,  santa<float>,         santa<double>,         "Santa: a thermostat for every entry, in the metric of RMSprop (friction, eps, xi, beta2, floor); at temperature 0 momentum with what they found"},
    {{.piece = 1},                                        '1', gradient, false, true,  0, false, Forgets::never,  kick<float>,          kick<double>,          "B1, kick by the first piece of U: the loss"},
    {{.piece = 2},                                        '2', gradient, false, true,  0, false, Forgets::never,  kick<float>,          kick<double>,          "B2, kick by the second piece of U: priors and penalties"},
    {{},                                                  'e', gradient, false, true,  1, true,  Forgets::never,  euler<float>,         euler<double>,         "Euler: one Euler step of p along the gradient with friction and noise"},
    {{},                                                  'K', energy,   false, true,  0, false, Forgets::never,  kick<float>,          kick<double>,          "kick of the tempering variable by the energy of the other parts"},
    {{},                                                  'x', energy,   false, true,  1, true,  Forgets::never,  euler<float>,         euler<double>,         "Euler step of the tempering variable: K with friction and noise"},
    {{.memory = 2, .look = 1},                            '<', no,       false, false, 0, false, Forgets::never,  look<float>,          look<double>,          "look ahead: what follows, up to >, is a step of its own that this part takes back"},
    {{.memory = 2, .look = -1},                           '>', no,       true,  true,  0, false, Forgets::never,  take_back<float>,     take_back<double>,     "take back: q and p are again what they were at <"},
    {{},                                                  '~', no,       false, true,  0, false, Forgets::never,  turn_around<float>,   turn_around<double>,   "turn around: p is reversed, so that what follows runs back in time"},
    {{},                                                  '.', wait,     false, false, 0, false, Forgets::never,  nothing<float>,       nothing<double>,       "wait: meet the other parts, do nothing"},
    {{.whole = true, .all_rows = true, .unit_speed = true}, 'T', gradient, false, true, 0, false, Forgets::never, turn<float>,         turn<double>,          "turn: p, of unit length, turns towards -g (microcanonical; one part, every row)"},
    {{.whole = true, .unit_speed = true},                 'P', no,       false, true,  1, false, Forgets::at_infinite_friction,
                                                                                                  stray<float>,         stray<double>,         "stray: p, of unit length, forgets its direction over a length 1/friction"},
    // clang-format on
};

}  // namespace

std::span<const Letter> letters() { return all_letters; }

}  // namespace kelvin::KELVIN_ISA
