// SPDX-License-Identifier: Apache-2.0
// Every loss: values by hand, slopes, and which targets it takes.
#include "kelvin/energy/loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/finite_difference.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Evaluated {
  double value;
  std::vector<double> slope, log_scale_slope, shape_slope;
};

template <class Real = double>
Evaluated evaluate(const Loss& loss, const std::vector<double>& output, const std::vector<double>& target,
                   double scale = 1, double shape = 3) {
  const std::vector<Real> f(output.begin(), output.end()), y(target.begin(), target.end());
  std::vector<Real> d(f.size());
  std::vector<double> scale_slopes(y.size()), shape_slopes(y.size());
  const std::vector<Scale> scales(y.size(), {std::log(scale), 1 / (scale * scale), shape});
  const double value =
      loss.sum<Real>()({1, f.size(), f.data(), y.data(), d.data(), scales, scale_slopes, shape_slopes});
  return {value, {d.begin(), d.end()}, scale_slopes, shape_slopes};
}

Evaluated evaluate(std::string_view name, const std::vector<double>& f, const std::vector<double>& y, double scale = 1,
                   double shape = 3) {
  return evaluate(loss_named(name), f, y, scale, shape);
}

// An output and a target that suit the row, away from its kinks.
std::pair<std::vector<double>, std::vector<double>> example(const Loss& loss) {
  if (loss.targets == Targets::class_number) return {{0.3, -0.8, 1.1}, {1}};
  if (loss.targets == Targets::zero_one) return {{0.35}, {1}};
  if (loss.targets == Targets::minus_plus) return {{0.35}, {-1}};
  if (loss.own_widths) return {{0.3, -0.8, 0.4, -0.2}, {0.5, 0.2}};
  if (loss.counts) return {{0.3, -0.8, 1.1}, {2, 0, 5}};
  return {{0.3, -0.8, 1.1}, {0.5, 0.2, -0.4}};
}

TEST(Loss, SlopesAgreeWithCentralDifferencesOfSecondOrder) {
  for (const Loss& loss : losses()) {
    auto [f, y] = example(loss);
    const auto error = [&, f = f, y = y](double e) {
      double sum = 0;
      for (std::size_t k = 0; k < f.size(); ++k) {
        auto above = f, below = f;
        above[k] += e, below[k] -= e;
        const double slope = (evaluate(loss, above, y).value - evaluate(loss, below, y).value) / (2 * e);
        sum += std::abs(slope - evaluate(loss, f, y).slope[k]);
      }
      return sum;
    };
    EXPECT_LT(error(0.01), 5e-3) << loss.name;
    if (error(0.01) > 1e-10) {
      EXPECT_NEAR(error(0.01) / error(0.005), 4, 0.1) << loss.name;
    }
  }
}

TEST(Loss, FloatAgreesWithDoubleToItsPrecision) {
  for (const Loss& loss : losses()) {
    const auto [f, y] = example(loss);
    const Evaluated in_double = evaluate(loss, f, y), in_float = evaluate<float>(loss, f, y);
    EXPECT_NEAR(in_float.value, in_double.value, 1e-6) << loss.name;
    for (std::size_t k = 0; k < f.size(); ++k) EXPECT_NEAR(in_float.slope[k], in_double.slope[k], 1e-6) << loss.name;
  }
}

TEST(Loss, HasTheValuesComputedByHand) {
  EXPECT_DOUBLE_EQ(evaluate("mean_squared", {1, 4}, {0, 2}).value, 2.5);  // (1 + 4) / 2
  EXPECT_DOUBLE_EQ(evaluate("absolute", {1, 4}, {0, 2}).value, 1.5);
  EXPECT_DOUBLE_EQ(evaluate("hinge", {0.25}, {1}).value, 0.75);
  EXPECT_DOUBLE_EQ(evaluate("hinge", {-3}, {-1}).value, 0);
  EXPECT_DOUBLE_EQ(evaluate("log", {0.25}, {1}).value, std::log(4.0));
  EXPECT_DOUBLE_EQ(evaluate("log", {0.25}, {0}).value, std::log(4.0 / 3));
  EXPECT_DOUBLE_EQ(evaluate("cosine", {3, 4}, {2, 0}).value, 0.4);
  // log odds of log 3 are a probability of 3/4
  EXPECT_DOUBLE_EQ(evaluate("binary_cross_entropy", {std::log(3.0)}, {1}).value, std::log(4.0 / 3));
  EXPECT_DOUBLE_EQ(evaluate("binary_cross_entropy", {std::log(3.0)}, {0}).value, std::log(4.0));
  // probabilities 1/10, 2/10, 7/10
  const Evaluated s = evaluate("softmax_cross_entropy", {0, std::log(2.0), std::log(7.0)}, {1});
  EXPECT_DOUBLE_EQ(s.value, std::log(5.0));
  EXPECT_NEAR(s.slope[0], 0.1, 1e-15);
  EXPECT_NEAR(s.slope[1], -0.8, 1e-15);
  EXPECT_NEAR(s.slope[2], 0.7, 1e-15);
}

TEST(Loss, GaussianIsTheNegativeLogDensityAndKnowsItsScaleSlope) {
  const double s = 0.5, log_density = -std::log(s * std::sqrt(2 * std::numbers::pi)) - 0.3 * 0.3 / (2 * s * s);
  const Evaluated one = evaluate("gaussian", {1.3}, {1}, s);
  EXPECT_NEAR(one.value, -log_density, 1e-15);
  const double e = 1e-4;
  const double above = evaluate("gaussian", {1.3}, {1}, s * std::exp(e)).value;
  const double below = evaluate("gaussian", {1.3}, {1}, s * std::exp(-e)).value;
  EXPECT_NEAR(one.log_scale_slope[0], (above - below) / (2 * e),
              1e-7);  // truncation e^2 times a third derivative near 3
  EXPECT_NEAR(evaluate("gaussian", {1.3, 1.3}, {1, 1}, s).value, -2 * log_density, 1e-15) << "outputs are independent";
}

TEST(Loss, StudentsTHasTheValueOfItsDensityAndItsSlopes) {
  // 3 degrees of freedom: 2 / (pi sqrt 3 s (1 + z^2/3)^2)
  const double s = 0.5, z = 0.3 / s;
  const double log_density = std::log(2 / (std::numbers::pi * std::sqrt(3.0) * s)) - 2 * std::log1p(z * z / 3);
  EXPECT_NEAR(evaluate("student_t", {1.3}, {1}, s).value, -log_density, 1e-14);
  EXPECT_NEAR(evaluate("heteroscedastic_student_t", {1.3, std::log(s)}, {1}).value, -log_density, 1e-14);
  EXPECT_NEAR(evaluate("heteroscedastic_gaussian", {1.3, std::log(s)}, {1}).value,
              evaluate("gaussian", {1.3}, {1}, s).value, 1e-14);
  const Evaluated far = evaluate("student_t", {1e6}, {0}, s), near = evaluate("student_t", {0.5}, {0}, s);
  EXPECT_LT(far.slope[0], near.slope[0]) << "rows far off pull less";
}

TEST(Loss, CountsHaveTheValuesComputedByHand) {
  EXPECT_NEAR(evaluate("poisson", {std::log(3.0)}, {2}).value, 3 - 2 * std::log(3.0) + std::log(2.0), 1e-14);
  // dispersion 1/2: size r = 2, p = 1 / (1 + 3/2) = 0.4: (y + 1) p^2 (1 - p)^y
  EXPECT_NEAR(evaluate("negative_binomial", {std::log(3.0)}, {2}, 1, 0.5).value, -std::log(3 * 0.4 * 0.4 * 0.6 * 0.6),
              1e-14);
  EXPECT_NEAR(evaluate("negative_binomial", {std::log(3.0)}, {0}, 1, 0.5).value, -2 * std::log(0.4), 1e-14);
}

// Central differences err by e^2 / 6 times a third derivative of order 1, and by rounding / e.
TEST(Loss, KnowsTheSlopesOfScaleAndShape) {
  constexpr double e = 1e-4;
  for (const Loss& loss : losses()) {
    const auto [f, y] = example(loss);
    for (const double shape : {0.4, 3.0, 50.0}) {
      const Evaluated here = evaluate(loss, f, y, 0.7, shape);
      double by_scale = 0, by_shape = 0;
      for (std::size_t k = 0; k < y.size(); ++k) {
        by_scale += here.log_scale_slope[k];
        by_shape += here.shape_slope[k];
      }
      const auto at = [&](double log_scale, double more) {
        return evaluate(loss, f, y, 0.7 * std::exp(log_scale), shape + more).value;
      };
      EXPECT_NEAR(by_scale, (at(e, 0) - at(-e, 0)) / (2 * e), 1e-6) << loss.name;
      EXPECT_NEAR(by_shape, (at(0, e) - at(0, -e)) / (2 * e), 1e-6) << loss.name << " " << shape;
      EXPECT_EQ(by_shape != 0, loss.shape != nullptr) << loss.name;
    }
  }
}

TEST(Loss, MapsWhatIsLearnedToShapes) {
  for (const Loss& loss : losses()) {
    if (!loss.shape) continue;
    for (const double x : {-20.0, -3.0, 0.0, 2.5, 20.0}) {
      EXPECT_GT(loss.shape->of(x), loss.shape->lowest);
      EXPECT_NEAR(loss.shape->slope(x), (loss.shape->of(x + 1e-5) - loss.shape->of(x - 1e-5)) / 2e-5,
                  1e-8 * loss.shape->of(x));
    }
  }
}

TEST(Loss, StaysFiniteForHugeWidthsAndRates) {
  for (const Loss& loss : losses()) {
    auto [f, y] = example(loss);
    for (const double huge : {1e4, -1e4}) {
      f.back() = huge;
      const Evaluated e = evaluate<float>(loss, f, y, 1, 0.7);
      EXPECT_TRUE(std::isfinite(e.value)) << loss.name;
      for (const double d : e.slope) EXPECT_TRUE(std::isfinite(d)) << loss.name;
    }
  }
}

TEST(Loss, StaysFiniteForHugeOutputsInFloat) {
  for (const Loss& loss : losses()) {
    auto [f, y] = example(loss);
    for (const double huge : {1e4, -1e4}) {
      f[0] = huge;
      const Evaluated e = evaluate<float>(loss, f, y);
      EXPECT_TRUE(std::isfinite(e.value)) << loss.name;
      for (const double d : e.slope) EXPECT_TRUE(std::isfinite(d)) << loss.name;
    }
  }
  EXPECT_NEAR(evaluate("binary_cross_entropy", {-1e4}, {1}).value, 1e4, 1e-8);
  EXPECT_NEAR(evaluate("softmax_cross_entropy", {-1e4, 0}, {0}).value, 1e4, 1e-8);
}

TEST(Loss, SumsOverItsRowsAndWritesEachSlope) {
  const Loss& loss = loss_named("mean_squared");
  const double f[] = {1, 2, 3, 4}, y[] = {0, 0, 0, 0};
  double d[4] = {9, 9, 9, 9};
  EXPECT_DOUBLE_EQ(loss.sum<double>()({2, 2, f, y, d, {}, {}}), 2.5 + 12.5);
  EXPECT_THAT(d, ElementsAre(1, 2, 3, 4));
}

TEST(Loss, OnlyConfiningOnesGrowWithoutBoundWithTheOutputs) {
  for (const Loss& loss : losses()) {
    auto [f, y] = example(loss);
    if (loss.counts) std::ranges::fill(y, 0);
    const double start = evaluate(loss, f, y).value;
    for (double& a : f) a = loss.targets == Targets::zero_one ? 1 : y[0] > 0 ? 1e6 : -1e6;
    const double far = evaluate(loss, f, y).value;
    if (loss.confines()) EXPECT_GT(far, 1000 * start) << loss.name;
    else EXPECT_LT(far, 1000 * start) << loss.name;
  }
}

// ---- which targets fit

Dataset classes(std::vector<std::string> names, std::vector<double> labels) {
  Dataset d;
  d.rows = labels.size();
  d.input_names = {"x"};
  d.target_names = {"kind"};
  d.classes = std::move(names);
  d.inputs = std::vector<double>(d.rows);
  d.targets = std::move(labels);
  return d;
}

Dataset numbers(std::vector<double> values, std::size_t columns = 1) {
  Dataset d;
  d.rows = values.size() / columns;
  d.input_names = {"x"};
  for (std::size_t k = 0; k < columns; ++k) d.target_names.push_back("y" + std::to_string(k));
  d.inputs = std::vector<double>(d.rows);
  d.targets = std::move(values);
  return d;
}

struct Outcome {
  Encoded encoded;
  std::vector<std::string> remarks;
  std::string error;
};

Outcome outcome(std::string_view loss, const Dataset& data, std::size_t outputs) {
  Outcome out;
  try {
    out.encoded =
        encode(loss_named(loss), data, outputs, [&](std::string_view text) { out.remarks.emplace_back(text); });
  } catch (const Error& e) {
    out.error = e.what();
  }
  return out;
}

TEST(Encode, TwoClassesAreWrittenAsTheLossWorksWithThem) {
  const Dataset d = classes({"cat", "dog"}, {0, 1, 1});
  EXPECT_THAT(outcome("binary_cross_entropy", d, 1).encoded.values, ElementsAre(0, 1, 1));
  EXPECT_THAT(outcome("log", d, 1).encoded.values, ElementsAre(0, 1, 1));
  EXPECT_THAT(outcome("hinge", d, 1).encoded.values, ElementsAre(-1, 1, 1));
  EXPECT_THAT(outcome("softmax_cross_entropy", d, 2).encoded.values, ElementsAre(0, 1, 1));
  EXPECT_TRUE(outcome("hinge", d, 1).remarks.empty());
}

TEST(Encode, ClassesUnderALossForNumbersAreRemarkedUpon) {
  const Outcome one = outcome("mean_squared", classes({"cat", "dog"}, {0, 1}), 1);
  EXPECT_THAT(one.encoded.values, ElementsAre(-1, 1));
  EXPECT_THAT(one.remarks, ElementsAre(HasSubstr("class cat becomes -1")));
  const Outcome three = outcome("absolute", classes({"a", "b", "c"}, {2, 0}), 3);
  EXPECT_THAT(three.encoded.values, ElementsAre(2, 0));
  EXPECT_EQ(three.encoded.kind, Targets::one_hot);
  EXPECT_THAT(three.remarks, ElementsAre(HasSubstr("a, b, c")));
  EXPECT_THAT(outcome("gaussian", classes({"a", "b", "c"}, {2, 0}), 1).error, HasSubstr("3 outputs"));
  for (const char* loss : {"poisson", "heteroscedastic_gaussian"})
    EXPECT_THAT(outcome(loss, classes({"a", "b", "c"}, {2, 0}), 3).error, HasSubstr("such as softmax_cross_entropy"));
}

TEST(Encode, TheNumberOfOutputsMustFit) {
  EXPECT_THAT(outcome("softmax_cross_entropy", classes({"a", "b", "c"}, {0, 1, 2}), 2).error, HasSubstr("needs 3"));
  EXPECT_THAT(outcome("hinge", classes({"a", "b"}, {0, 1}), 2).error, HasSubstr("needs 1"));
  EXPECT_THAT(outcome("mean_squared", numbers({1, 2, 3, 4}, 2), 3).error, HasSubstr("needs 2"));
  EXPECT_THAT(outcome("cosine", numbers({1, 2}), 1).error, HasSubstr("at least 2"));
}

TEST(Encode, WidthsNeedASecondOutputForEachTarget) {
  EXPECT_EQ(outcome("heteroscedastic_gaussian", numbers({1, 2, 3, 4}, 2), 4).encoded.width, 2u);
  EXPECT_THAT(outcome("heteroscedastic_gaussian", numbers({1, 2, 3, 4}, 2), 2).error,
              HasSubstr("needs 4: a mean and the logarithm of a width for each target column (y0, y1)"));
  EXPECT_THAT(outcome("heteroscedastic_student_t", numbers({1, 2}), 1).error, HasSubstr("at least 2"));
}

TEST(Encode, CountsAreWholeNumbersAsTheyAre) {
  EXPECT_THAT(outcome("poisson", numbers({0, 7}), 1).encoded.values, ElementsAre(0, 7));
  EXPECT_THAT(outcome("poisson", numbers({0, 1.5}), 1).error, HasSubstr("row 1 of \"y0\" is 1.5"));
  EXPECT_THAT(outcome("negative_binomial", numbers({-1, 1}), 1).error, HasSubstr("whole numbers from 0 on"));
  Dataset rescaled = numbers({-1, 1});
  rescaled.target_units = {{0.5}, {0.5}};
  EXPECT_THAT(outcome("poisson", rescaled, 1).error, HasSubstr("set data.standardise to \"inputs\""));
}

TEST(Encode, BinaryLossesNeedTwoClasses) {
  for (const char* loss : {"binary_cross_entropy", "hinge", "log"})
    EXPECT_THAT(outcome(loss, classes({"a", "b", "c"}, {0, 1, 2}), 1).error, HasSubstr("softmax_cross_entropy"))
        << loss;
  EXPECT_THAT(outcome("softmax_cross_entropy", classes({"a"}, {0, 0}), 1).error, HasSubstr("two or more"));
}

TEST(Encode, NumbersWhereClassesAreWantedMustAlreadyBeLabels) {
  EXPECT_THAT(outcome("hinge", numbers({-1, 1, 1}), 1).encoded.values, ElementsAre(-1, 1, 1));
  EXPECT_THAT(outcome("log", numbers({0, 1}), 1).encoded.values, ElementsAre(0, 1));
  EXPECT_THAT(outcome("hinge", numbers({0, 1}), 1).error, HasSubstr("-1 and 1"));
  EXPECT_THAT(outcome("binary_cross_entropy", numbers({-1, 1}), 1).error, HasSubstr("0 and 1"));
  EXPECT_THAT(outcome("softmax_cross_entropy", numbers({0, 1}), 2).error, HasSubstr("needs classes"));
  Dataset rescaled = numbers({-1, 1});  // 0 and 1, standardised
  rescaled.target_units = {{0.5}, {0.5}};
  EXPECT_THAT(outcome("hinge", rescaled, 1).error, HasSubstr("do not rescale"));
}

TEST(Encode, AClassNumberOutOfRangeIsRefused) {
  EXPECT_THAT(outcome("softmax_cross_entropy", classes({"a", "b"}, {0, 2}), 2).error, HasSubstr("row 1"));
}

// One row of a loss by its formula: log sum exp(f) - f of the right class; of one output, with 0 as the first class's.
long double cross_entropy(std::span<const double> f, std::span<const double> y, std::span<long double> slopes) {
  const bool one = f.size() == 1;
  const long double top = std::max((long double)(one ? 0 : f[0]), (long double)(*std::ranges::max_element(f)));
  long double sum = one ? std::exp(-top) : 0, value = top;
  for (const double x : f) sum += std::exp(x - top);
  for (std::size_t k = 0; k < f.size(); ++k) {
    slopes[k] = std::exp(f[k] - top) / sum - y[k];
    value -= y[k] * (long double)(f[k]);
  }
  return value + std::log(sum);
}

// Vector loops: what they do to one row must not depend on its neighbours or on extreme numbers.
template <class Real>
void expect_cross_entropies(double precision) {
  for (const std::size_t width : {1, 2, 10, 16, 17, 64, 70, 200}) {
    const Loss& loss = loss_named(width == 1 ? "binary_cross_entropy" : "softmax_cross_entropy");
    for (const double scale : {1e-3, 1.0, 30.0, 300.0}) {
      SCOPED_TRACE(fmt::format("{} outputs of size {}", width, scale));
      const std::size_t rows = 37;
      const auto given = some_point(rows * width, scale, loss.name);
      const std::vector<Real> f(given.begin(), given.end());
      const std::vector<double> exact(f.begin(), f.end());
      std::vector<Real> y(rows), d(rows * width);
      std::vector<double> targets(rows * width);  // one number for each class
      for (std::size_t i = 0; i < rows; ++i) {
        y[i] = width == 1 ? Real(i % 2) : Real(i % width);
        targets[i * width + i % width] = width == 1 ? double(i % 2) : 1;
      }
      std::vector<long double> slopes(width);
      long double right = 0;
      const double value = loss.sum<Real>()({rows, width, f.data(), y.data(), d.data(), {}, {}});
      for (std::size_t i = 0; i < rows; ++i) {
        right += cross_entropy(std::span(exact).subspan(i * width, width), std::span(targets).subspan(i * width, width),
                               slopes);
        for (std::size_t k = 0; k < width; ++k) ASSERT_NEAR(d[i * width + k], slopes[k], precision);
      }
      EXPECT_NEAR(value, right, precision * (std::abs(right) + 1));
    }
  }
}

TEST(Loss, CrossEntropiesAgreeWithTheirFormulaEverywhere) {
  expect_cross_entropies<float>(1e-6);
  expect_cross_entropies<double>(1e-14);
}

template <class Real>
void expect_nan_to_show() {
  for (const std::size_t width : {1, 3, 70}) {
    const Loss& loss = loss_named(width == 1 ? "binary_cross_entropy" : "softmax_cross_entropy");
    for (std::size_t bad = 0; bad < width; ++bad) {
      std::vector<Real> f(width), y(width), d(width);
      y[0] = 1;
      f[bad] = NAN;
      EXPECT_TRUE(std::isnan(loss.sum<Real>()({1, width, f.data(), y.data(), d.data(), {}, {}}))) << width << bad;
    }
  }
}

TEST(Loss, ShowsNanInCrossEntropies) {
  expect_nan_to_show<float>();
  expect_nan_to_show<double>();
}

}  // namespace
}  // namespace kelvin
