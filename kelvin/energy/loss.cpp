// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/loss.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kelvin/core/choice.h"
#include "kelvin/energy/loss_loops.h"

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
      const auto [log_scale, precision] = r.scales[k];
      const double e = double(r.f[k]) - double(r.y[k]), square = e * e * precision;
      sum += square / 2 + log_scale;
      r.d[k] = Real(e * precision);
      if (!r.log_scale_slopes.empty()) r.log_scale_slopes[k] += 1 - square;
    }
    return sum + double(r.n) / 2 * std::log(2 * std::numbers::pi);
  }
  static constexpr const NoiseLaw* noise = &normal_law;
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

// A loss may have loops of its own over all rows.
template <class L, class Real>
double sum_of(const LossRows<Real>& all) {
  if constexpr (requires { L::sum(all); }) return L::sum(all);
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
};

template <class L>
constexpr Loss row(std::string_view name, Kind kind, std::string_view meaning) {
  return {name,
          kind.targets,
          kind.output,
          kind.escape,
          kind.threshold,
          kind.fewest,
          kind.has_scale,
          sum_of<L, float>,
          sum_of<L, double>,
          probabilities_of<L, float>(),
          probabilities_of<L, double>(),
          noise_of<L>(),
          noise_scale_of<L>(),
          meaning};
}

constexpr std::string_view separable = "classes that a plane separates are fitted ever better by ever larger weights";

constexpr Loss all_losses[] = {
    row<MeanSquared>("mean_squared", {Targets::numbers}, "mean over the outputs of (output - target)^2, without 1/2"),
    row<Absolute>("absolute", {Targets::numbers}, "mean over the outputs of |output - target|"),
    row<GaussianLoss>("gaussian", {.targets = Targets::numbers, .has_scale = true},
                      "-log density of target ~ N(output, scale^2), summed over the outputs; scale fixed or learned"),
    row<BinaryCrossEntropy>("binary_cross_entropy",
                            {.targets = Targets::zero_one, .output = "linear", .escape = separable},
                            "-log probability of the class, two classes, the one output is the log odds"),
    row<SoftmaxCrossEntropy>("softmax_cross_entropy",
                             {.targets = Targets::class_number,
                              .output = "linear",
                              .escape = "adding one number to all outputs of a row changes nothing",
                              .fewest = 2},
                             "-log probability of the class, one output (log odds) per class"),
    row<Hinge>("hinge", {.targets = Targets::minus_plus, .escape = separable},
               "max(0, 1 - y output), two classes y = -1, +1, one output"),
    row<Log>("log", {.targets = Targets::zero_one, .output = "sigmoid", .escape = separable, .threshold = 0.5},
             "-log probability of the class, two classes, the one output is the probability of the second"),
    row<Cosine>("cosine",
                {.targets = Targets::numbers, .escape = "only the direction of the outputs counts", .fewest = 2},
                "1 - cosine of the angle between outputs and targets"),
};

// Class numbers, checked; of two classes in one column as they are written there.
std::vector<double> labels_of(const Dataset& data, Targets kind) {
  const std::size_t steps = std::max<std::size_t>(1, data.steps);
  std::vector<double> out = data.targets;
  for (std::size_t i = 0; i < out.size(); ++i) {
    double& label = out[i];
    if (!(label >= 0 && label < double(data.classes.size()) && label == std::floor(label)))
      throw Error("row {} has class number {}; with {} classes it must be 0 to {}", i / steps, label,
                  data.classes.size(), data.classes.size() - 1);
    if (kind == Targets::minus_plus) label = 2 * label - 1;
  }
  return out;
}

void check_steps(const Dataset& data) {
  if (!data.has_classes())
    throw Error(
        "the data have a target for each of {} steps, which must be classes, but they are numbers; load them as "
        "classes",
        data.steps);
  if (data.targets.size() != data.rows * data.steps)
    throw Error("the data have {} targets, but {} rows of {} steps need {}; give one for each step",
                data.targets.size(), data.rows, data.steps, data.rows * data.steps);
}

// Numbers where the loss wants two classes: fine if they already are what the loss works with.
std::vector<double> checked_labels(const Loss& loss, const Dataset& data) {
  const double low = loss.targets == Targets::minus_plus ? -1 : 0;
  if (loss.targets == Targets::class_number || data.target_count() != 1)
    throw Error(
        "loss \"{}\" needs classes, but the targets ({}) are numbers; load one column as classes, or use a loss for "
        "numbers such as mean_squared",
        loss.name, fmt::join(data.target_names, ", "));
  for (std::size_t i = 0; i < data.rows; ++i) {
    const double y = data.targets[i];
    if ((y != low && y != 1) || data.target_units.original(0, y) != y)
      throw Error(
          "loss \"{}\" needs two classes or targets that are {:g} and 1, but row {} of \"{}\" is {:g}; load the "
          "column as classes and do not rescale it",
          loss.name, low, i, data.target_names[0], data.target_units.original(0, y));
  }
  return data.targets;
}

void check_outputs(const Loss& loss, std::size_t outputs, std::size_t needed, const std::string& because) {
  if (outputs != needed)
    throw Error("the last layer has {} outputs, but loss \"{}\" needs {}: {}; make the last of model.layers {}",
                outputs, loss.name, needed, because, needed);
}

}  // namespace

std::span<const Loss> losses() { return all_losses; }

const Loss& loss_named(std::string_view name) { return row_named(name, losses(), "loss"); }

Encoded encode(const Loss& loss, const Dataset& data, std::size_t outputs, const Remark& remark) {
  const std::size_t classes = data.classes.size();
  const std::string names = fmt::format("{}", fmt::join(data.classes, ", "));
  Encoded out{.kind = loss.targets, .width = 1, .values = {}};
  if (data.steps > 0) check_steps(data);
  if (loss.wants_classes()) {
    if (!data.has_classes()) {
      out.values = checked_labels(loss, data);
      check_outputs(loss, outputs, 1, "one number tells two classes apart");
      return out;
    }
    const bool one_each = loss.targets == Targets::class_number;
    if (classes < 2 || (!one_each && classes > 2))
      throw Error("loss \"{}\" needs {} classes, but the data have {} ({}){}", loss.name,
                  one_each ? "two or more" : "two", classes, names, classes > 2 ? "; use softmax_cross_entropy" : "");
    check_outputs(loss, outputs, one_each ? classes : 1,
                  one_each ? fmt::format("one for each class ({})", names) : "one number tells two classes apart");
    out.values = labels_of(data, loss.targets);
    return out;
  }
  if (outputs < loss.fewest)
    throw Error("loss \"{}\" needs at least {} outputs, but the last layer has {}", loss.name, loss.fewest, outputs);
  if (data.has_classes()) {
    if (outputs == classes && classes > 1) out.kind = Targets::one_hot;
    else if (outputs == 1 && classes == 2) out.kind = Targets::minus_plus;
    else
      throw Error(
          "loss \"{}\" is for numbers; with {} classes ({}) it fits {} outputs, one for each class,{} but the last "
          "layer has {}",
          loss.name, classes, names, classes, classes == 2 ? " or one output," : "", outputs);
    out.values = labels_of(data, out.kind);
    if (remark)
      remark(out.kind == Targets::one_hot
                 ? fmt::format(
                       "loss \"{}\" is for numbers: each class ({}) becomes one target column, 1 for the class and 0 "
                       "for the others",
                       loss.name, names)
                 : fmt::format("loss \"{}\" is for numbers: class {} becomes -1 and class {} becomes +1", loss.name,
                               data.classes[0], data.classes[1]));
    return out;
  }
  check_outputs(loss, outputs, data.target_count(),
                fmt::format("one for each target column ({})", fmt::join(data.target_names, ", ")));
  out.width = outputs;
  out.values = data.targets;
  return out;
}

}  // namespace kelvin
