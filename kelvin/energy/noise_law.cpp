// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/noise_law.h"

#include <cmath>
#include <numbers>

#include "kelvin/numeric/distribution.h"

namespace kelvin {
namespace {

using std::numbers::pi;

constexpr double far_log = 27.7;  // -log of a probability below 1e-12

struct NormalNoise {
  static double log_density(double y, const NoiseAt& n) {
    const double z = (y - n.centre) / n.scale;
    return -z * z / 2 - std::log(n.scale) - std::log(2 * pi) / 2;
  }
  static double distribution(double y, const NoiseAt& n) {
    return std::erfc((n.centre - y) / n.scale / std::numbers::sqrt2) / 2;
  }
  // s (2 phi(z) + z (2 Phi(z) - 1)), z = e / s
  static double distance(double y, const NoiseAt& n) {
    const double z = (y - n.centre) / n.scale;
    return n.scale * (std::sqrt(2 / pi) * std::exp(-z * z / 2) + z * std::erf(z / std::numbers::sqrt2));
  }
  static double variance(const NoiseAt& n) { return n.scale * n.scale; }
  static double reach(const NoiseAt& n) { return 7.1 * n.scale; }
};

struct LaplaceNoise {
  static double log_density(double y, const NoiseAt& n) {
    return -std::abs(y - n.centre) / n.scale - std::log(2 * n.scale);
  }
  static double distribution(double y, const NoiseAt& n) {
    const double e = y - n.centre, tail = std::exp(-std::abs(e) / n.scale) / 2;
    return e < 0 ? tail : 1 - tail;
  }
  static double distance(double y, const NoiseAt& n) {
    const double away = std::abs(y - n.centre);
    return away + n.scale * std::exp(-away / n.scale);
  }
  static double variance(const NoiseAt& n) { return 2 * n.scale * n.scale; }
  static double reach(const NoiseAt& n) { return far_log * n.scale; }
};

struct StudentNoise {
  static double log_density(double y, const NoiseAt& n) {
    const double nu = n.shape, z = (y - n.centre) / n.scale;
    return log_gamma((nu + 1) / 2) - log_gamma(nu / 2) - std::log(nu * pi) / 2 - std::log(n.scale) -
           (nu + 1) / 2 * std::log1p(z * z / nu);
  }
  static double distribution(double y, const NoiseAt& n) { return student_share(n.shape, (y - n.centre) / n.scale); }
  // s (z (2 F(z) - 1) + 2 f(z) (nu + z^2) / (nu - 1))
  static double distance(double y, const NoiseAt& n) {
    const double nu = n.shape, z = (y - n.centre) / n.scale;
    const double density = n.scale * std::exp(log_density(y, n));
    return n.scale * (z * (2 * student_share(nu, z) - 1) + 2 * density * (nu + z * z) / (nu - 1));
  }
  static double variance(const NoiseAt& n) { return n.scale * n.scale * n.shape / (n.shape - 2); }
  // (1 + z^2 / nu)^(-nu / 2) bounds the tail
  static double reach(const NoiseAt& n) { return n.scale * std::sqrt(n.shape * std::expm1(2 * far_log / n.shape)); }
};

// Bernstein's bound of the tail of counts, with the variance v and the scale c of its exponential end.
double reach_of_counts(double v, double c) { return c * far_log + std::sqrt(2 * v * far_log); }

struct PoissonNoise {
  static double log_density(double y, const NoiseAt& n) { return y * std::log(n.centre) - n.centre - log_gamma(y + 1); }
  static double distribution(double y, const NoiseAt& n) { return y < 0 ? 0 : 1 - gamma_share(y + 1, n.centre); }
  // k p(k) = centre p(k - 1)
  static double distance(double y, const NoiseAt& n) {
    return y * (2 * distribution(y, n) - 1) - n.centre * (2 * distribution(y - 1, n) - 1);
  }
  static double variance(const NoiseAt& n) { return n.centre; }
  static double reach(const NoiseAt& n) { return reach_of_counts(n.centre, 1.0 / 3); }
};

struct NegativeBinomialNoise {
  static double log_density(double y, const NoiseAt& n) {
    const double r = 1 / n.shape, odds = n.shape * n.centre;
    return log_gamma(y + r) - log_gamma(r) - log_gamma(y + 1) + y * std::log(odds) - (y + r) * std::log1p(odds);
  }
  static double share(double r, double y, const NoiseAt& n) {
    return y < 0 ? 0 : beta_share(r, y + 1, 1 / (1 + n.shape * n.centre));
  }
  static double distribution(double y, const NoiseAt& n) { return share(1 / n.shape, y, n); }
  // k p_r(k) = centre p_(r + 1)(k - 1)
  static double distance(double y, const NoiseAt& n) {
    return y * (2 * distribution(y, n) - 1) - n.centre * (2 * share(1 / n.shape + 1, y - 1, n) - 1);
  }
  static double variance(const NoiseAt& n) { return n.centre + n.shape * n.centre * n.centre; }
  static double reach(const NoiseAt& n) { return reach_of_counts(variance(n), 1 + n.shape * n.centre); }
};

template <class L>
constexpr NoiseLaw law(std::string_view name, bool counts = false) {
  return {name, counts, L::log_density, L::distribution, L::distance, L::variance, L::reach};
}

}  // namespace

const NoiseLaw normal_law = law<NormalNoise>("gaussian");
const NoiseLaw laplace_law = law<LaplaceNoise>("laplace");
const NoiseLaw student_law = law<StudentNoise>("student_t");
const NoiseLaw poisson_law = law<PoissonNoise>("poisson", true);
const NoiseLaw negative_binomial_law = law<NegativeBinomialNoise>("negative_binomial", true);

}  // namespace kelvin
