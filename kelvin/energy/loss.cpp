// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kelvin/core/choice.h"
#include "kelvin/energy/loss_loops.h"
#include "kelvin/numeric/distribution.h"

namespace kelvin {
namespace {

// One row of data: outputs f, targets y, slopes d = d loss / d f, all `n` long.
template <class Real>
struct Row {
  std::size_t n;
  const Real *f, *y;
  Real* d;
  std::span<const Scale> scales;
  std::span<double> log_scale_slopes;
};

template <class L, class Real>
double row_by_row(const LossRows<Real>& all) {
  double sum = 0;
  for (std::size_t i = 0; i < all.rows * all.width; i += all.width)
    sum += L::value(
        Row<Real>{all.width, all.outputs + i, all.targets + i, all.slopes + i, all.scales, all.log_scale_slopes});
  return sum;
}

// (1/n) sum (f - y)^2; without the factor 1/2 of a Gaussian likelihood.
struct MeanSquared {
  template <class Real>
  static double value(const Row<Real>& r) {
    double sum = 0;
    for (std::size_t k = 0; k < r.n; ++k) {
      const double e = double(r.f[k]) - double(r.y[k]);
      sum += e * e;
      r.d[k] = Real(2 * e / double(r.n));
    }
    return sum / double(r.n);
  }
  // exp(-(f - y)^2 / (n T)) has the variance n T / 2
  static double noise_scale(double temperature, double outputs) { return std::sqrt(outputs * temperature / 2); }
  static constexpr const NoiseLaw* noise = &normal_law;
};

// (1/n) sum |f - y|
struct Absolute {
  template <class Real>
  static double value(const Row<Real>& r) {
    double sum = 0;
    for (std::size_t k = 0; k < r.n; ++k) {
      const double e = double(r.f[k]) - double(r.y[k]);
      sum += std::abs(e);
      r.d[k] = Real(double((e > 0) - (e < 0)) / double(r.n));
    }
    return sum / double(r.n);
  }
  // exp(-|f - y| / (n T))
  static double noise_scale(double temperature, double outputs) { return outputs * temperature; }
  static constexpr const NoiseLaw* noise = &laplace_law;
};

// -log of the density of y ~ N(f, s^2): sum (f - y)^2 / (2 s^2) + log s + log(2 pi) / 2
struct GaussianLoss {
  template <class Real>
  static double value(const Row<Real>& r) {
    double sum = 0;
    for (std::size_t k = 0; k < r.n; ++k) {
      const double precision = r.scales[k].precision;
      const double e = double(r.f[k]) - double(r.y[k]), square = e * e * precision;
      sum += square / 2 + r.scales[k].log;
      r.d[k] = Real(e * precision);
      if (!r.log_scale_slopes.empty()) r.log_scale_slopes[k] += 1 - square;
    }
    return sum + double(r.n) / 2 * std::log(2 * std::numbers::pi);
  }
  static constexpr const NoiseLaw* noise = &normal_law;
};

// ---- losses that know their noise: minus logarithms of densities and probabilities

double within(double log) { return std::clamp(log, -furthest_log, furthest_log); }

// A target of all rows after another: place and width of the noise, which may be an output of its own.
template <class Real>
struct Column {
  const LossRows<Real>& rows;
  std::size_t each, count, k;  // outputs per target, targets per row, number of this one

  std::size_t output(std::size_t i) const { return i * rows.width + k; }
  std::size_t width_output(std::size_t i) const { return output(i) + count; }
  double target(std::size_t i) const { return double(rows.targets[i * count + k]); }
  double log_scale(std::size_t i) const {
    return each == 2 ? within(double(rows.outputs[width_output(i)])) : rows.scales[k].log;
  }
  // Where the width ends, it has no slope.
  void slopes(std::size_t i, double of_place, double of_log_scale) const {
    rows.slopes[output(i)] = Real(of_place);
    if (each == 2) {
      const double given = double(rows.outputs[width_output(i)]);
      rows.slopes[width_output(i)] = std::abs(given) > furthest_log ? Real(0) : Real(of_log_scale);
    } else if (!rows.log_scale_slopes.empty()) rows.log_scale_slopes[k] += of_log_scale;
  }
};

template <class L, class Real>
double column_by_column(const LossRows<Real>& all) {
  const std::size_t count = all.width / L::each;
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) sum += L::column(Column<Real>{all, L::each, count, k});
  return sum;
}

// The same as GaussianLoss, each width e^w an output: (f - y)^2 e^(-2 w) / 2 + w + log(2 pi) / 2
struct HeteroscedasticGaussian {
  static constexpr std::size_t each = 2;
  template <class Real>
  static double column(const Column<Real>& c) {
    double sum = double(c.rows.rows) / 2 * std::log(2 * std::numbers::pi);
    for (std::size_t i = 0; i < c.rows.rows; ++i) {
      const double w = c.log_scale(i), precision = std::exp(-2 * w);
      const double e = double(c.rows.outputs[c.output(i)]) - c.target(i), square = e * e * precision;
      sum += square / 2 + w;
      c.slopes(i, e * precision, 1 - square);
    }
    return sum;
  }
  static constexpr const NoiseLaw* noise = &normal_law;
};

// -log of Student's density of z = (f - y) e^-w with nu degrees of freedom:
//   (nu + 1)/2 log(1 + z^2/nu) + w + log(nu pi)/2 + log gamma(nu/2) - log gamma((nu + 1)/2)
template <std::size_t outputs_each>
struct StudentLoss {
  static constexpr std::size_t each = outputs_each;
  template <class Real>
  static double column(const Column<Real>& c) {
    const double nu = c.rows.scales[c.k].shape, n = double(c.rows.rows);
    constexpr double much = 1e100;  // of a product, whose logarithm is cheaper than those of its factors
    double logs = 0, product = 1, widths = 0, shares = 0;
    for (std::size_t i = 0; i < c.rows.rows; ++i) {
      const double w = c.log_scale(i), inverse = std::exp(-w);
      const double z = (double(c.rows.outputs[c.output(i)]) - c.target(i)) * inverse, square = z * z;
      const double pull = (nu + 1) / (nu + square), share = square / (nu + square);
      product *= 1 + square / nu;
      if (!(product < much)) {
        logs += std::log(product);
        product = 1;
      }
      widths += w;
      shares += share;
      c.slopes(i, pull * z * inverse, 1 - (nu + 1) * share);
    }
    logs += std::log(product);
    if (!c.rows.shape_slopes.empty())
      c.rows.shape_slopes[c.k] +=
          logs / 2 - (nu + 1) / (2 * nu) * shares + n / 2 * (1 / nu + digamma(nu / 2) - digamma((nu + 1) / 2));
    return (nu + 1) / 2 * logs + widths +
           n * (std::log(nu * std::numbers::pi) / 2 + log_gamma(nu / 2) - log_gamma((nu + 1) / 2));
  }
  static constexpr const NoiseLaw* noise = &student_law;
};

// e^f, and a straight line from e^30 on, so that nothing overflows
struct Rate {
  double value, slope;
  explicit Rate(double f) : slope(std::exp(std::min(f, furthest_log))) {
    value = f > furthest_log ? slope * (1 + f - furthest_log) : slope;
  }
};

// -log of the probability of y for the rate e^f: e^f - y f + log y!
struct PoissonLoss {
  template <class Real>
  static double value(const Row<Real>& r) {
    double sum = 0;
    for (std::size_t k = 0; k < r.n; ++k) {
      const double f = double(r.f[k]), y = double(r.y[k]);
      const Rate rate(f);
      sum += rate.value - y * f + log_gamma(y + 1);
      r.d[k] = Real(rate.slope - y);
    }
    return sum;
  }
  static constexpr const NoiseLaw* noise = &poisson_law;
};

// -log of the probability of y for the mean e^f and the dispersion a, with t = f + log a and s(t) = log(1 + e^t):
//   (y + 1/a) s(t) - y t + log gamma(1/a) + log gamma(y + 1) - log gamma(y + 1/a)
struct NegativeBinomialLoss {
  static constexpr std::size_t each = 1;
  template <class Real>
  static double column(const Column<Real>& c) {
    const double a = c.rows.scales[c.k].shape, r = 1 / a, log_a = std::log(a), of_r = log_gamma(r);
    const bool learned = !c.rows.shape_slopes.empty();
    const double slope_of_r = learned ? digamma(r) : 0;
    double sum = 0, slope = 0;
    for (std::size_t i = 0; i < c.rows.rows; ++i) {
      const double t = double(c.rows.outputs[c.output(i)]) + log_a, y = c.target(i);
      const double small = std::exp(-std::abs(t)), share = (t > 0 ? 1 : small) / (1 + small);  // e^t / (1 + e^t)
      const double soft = std::max(t, 0.0) + std::log1p(small);
      sum += (y + r) * soft - y * t + of_r + log_gamma(y + 1) - log_gamma(y + r);
      c.rows.slopes[c.output(i)] = Real((y + r) * share - y);
      // by log a: r = 1/a falls by itself, t grows by 1
      if (learned) slope += (y + r) * share - y - r * (soft + slope_of_r - digamma(y + r));
    }
    if (learned) c.rows.shape_slopes[c.k] += slope / a;
    return sum;
  }
  static constexpr const NoiseLaw* noise = &negative_binomial_law;
};

// -log sigmoid(f) for y = 1, -log sigmoid(-f) for y = 0: log(1 + exp(f)) - y f
struct BinaryCrossEntropy {
  template <class Real>
  static double sum(const LossRows<Real>& all) {
    KELVIN_RETURN_BEST(binary_cross_entropy(all.rows, all.outputs, all.targets, all.slopes));
  }
  // 1 / (1 + exp(f)) and 1 / (1 + exp(-f))
  template <class Real>
  static void probabilities(std::size_t, const Real* f, Real* p) {
    const Real e = std::exp(-std::abs(*f)), small = e / (1 + e), large = 1 / (1 + e);
    p[0] = *f > 0 ? small : large;
    p[1] = *f > 0 ? large : small;
  }
};

// log sum exp(f) - f of the right class
struct SoftmaxCrossEntropy {
  template <class Real>
  static double sum(const LossRows<Real>& all) {
    KELVIN_RETURN_BEST(softmax_cross_entropy(all.rows, all.width, all.outputs, all.targets, all.slopes));
  }
  // exp(f) / sum exp(f)
  template <class Real>
  static void probabilities(std::size_t n, const Real* f, Real* p) {
    const Real top = *std::max_element(f, f + n);
    Real sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += p[k] = std::exp(f[k] - top);
    for (std::size_t k = 0; k < n; ++k) p[k] /= sum;
  }
};

// max(0, 1 - y f), y = -1 or +1
struct Hinge {
  template <class Real>
  static double value(const Row<Real>& r) {
    const Real margin = 1 - *r.y * *r.f;
    *r.d = margin > 0 ? -*r.y : 0;
    return std::max(margin, Real(0));
  }
};

// -y log p - (1 - y) log(1 - p), p = f kept off 0 and 1 by one rounding error
struct Log {
  template <class Real>
  static double value(const Row<Real>& r) {
    constexpr Real least = std::numeric_limits<Real>::epsilon();
    const Real p = std::clamp(*r.f, least, 1 - least), y = *r.y;
    *r.d = (1 - y) / (1 - p) - y / p;
    return -y * std::log(p) - (1 - y) * std::log1p(-p);
  }
  template <class Real>
  static void probabilities(std::size_t, const Real* f, Real* p) {
    p[0] = 1 - *f;
    p[1] = *f;
  }
};

// 1 - f.y / (|f| |y|); zeros have no direction and count as perpendicular
struct Cosine {
  template <class Real>
  static double value(const Row<Real>& r) {
    double fy = 0, ff = 0, yy = 0;
    for (std::size_t k = 0; k < r.n; ++k) {
      const double f = r.f[k], y = r.y[k];
      fy += f * y;
      ff += f * f;
      yy += y * y;
    }
    const double norms = std::sqrt(ff) * std::sqrt(yy);
    if (norms == 0) {
      std::fill_n(r.d, r.n, Real(0));
      return 1;
    }
    for (std::size_t k = 0; k < r.n; ++k) r.d[k] = Real(fy / norms * double(r.f[k]) / ff - double(r.y[k]) / norms);
    return 1 - fy / norms;
  }
};

// A loss may have loops of its own over all rows, or over those of one target.
template <class L, class Real>
double sum_of(const LossRows<Real>& all) {
  if constexpr (requires { L::sum(all); }) return L::sum(all);
  else if constexpr (requires { L::each; }) return column_by_column<L>(all);
  else return row_by_row<L>(all);
}

template <class L, class Real>
constexpr Probabilities<Real> probabilities_of() {
  if constexpr (requires(Real * p) { L::probabilities(std::size_t(1), p, p); })
    return [](std::size_t rows, std::size_t width, const Real* outputs, Real* p) {
      const std::size_t classes = std::max<std::size_t>(2, width);
      for (std::size_t i = 0; i < rows; ++i) L::probabilities(width, outputs + i * width, p + i * classes);
    };
  else return nullptr;
}

template <class L>
constexpr const NoiseLaw* noise_of() {
  if constexpr (requires { L::noise; }) return L::noise;
  else return nullptr;
}

template <class L>
constexpr auto noise_scale_of() -> double (*)(double, double) {
  if constexpr (requires { L::noise_scale(1, 1); }) return L::noise_scale;
  else return nullptr;
}

struct Kind {
  Targets targets;
  std::string_view output = "", escape = "";
  double threshold = 0;
  std::size_t fewest = 1;
  bool has_scale = false;
  const NoiseShape* shape = nullptr;
  bool own_widths = false, counts = false;
};

template <class L>
constexpr Loss loss_row(std::string_view name, Kind kind, std::string_view meaning) {
  return {name,
          kind.targets,
          kind.output,
          kind.escape,
          kind.threshold,
          kind.fewest,
          kind.has_scale,
          kind.shape,
          kind.own_widths,
          kind.counts,
          sum_of<L, float>,
          sum_of<L, double>,
          probabilities_of<L, float>(),
          probabilities_of<L, double>(),
          noise_of<L>(),
          noise_scale_of<L>(),
          meaning};
}

constexpr std::string_view separable = "classes that a plane separates are fitted ever better by ever larger weights";

constexpr std::string_view narrowing = "a row that is fitted exactly lets its width shrink to 0";
constexpr std::string_view heavy_tails = "a target far off costs only the logarithm of its distance";
constexpr std::string_view empty_rows = "rows whose count is 0 are fitted ever better by ever smaller rates";

// Freedom 2 + 4 e^x: above 2, where the variance is finite, and 6 at x = 0. Beyond +-15 either is as good as its limit.
constexpr double furthest_shape = 15;
double shape_from(double x) { return std::exp(std::clamp(x, -furthest_shape, furthest_shape)); }
double slope_of_shape(double x) { return std::abs(x) > furthest_shape ? 0 : std::exp(x); }
constexpr NoiseShape freedom = {"freedom",
                                &ModelSettings::freedom,
                                2,
                                "noise.log_freedom",
                                [](double x) { return 2 + 4 * shape_from(x); },
                                [](double x) { return 4 * slope_of_shape(x); },
                                "degrees of freedom"};
constexpr NoiseShape dispersion = {
    "dispersion", &ModelSettings::dispersion, 0, "noise.log_dispersion", shape_from, slope_of_shape, "dispersion"};

constexpr Loss all_losses[] = {
    loss_row<MeanSquared>("mean_squared", {Targets::numbers},
                          "mean over the outputs of (output - target)^2, without 1/2"),
    loss_row<Absolute>("absolute", {Targets::numbers}, "mean over the outputs of |output - target|"),
    loss_row<GaussianLoss>(
        "gaussian", {.targets = Targets::numbers, .has_scale = true},
        "-log density of target ~ N(output, scale^2), summed over the outputs; scale fixed or learned"),
    loss_row<HeteroscedasticGaussian>(
        "heteroscedastic_gaussian",
        {.targets = Targets::numbers, .output = "linear", .escape = narrowing, .fewest = 2, .own_widths = true},
        "as gaussian, but outputs are the means of all targets and then the logarithms of all scales"),
    loss_row<StudentLoss<1>>(
        "student_t", {.targets = Targets::numbers, .escape = heavy_tails, .has_scale = true, .shape = &freedom},
        "as gaussian, with Student's t: rows far off pull less; scale and freedom fixed or learned"),
    loss_row<StudentLoss<2>>(
        "heteroscedastic_student_t",
        {.targets = Targets::numbers,
         .output = "linear",
         .escape = narrowing,
         .fewest = 2,
         .shape = &freedom,
         .own_widths = true},
        "as student_t, but outputs are the means of all targets and then the logarithms of all scales"),
    loss_row<PoissonLoss>(
        "poisson", {.targets = Targets::numbers, .output = "linear", .escape = empty_rows, .counts = true},
        "-log probability of counts, summed over the outputs, which are the logarithms of their means"),
    loss_row<NegativeBinomialLoss>(
        "negative_binomial",
        {.targets = Targets::numbers, .output = "linear", .escape = empty_rows, .shape = &dispersion, .counts = true},
        "as poisson, with the variance mean + dispersion mean^2; dispersion fixed or learned"),
    loss_row<BinaryCrossEntropy>("binary_cross_entropy",
                                 {.targets = Targets::zero_one, .output = "linear", .escape = separable},
                                 "-log probability of the class, two classes, the one output is the log odds"),
    loss_row<SoftmaxCrossEntropy>("softmax_cross_entropy",
                                  {.targets = Targets::class_number,
                                   .output = "linear",
                                   .escape = "adding one number to all outputs of a row changes nothing",
                                   .fewest = 2},
                                  "-log probability of the class, one output (log odds) per class"),
    loss_row<Hinge>("hinge", {.targets = Targets::minus_plus, .escape = separable},
                    "max(0, 1 - y output), two classes y = -1, +1, one output"),
    loss_row<Log>("log", {.targets = Targets::zero_one, .output = "sigmoid", .escape = separable, .threshold = 0.5},
                  "-log probability of the class, two classes, the one output is the probability of the second"),
    loss_row<Cosine>("cosine",
                     {.targets = Targets::numbers, .escape = "only the direction of the outputs counts", .fewest = 2},
                     "1 - cosine of the angle between outputs and targets"),
};

}  // namespace

std::span<const Loss> losses() { return all_losses; }

const Loss& loss_named(std::string_view name) { return row_named(name, losses(), "loss"); }

void to_original(const Loss& loss, const Units& units, std::span<double> outputs) {
  if (loss.counts) return;
  const std::size_t targets = loss.targets_of(outputs.size());
  for (std::size_t k = 0; k < targets; ++k) {
    outputs[k] = units.original(k, outputs[k]);
    if (loss.own_widths) outputs[targets + k] += std::log(units.scale_of(k));
  }
}

NoiseAt noise_at(const Loss& loss, const Units& units, std::span<const double> outputs, std::size_t k,
                 const Scale& scale) {
  if (loss.counts) return {Rate(outputs[k]).value, 1, scale.shape};
  const double log_unit = std::log(units.scale_of(k));
  const double log = loss.own_widths ? within(outputs[loss.targets_of(outputs.size()) + k] - log_unit) : scale.log;
  return {outputs[k], std::exp(log + log_unit), scale.shape};
}

}  // namespace kelvin
