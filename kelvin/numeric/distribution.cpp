// SPDX-License-Identifier: Apache-2.0
#include "kelvin/numeric/distribution.h"

#include <math.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <unsupported/Eigen/SpecialFunctions>

namespace kelvin {
namespace {

// Continued fraction of I_x(a, b) by Lentz's method; converges quickly for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < tiny ? tiny : d);
  double value = d;
  for (int m = 1; m < 10000; ++m) {
    double change = 1;
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (std::abs(d) < tiny ? tiny : d);
      if (std::abs(c) < tiny) c = tiny;
      change = c * d;
      value *= change;
    }
    if (std::abs(change - 1) < 1e-15) break;
  }
  return value;
}

// Odd in u = share - 1/2 near the middle; a series in sqrt(-2 log share) in the tail; each good to 1e-3.
double rough_normal_quantile(double share) {
  const double u = std::sqrt(-2 * std::log(std::fmin(share, 1 - share)));
  const double z =
      u - (2.515517 + u * (0.802853 + u * 0.010328)) / (1 + u * (1.432788 + u * (0.189269 + u * 0.001308)));
  return share < 0.5 ? -z : z;
}

}  // namespace

// Halley's steps on erfc from an approximation with error below 5e-4 (Abramowitz and Stegun 26.2.23): each cubes the
// error.
double normal_quantile(double share) {
  if (!(share > 0 && share < 1))
    return share == 0   ? -std::numeric_limits<double>::infinity()
           : share == 1 ? std::numeric_limits<double>::infinity()
                        : NAN;
  if (share > 0.5) return -normal_quantile(1 - share);
  double z = rough_normal_quantile(share);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const double off =
        (0.5 * std::erfc(-z / std::numbers::sqrt2) - share) * std::exp(z * z / 2) * std::sqrt(2 * std::numbers::pi);
    z -= off / (1 + z * off / 2);
  }
  return z;
}

double beta_share(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_share(b, a, 1 - x);
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  return front / a * beta_fraction(a, b, x);
}

double beta_quantile(double share, double a, double b) {
  if (!(a > 0 && b > 0 && share >= 0 && share <= 1)) return NAN;
  double low = 0, high = 1;
  for (int halving = 0; halving < 100 && high - low > 1e-16 * high; ++halving) {
    const double middle = (low + high) / 2;
    (beta_share(a, b, middle) < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

// P(a, x), the regularised incomplete gamma function: its series below the mean, its continued fraction above. Where
// these take long, the cube root of x / a is normal (Wilson and Hilferty 1931), to 0.1 / a.
double gamma_share(double a, double x) {
  if (x <= 0) return 0;
  constexpr double large = 1e7;
  if (a > large) {
    const double v = 1 / (9 * a);
    return std::erfc((1 - v - std::cbrt(x / a)) / std::sqrt(2 * v)) / 2;
  }
  const double front = std::exp(a * std::log(x) - x - log_gamma(a));
  constexpr double enough = 1e-16;
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (double k = a + 1; term > enough * sum; ++k) sum += term *= x / k;
    return front * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, value = d;
  for (double k = 1; k < 1e6; ++k) {
    const double term = -k * (k - a);
    b += 2;
    d = 1 / (term * d + b);
    c = b + term / c;
    value *= c * d;
    if (std::abs(c * d - 1) < enough) break;
  }
  return 1 - front * value;
}

double chi_square_quantile(double share, double freedom) {
  double low = 0, high = freedom + 100 * std::sqrt(freedom) + 100;
  for (int halving = 0; halving < 100 && high - low > 1e-14 * high; ++halving) {
    const double middle = (low + high) / 2;
    (gamma_share(freedom / 2, middle / 2) < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

// t^2 / (freedom + t^2) has a beta law; of the two tails the smaller is computed.
double student_share(double freedom, double t) {
  const double tail = beta_share(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
  return t < 0 ? tail : 1 - tail;
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double digamma(double x) { return Eigen::numext::digamma(x); }
double trigamma(double x) { return Eigen::numext::zeta(2.0, x); }

}  // namespace kelvin
