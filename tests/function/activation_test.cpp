// SPDX-License-Identifier: Apache-2.0
// Every activation: values, slopes, and what happens far out.
#include "kelvin/function/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

template <class Real>
Real value(const Activation& f, Real x) {
  f.on<Real>().forward({&x, 1});
  return x;
}

template <class Real>
Real slope(const Activation& f, Real x) {
  const Real y = value(f, x);
  Real d = 1;
  f.on<Real>().backward({&y, 1}, {&d, 1});
  return d;
}

// Further than the increments below from the kinks at 0 and 6.
const double points[] = {-7.3, -3.1, -1.2, -0.4, -0.02, 0.03, 0.7, 2.5, 5.8, 6.4, 9.0};

TEST(Activation, SlopesAgreeWithCentralDifferencesOfSecondOrder) {
  for (const Activation& f : activations()) {
    double coarse = 0, fine = 0;
    for (const double x : points) {
      const auto error = [&](double e) { return (value(f, x + e) - value(f, x - e)) / (2 * e) - slope(f, x); };
      coarse += std::abs(error(0.01)), fine += std::abs(error(0.005));
    }
    EXPECT_LT(coarse, 1e-3) << f.name;
    if (coarse > 1e-9) {  // piecewise linear ones have no error but rounding
      EXPECT_NEAR(coarse / fine, 4, 0.1) << f.name;
    }
  }
}

TEST(Activation, FloatAgreesWithDoubleToItsPrecision) {
  for (const Activation& f : activations())
    for (const double x : points) {
      EXPECT_NEAR(value(f, float(x)), value(f, x), 1e-6 * (1 + std::abs(x))) << f.name << " at " << x;
      EXPECT_NEAR(slope(f, float(x)), slope(f, x), 1e-6) << f.name << " at " << x;
    }
}

TEST(Activation, IsFiniteFarFromZero) {
  for (const Activation& f : activations())
    for (const float x : {-1e4f, -100.0f, 0.0f, 100.0f, 1e4f}) {
      EXPECT_TRUE(std::isfinite(value(f, x))) << f.name << " at " << x;
      EXPECT_GE(slope(f, x), 0) << f.name << " at " << x;
      EXPECT_LE(slope(f, x), 1) << f.name << " at " << x;
    }
}

TEST(Activation, StaysWithinTheBoundsOfItsRowAndReachesThem) {
  for (const Activation& f : activations()) {
    for (const double x : points) {
      EXPECT_GE(value(f, x), f.lower) << f.name;
      EXPECT_LE(value(f, x), f.upper) << f.name;
    }
    // Far out a bounded side is within 1e-3 of its bound (softsign comes as 1/|x|), an unbounded one beyond 90.
    if (std::isfinite(f.lower)) EXPECT_NEAR(value(f, -1e4), f.lower, 1e-3) << f.name;
    else EXPECT_LT(value(f, -1e4), -90) << f.name;
    if (std::isfinite(f.upper)) EXPECT_NEAR(value(f, 1e4), f.upper, 1e-3) << f.name;
    else EXPECT_GT(value(f, 1e4), 90) << f.name;
    EXPECT_EQ(f.bounded(), std::isfinite(f.lower) || std::isfinite(f.upper));
  }
}

TEST(Activation, HasTheValuesOfItsFormula) {
  EXPECT_DOUBLE_EQ(value(activation_named("leaky_relu"), -2.0), -0.02);
  EXPECT_DOUBLE_EQ(value(activation_named("relu6"), 7.5), 6);
  EXPECT_DOUBLE_EQ(value(activation_named("elu"), -1.0), std::exp(-1.0) - 1);
  EXPECT_DOUBLE_EQ(value(activation_named("sigmoid"), std::log(3.0)), 0.75);
  EXPECT_DOUBLE_EQ(value(activation_named("softplus"), 0.0), std::log(2.0));
  EXPECT_DOUBLE_EQ(value(activation_named("softsign"), -3.0), -0.75);
}

TEST(Activation, WorksOnWholeSpans) {
  for (const Activation& f : activations()) {
    std::vector<double> y(std::begin(points), std::end(points)), d(y.size(), 2);
    f.on<double>().forward(y);
    f.on<double>().backward(y, d);
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_EQ(y[i], value(f, points[i]));
      EXPECT_EQ(d[i], 2 * slope(f, points[i]));
    }
  }
}

TEST(Activation, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    activation_named("rellu");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("relu6"), std::string::npos);
  }
}

}  // namespace
}  // namespace kelvin
