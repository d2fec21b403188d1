// SPDX-License-Identifier: Apache-2.0
// ---- eight schools (Rubin 1981): y_j ~ N(theta_j, s_j), theta_j ~ N(mu, tau), mu ~ N(0, 5), tau ~ half-Cauchy(5);
// q = (mu, log tau, theta ...) or, not centred, (mu, log tau, (theta - mu) / tau ...)
#include <cmath>

#include "kelvin/energy/toys.h"

namespace kelvin {
namespace {

bool takes_theta(const Choice& c) { return c.number("centred") != 0; }

constexpr double effects[] = {28, 8, -3, 7, -1, 1, 18, 12}, errors[] = {15, 10, 16, 11, 9, 11, 10, 18};

}  // namespace

ToyEnergy eight_schools(const Choice& c) {
  return {10, [held = takes_theta(c)](std::span<const double> q, std::span<double> g) {
            const double mu = q[0], tau = std::exp(q[1]), wide = tau * tau / 25;
            double u = mu * mu / 50 + std::log1p(wide) - q[1];
            g[0] = mu / 25;
            g[1] = 2 * wide / (1 + wide) - 1;
            for (std::size_t j = 0; j < 8; ++j) {
              const double t = held ? (q[2 + j] - mu) / tau : q[2 + j], theta = held ? q[2 + j] : mu + tau * t;
              const double pull = (theta - effects[j]) / (errors[j] * errors[j]);
              u += t * t / 2 + (theta - effects[j]) * pull / 2 + (held ? q[1] : 0);
              g[2 + j] = held ? t / tau + pull : t + tau * pull;
              g[0] += held ? -t / tau : pull;
              g[1] += held ? 1 - t * t : tau * t * pull;
            }
            return u;
          }};
}

// Given tau, mu is Gaussian with precision 1/25 + sum of 1/(s^2 + tau^2), and so is theta; log tau is left to a sum. At
// other temperatures than 1 they are not known.
Moments eight_schools_moments(const Choice& c, double T) {
  Moments out{std::vector(10, 0.0), std::vector(10, 0.0), NAN};
  if (T != 1) return {std::vector(10, std::nan("")), std::vector(10, std::nan("")), NAN};
  double sum = 0;
  for (double at = -30; at < 12; at += 1e-3) {
    const double tau = std::exp(at), t2 = tau * tau;
    double precision = 1.0 / 25, pull = 0, log_density = at - std::log1p(t2 / 25);
    for (std::size_t j = 0; j < 8; ++j) {
      const double v = errors[j] * errors[j] + t2;
      precision += 1 / v;
      pull += effects[j] / v;
      log_density -= (std::log(v) + effects[j] * effects[j] / v) / 2;
    }
    const double mean = pull / precision;
    const double w = std::exp(log_density + pull * mean / 2) / std::sqrt(precision);
    const auto add = [&](std::size_t k, double m, double variance) {
      out.mean[k] += w * m;
      out.variance[k] += w * (variance + m * m);
    };
    sum += w;
    add(0, mean, 1 / precision);
    add(1, at, 0);
    for (std::size_t j = 0; j < 8; ++j) {
      const double s2 = errors[j] * errors[j], share = t2 / (s2 + t2), t = tau / (s2 + t2);
      if (takes_theta(c))
        add(2 + j, mean + share * (effects[j] - mean), s2 * share + (1 - share) * (1 - share) / precision);
      else add(2 + j, t * (effects[j] - mean), s2 / (s2 + t2) + t * t / precision);
    }
  }
  for (std::size_t k = 0; k < 10; ++k) {
    out.mean[k] /= sum;
    out.variance[k] = out.variance[k] / sum - out.mean[k] * out.mean[k];
  }
  return out;
}

}  // namespace kelvin
