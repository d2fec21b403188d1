// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/toys.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kelvin/core/noise.h"
#include "kelvin/energy/quadratic.h"
#include "kelvin/function/block.h"
#include "kelvin/numeric/distribution.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {

ToyEnergy eight_schools(const Choice&);  // toy_schools.cpp
Moments eight_schools_moments(const Choice&, double T);

namespace {

using In = std::span<const double>;
using Out = std::span<double>;

double above_0(const Choice& c, std::string_view parameter) {
  const double x = c.number(parameter);
  if (!(x > 0) || !std::isfinite(x)) throw Error("toy \"{}\": {} is {:g}; it must be above 0", c.name, parameter, x);
  return x;
}

std::size_t whole(const Choice& c, std::string_view parameter, std::size_t least) {
  const double x = c.number(parameter);
  if (!(x >= double(least) && x <= 1e9 && x == std::floor(x)))
    throw Error("toy \"{}\": {} is {:g}; it must be a whole number, at least {}", c.name, parameter, x, least);
  return std::size_t(x);
}

// Averages over exp(-u(x) / T) on a line. The trapezoidal rule on a smooth density that vanishes at both ends converges
// faster than any power of the spacing.
struct LineMoments {
  double mean = 0, variance = 0, energy = 0;
};
template <class Energy>
LineMoments integrated(const Energy& u, double T, double width) {
  constexpr int n = 200'000;
  double lowest = 0;
  const auto spaced = [&](const auto& visit) {
    for (int i = 0; i <= n; ++i) visit(width * (2.0 * i / n - 1));
  };
  // Wide enough that what is cut off is below rounding: exp(-50) of the top.
  for (;; width *= 1.5) {
    lowest = u(width);
    spaced([&](double x) { lowest = std::min(lowest, u(x)); });
    if (std::min(u(width), u(-width)) > lowest + 50 * T) break;
  }
  double sum = 0, first = 0, second = 0, energy = 0;
  spaced([&](double x) {
    const double w = std::exp((lowest - u(x)) / T);
    sum += w;
    first += w * x;
    second += w * x * x;
    energy += w * u(x);
  });
  const double mean = first / sum;
  return {mean, second / sum - mean * mean, energy / sum};
}

Moments repeated(const LineMoments& m, std::size_t n) {
  return {std::vector(n, m.mean), std::vector(n, m.variance), double(n) * m.energy};
}

// ---- gaussian: U = (q - mean)^T K (q - mean) / 2

struct Quadratic {
  std::vector<double> mean;
  std::vector<double> stiffness;      // diagonal of K, if K is diagonal
  std::vector<double> K, covariance;  // otherwise
};

Quadratic quadratic(const Choice& c) {
  const auto stiffness = c.numbers("stiffness"), covariance = c.numbers("covariance"), mean = c.numbers("mean");
  const std::size_t dimension = whole(c, "dimension", 0);
  Quadratic out;
  std::size_t n = std::max<std::size_t>(dimension, stiffness.size());
  if (!covariance.empty()) {
    n = std::size_t(std::lround(std::sqrt(double(covariance.size()))));
    if (n * n != covariance.size())
      throw Error("toy \"{}\": covariance has {} numbers; give all of an n x n matrix, row by row", c.name,
                  covariance.size());
    out.covariance = covariance;
    const Cholesky root(covariance);
    bool symmetric = true;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) symmetric &= covariance[i * n + j] == covariance[j * n + i];
    if (!symmetric || !root.positive_definite())
      throw Error("toy \"{}\": covariance must be symmetric and positive definite", c.name);
    out.K = root.inverse();
  } else {
    if (stiffness.size() != 1 && stiffness.size() != n)
      throw Error("toy \"{}\": {} stiffnesses for dimension {}; give one for all, or one for each", c.name,
                  stiffness.size(), n);
    for (std::size_t i = 0; i < n; ++i) out.stiffness.push_back(stiffness[stiffness.size() == 1 ? 0 : i]);
    if (!std::all_of(out.stiffness.begin(), out.stiffness.end(), [](double k) { return k > 0; }))
      throw Error("toy \"{}\": every stiffness must be above 0", c.name);
  }
  if ((mean.size() != 1 && mean.size() != n) || (dimension != 0 && dimension != n))
    throw Error(
        "toy \"{}\": {} means and dimension {} do not fit {} coordinates; leave them out, or give one mean for all",
        c.name, mean.size(), dimension, n);
  for (std::size_t i = 0; i < n; ++i) out.mean.push_back(mean[mean.size() == 1 ? 0 : i]);
  return out;
}

ToyEnergy gaussian(const Choice& c) {
  const Quadratic k = quadratic(c);
  const std::size_t n = k.mean.size();
  if (k.K.empty()) return {n, {}, c.numbers("stiffness"), c.numbers("mean")};
  return {n, [k](In q, Out g) { return spring_energy(k.K, k.mean, q, g); }, {}, {}};
}

Moments gaussian_moments(const Choice& c, double T) {
  const Quadratic k = quadratic(c);
  const std::size_t n = k.mean.size();
  std::vector<double> variance;
  for (std::size_t i = 0; i < n; ++i)
    variance.push_back(T * (k.K.empty() ? 1 / k.stiffness[i] : k.covariance[i * n + i]));
  return {k.mean, variance, double(n) * T / 2};
}

// One number for each of n coordinates, from a list of one or n.
std::vector<double> for_each(const Choice& c, std::string_view parameter, std::size_t n, double least) {
  auto list = c.numbers(parameter);
  if (list.size() == 1) list.assign(n, list[0]);
  if (list.size() != n)
    throw Error("toy \"{}\": {} numbers for {} with dimension {}; give one for all, or one for each", c.name,
                list.size(), parameter, n);
  for (const double x : list)
    if (!(x >= least) || !std::isfinite(x))
      throw Error("toy \"{}\": {} is {:g}; it must be at least {:g}", c.name, parameter, x, least);
  return list;
}

// ---- noisy: a Gaussian whose gradient is known from minibatches only, each row pulling along its own vector. With one
// row per evaluation the gradient has independent noise of exactly that mean (0) and variance in every coordinate.

ToyEnergy noisy(const Choice& c) {
  const std::size_t n = whole(c, "dimension", 1), rows = whole(c, "rows", 2);
  const auto stiffness = for_each(c, "stiffness", n, 1e-300), noise = for_each(c, "noise", n, 0);
  if (n * rows > 100'000'000) throw Error("toy \"{}\": {} rows of {} numbers are too many", c.name, rows, n);
  std::vector<double> pulls(n * rows);
  normals({stream_key(0, "noisy"), 0, 0, 0}, 0, std::span(pulls));
  std::vector<double> lengths;
  for (const double variance : noise) lengths.push_back(std::sqrt(variance * double(rows)));
  centre_and_scale(pulls, lengths);
  return {n,
          [stiffness](In q, Out g) {
            double u = 0;
            for (std::size_t i = 0; i < q.size(); ++i) {
              g[i] = stiffness[i] * q[i];
              u += g[i] * q[i] / 2;
            }
            return u;
          },
          {},
          {},
          std::move(pulls)};
}

Moments noisy_moments(const Choice& c, double T) {
  const std::size_t n = whole(c, "dimension", 1);
  std::vector<double> variance = for_each(c, "stiffness", n, 1e-300);
  for (double& x : variance) x = T / x;
  return {std::vector(n, 0.0), variance, double(n) * T / 2};
}

// ---- two scales: U = slow q^2 / 2 + fast q^2 / 2

ToyEnergy two_scales(const Choice& c) { return {1, {}, {}, {}, {}, {above_0(c, "slow"), above_0(c, "fast")}}; }
Moments two_scales_moments(const Choice& c, double T) {
  return {{0}, {T / (above_0(c, "slow") + above_0(c, "fast"))}, T / 2};
}

// ---- slow and fast: U = Q^2 / 2 + k (Q - q)^2 / 2, q = fast, Q = slow

ToyEnergy slow_fast(const Choice& c) {
  const double k = above_0(c, "stiffness");
  const auto energy = [k](In x, Out g) {
    const double apart = x[1] - x[0];
    g[0] = -k * apart;
    g[1] = x[1] + k * apart;
    return (x[1] * x[1] + k * apart * apart) / 2;
  };
  return {2, energy, {}, {}, {}, {}, {"fast", "slow"}};
}
Moments slow_fast_moments(const Choice& c, double T) { return {{0, 0}, {T + T / above_0(c, "stiffness"), T}, T}; }

// ---- double well: U = height (x^2 - 1)^2 + tilt x

double well(double x, double height, double tilt) { return height * (x * x - 1) * (x * x - 1) + tilt * x; }

ToyEnergy double_well(const Choice& c) {
  return {1, [height = above_0(c, "height"), tilt = c.number("tilt")](In q, Out g) {
            g[0] = 4 * height * q[0] * (q[0] * q[0] - 1) + tilt;
            return well(q[0], height, tilt);
          }};
}

Moments double_well_moments(const Choice& c, double T) {
  const double height = above_0(c, "height"), tilt = c.number("tilt");
  return repeated(integrated([=](double x) { return well(x, height, tilt); }, T, 2), 1);
}

// ---- mixture: U = -log sum over the means m of a grid of exp(-|q - m|^2 / (2 sd^2)), a sum over coordinates

struct Comb {
  double spacing, sd;
  std::size_t teeth;
  double tooth(std::size_t i) const { return spacing * (double(i) - double(teeth - 1) / 2); }
  double operator()(double x, double& slope) const {
    const double at = std::clamp(std::round(x / spacing + double(teeth - 1) / 2), 0.0, double(teeth - 1));
    const double least =
        std::pow((x - tooth(std::size_t(at))) / sd, 2) / 2;  // of the nearest, so that no sum underflows
    double sum = 0, pull = 0;
    for (std::size_t i = 0; i < teeth; ++i) {
      const double d = x - tooth(i), w = std::exp(least - d * d / (2 * sd * sd));
      sum += w;
      pull += w * d;
    }
    slope = pull / sum / (sd * sd);
    return least - std::log(sum);
  }
};

Comb comb(const Choice& c) { return {above_0(c, "spacing"), above_0(c, "sd"), whole(c, "grid", 1)}; }

ToyEnergy mixture(const Choice& c) {
  return {whole(c, "dimension", 1), [u = comb(c)](In q, Out g) {
            double sum = 0;
            for (std::size_t i = 0; i < q.size(); ++i) sum += u(q[i], g[i]);
            return sum;
          }};
}

Moments mixture_moments(const Choice& c, double T) {
  const Comb u = comb(c);
  double slope = 0;
  const auto energy = [&](double x) { return u(x, slope); };
  return repeated(integrated(energy, T, u.spacing * double(u.teeth) + u.sd), whole(c, "dimension", 1));
}

// ---- banana: U = x^2 / (2 a) + (y + b x^2 - a b)^2 / 2

ToyEnergy banana(const Choice& c) {
  return {2, [a = above_0(c, "a"), b = c.number("b")](In q, Out g) {
            const double x = q[0], r = q[1] + b * x * x - a * b;
            g[0] = x / a + 2 * b * x * r;
            g[1] = r;
            return x * x / (2 * a) + r * r / 2;
          }};
}

Moments banana_moments(const Choice& c, double T) {
  const double a = above_0(c, "a"), b = c.number("b");
  return {{0, a * b * (1 - T)}, {a * T, 2 * a * a * b * b * T * T + T}, T};
}

// ---- funnel: q = (v, y...), U = v^2 / (2 scale^2) + sum y^2 exp(-v) / 2 + v / 2; not centred: q = (v, y exp(-v/2)
// ...)

bool centred(const Choice& c) { return c.number("centred") != 0; }

ToyEnergy funnel(const Choice& c) {
  if (!centred(c)) {
    std::vector<double> stiffness(whole(c, "dimension", 2), 1.0);
    stiffness[0] = std::pow(above_0(c, "scale"), -2);
    return {stiffness.size(), {}, stiffness, {0.0}};
  }
  return {whole(c, "dimension", 2), [scale = above_0(c, "scale")](In q, Out g) {
            const double v = q[0], narrow = std::exp(-v), m = double(q.size() - 1);
            double squares = 0;
            for (std::size_t i = 1; i < q.size(); ++i) {
              squares += q[i] * q[i];
              g[i] = q[i] * narrow;
            }
            g[0] = v / (scale * scale) - squares * narrow / 2 + m / 2;
            return v * v / (2 * scale * scale) + squares * narrow / 2 + m * v / 2;
          }};
}

// Integrating y out leaves v ~ N(mu, scale^2 T); given v, y ~ N(0, T exp(v)).
Moments funnel_moments(const Choice& c, double T) {
  const std::size_t n = whole(c, "dimension", 2);
  const double s2 = std::pow(above_0(c, "scale"), 2), m = double(n - 1), mu = s2 * m / 2 * (T - 1);
  if (!centred(c)) {
    Moments out{std::vector(n, 0.0), std::vector(n, T), double(n) * T / 2};
    out.variance[0] = s2 * T;
    return out;
  }
  Moments out{std::vector(n, 0.0), std::vector(n, T * std::exp(mu + s2 * T / 2)), 0};
  out.mean[0] = mu;
  out.variance[0] = s2 * T;
  out.energy = (s2 * T + mu * mu) / (2 * s2) + m * (T + mu) / 2;
  return out;
}

// ---- skewed: U = exp(x) - k x, so exp(x) / T has the gamma law of shape k / T

ToyEnergy skewed(const Choice& c) {
  return {1, [k = above_0(c, "k")](In q, Out g) {
            g[0] = std::exp(q[0]) - k;
            return std::exp(q[0]) - k * q[0];
          }};
}

Moments skewed_moments(const Choice& c, double T) {
  const double k = above_0(c, "k"), mean = digamma(k / T) + std::log(T);
  return {{mean}, {trigamma(k / T)}, k - k * mean};
}

// ---- ring: U = strength (|q| - radius)^2 / 2

ToyEnergy ring(const Choice& c) {
  return {2, [radius = above_0(c, "radius"), strength = above_0(c, "strength")](In q, Out g) {
            const double r = std::hypot(q[0], q[1]), d = r - radius;
            for (std::size_t i = 0; i < 2; ++i) g[i] = r == 0 ? 0 : strength * d * q[i] / r;
            return strength * d * d / 2;
          }};
}

// |q| = radius + s z with density (radius + s z) exp(-z^2 / 2) on z > -a, a = radius / s: normal moments cut off at -a.
Moments ring_moments(const Choice& c, double T) {
  const double R = above_0(c, "radius"), s = std::sqrt(T / above_0(c, "strength")), a = R / s;
  const double m1 = std::exp(-a * a / 2) / std::sqrt(2 * std::numbers::pi), m0 = std::erfc(-a / std::sqrt(2)) / 2;
  const double m2 = m0 - a * m1, m3 = (a * a + 2) * m1, sum = R * m0 + s * m1;
  const double r2 = (R * R * R * m0 + 3 * R * R * s * m1 + 3 * R * s * s * m2 + s * s * s * m3) / sum;
  return {{0, 0}, {r2 / 2, r2 / 2}, T / 2 * (R * m2 + s * m3) / sum};
}

// ---- quartic: U = x^4 / 4

ToyEnergy quartic(const Choice&) {
  return {1, [](In q, Out g) {
            g[0] = q[0] * q[0] * q[0];
            return q[0] * g[0] / 4;
          }};
}

Moments quartic_moments(const Choice&, double T) {
  return {{0}, {2 * std::sqrt(T) * std::tgamma(0.75) / std::tgamma(0.25)}, T / 4};
}

constexpr Parameter gaussian_parameters[] = {
    {"stiffness", "[1.0]", "diagonal of K: one for all coordinates, or one for each"},
    {"covariance", "[]", "instead of stiffness: the inverse of K, all n x n numbers row by row"},
    {"mean", "[0.0]", "one for all coordinates, or one for each"},
    {"dimension", "0", "number of coordinates; 0: as many as the other parameters say"}};
constexpr Parameter double_well_parameters[] = {{"height", "3.0", "of the barrier between the wells, without tilt"},
                                                {"tilt", "0.25", "slope that makes the left well the deeper one"}};
constexpr Parameter mixture_parameters[] = {{"grid", "5", "modes along each coordinate"},
                                            {"spacing", "2.0", "distance of neighbouring modes"},
                                            {"sd", "0.3", "standard deviation of each mode"},
                                            {"dimension", "2", "number of coordinates"}};
constexpr Parameter banana_parameters[] = {{"a", "100.0", "variance of x"}, {"b", "0.03", "how much it bends"}};
constexpr Parameter funnel_parameters[] = {{"scale", "1.5", "standard deviation of v"},
                                           {"dimension", "2", "number of coordinates, v and the y"},
                                           {"centred", "1.0", "0 takes y exp(-v/2) as coordinates: a Gaussian"}};
constexpr Parameter schools_parameters[] = {{"centred", "0.0", "1 takes theta itself as coordinates"}};
constexpr Parameter skewed_parameters[] = {{"k", "2.0", "shape of the gamma law of exp(x)"}};
constexpr Parameter ring_parameters[] = {{"radius", "2.0", "where U is lowest"},
                                         {"strength", "10.0", "stiffness across it"}};

constexpr Parameter noisy_parameters[] = {{"stiffness", "[1.0]", "one for all coordinates, or one for each"},
                                          {"noise", "[20.0]", "variance of the gradient with batch.size = 1, alike"},
                                          {"dimension", "20", "number of coordinates"},
                                          {"rows", "10000", "of pretended data, to draw minibatches from"}};

constexpr Parameter scales_parameters[] = {{"slow", "1.0", "stiffness of piece 1"},
                                           {"fast", "9.0", "stiffness of piece 2"}};

constexpr Parameter slow_fast_parameters[] = {{"stiffness", "10.0", "k, of the spring between the two"}};

constexpr Toy all_toys[] = {
    {"gaussian", gaussian_parameters, gaussian, gaussian_moments, "(q - mean)^T K (q - mean) / 2"},
    {"noisy", noisy_parameters, noisy, noisy_moments, "stiffness q^2 / 2, with a noisy gradient from minibatches"},
    {"two_scales", scales_parameters, two_scales, two_scales_moments, "slow q^2 / 2 for B1, fast q^2 / 2 for B2"},
    {"slow_fast", slow_fast_parameters, slow_fast, slow_fast_moments,
     "slow^2 / 2 + stiffness (slow - fast)^2 / 2, in blocks of these names"},
    {"double_well", double_well_parameters, double_well, double_well_moments, "height (x^2 - 1)^2 + tilt x"},
    {"mixture", mixture_parameters, mixture, mixture_moments, "equal Gaussians on a grid, -log of their sum"},
    {"banana", banana_parameters, banana, banana_moments, "x ~ N(0, a), y + b x^2 - a b ~ N(0, 1)"},
    {"funnel", funnel_parameters, funnel, funnel_moments, "v ~ N(0, scale^2), each y ~ N(0, exp(v)); q = (v, y ...)"},
    {"eight_schools", schools_parameters, eight_schools, eight_schools_moments,
     "q = (mu, log tau, (theta_j - mu) / tau ...) of Rubin 1981, mu ~ N(0, 5), tau ~ half-Cauchy(5)"},
    {"skewed", skewed_parameters, skewed, skewed_moments, "exp(x) - k x, the logarithm of a gamma variable"},
    {"ring", ring_parameters, ring, ring_moments, "strength (|q| - radius)^2 / 2 in the plane"},
    {"quartic", {}, quartic, quartic_moments, "x^4 / 4"},
};

}  // namespace

std::span<const Toy> toys() { return all_toys; }

const Toy& toy_named(const Choice& c) { return row_named(c.name, toys(), "toy", c.where); }

Moments exact_moments(const Choice& choice, double temperature) {
  const Toy& toy = toy_named(choice);
  return toy.moments(choice.completed(toy.parameters, "toy"), temperature);
}

}  // namespace kelvin
