// SPDX-License-Identifier: Apache-2.0
// Every activation: values, slopes, and what happens far out.
#include "kelvin/function/activation.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
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
  const Real kept = f.on<Real>().needs_inputs ? x : value(f, x);
  Real d = 1;
  f.on<Real>().backward({&kept, 1}, {&d, 1});
  return d;
}

// Further than the increments below from the kinks at 0 and 6.
const double points[] = {-7.3, -3.1, -1.2, -0.4, -0.02, 0.03, 0.7, 2.5, 5.8, 6.4, 9.0};

TEST(Activation, SlopesAgreeWithCentralDifferencesOfSecondOrder) {
  for (const Activation& f : activations()) {
    double coarse = 0, fine = 0;
    for (const double x : points) {
      const auto error = [&](double e) { return (value(f, x + e) - value(f, x - e)) / (2 * e) - slope(f, x); };
      coarse += std::abs(error(0.01));
      fine += std::abs(error(0.005));
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
  for (const Activation& f : activations()) {
    const float over = f.in_float.needs_inputs ? 0.13f : 0;  // those that first fall are steeper than 1 for a while
    for (const float x : {-1e4f, -100.0f, -2.0f, 0.0f, 2.0f, 100.0f, 1e4f}) {
      EXPECT_TRUE(std::isfinite(value(f, x))) << f.name << " at " << x;
      EXPECT_GE(slope(f, x), -over) << f.name << " at " << x;
      EXPECT_LE(slope(f, x), 1 + over) << f.name << " at " << x;
    }
  }
}

TEST(Activation, StaysWithinTheBoundsOfItsRowAndReachesThem) {
  for (const Activation& f : activations()) {
    double least = value(f, -1e4);
    for (double x = -10; x < 10; x += 1e-3) {
      EXPECT_GE(value(f, x), f.lower) << f.name;
      EXPECT_LE(value(f, x), f.upper) << f.name;
      least = std::min(least, value(f, x));
    }
    // Far out a bounded side is within 1e-3 of its bound (softsign comes as 1/|x|), an unbounded one beyond 90.
    if (std::isfinite(f.lower)) EXPECT_NEAR(least, f.lower, 1e-3) << f.name;
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
  EXPECT_DOUBLE_EQ(value(activation_named("gelu"), 1.0), (1 + std::erf(std::sqrt(0.5))) / 2);
  EXPECT_DOUBLE_EQ(value(activation_named("silu"), std::log(3.0)), 0.75 * std::log(3.0));
}

// The formula of every row, as the scalar library has it.
long double formula(std::string_view name, long double x) {
  const auto sigmoid = [](long double at) {
    return at > 0 ? 1 / (1 + std::exp(-at)) : std::exp(at) / (1 + std::exp(at));
  };
  if (name == "linear") return x;
  if (name == "relu") return std::max(x, 0.0L);
  if (name == "leaky_relu") return x > 0 ? x : x * 0.01L;
  if (name == "relu6") return std::clamp(x, 0.0L, 6.0L);
  if (name == "elu") return x > 0 ? x : std::expm1(x);
  if (name == "gelu") return x * std::erfc(-x / std::sqrt(2.0L)) / 2;
  if (name == "silu") return x * sigmoid(x);
  if (name == "tanh") return std::tanh(x);
  if (name == "sigmoid") return sigmoid(x);
  if (name == "softplus") return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x)));
  if (name == "softsign") return x / (1 + std::abs(x));
  ADD_FAILURE() << "no formula here for " << name;
  return 0;
}

// The distance from |y| to the next number.
template <class Real>
long double unit_at(long double y) {
  const Real size = std::min(std::abs(Real(y)), std::numeric_limits<Real>::max());
  return (long double)(size) - (long double)(std::nextafter(size, Real(-1)));
}

// Numbers of all magnitudes, and closely those where something happens.
template <class Real>
std::vector<Real> everywhere() {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  std::vector<Real> out;
  constexpr Bits apart = std::numeric_limits<Bits>::max() / 20011;
  for (Bits k = 0; k < 20011; ++k) out.push_back(std::bit_cast<Real>(Bits(k * apart)));
  std::erase_if(out, [](Real x) { return !std::isfinite(x); });
  const double end = sizeof(Real) == 4 ? 104 : 746;
  for (double x = -12; x < 12; x += 7.1e-4) out.push_back(Real(x));
  for (double x = -1.01 * end; x < 1.01 * end; x += end / 5003) out.push_back(Real(x));
  return out;
}

template <class Real>
void expect_right_everywhere(std::span<const Activation> table) {
  const std::vector<Real> x = everywhere<Real>();
  for (const Activation& f : table) {
    std::vector<Real> y = x;
    f.on<Real>().forward(y);
    // Roundings: of the exponential and its argument 1, of a quotient 1, of sums and products 1; the tail of gelu has
    // twice as many. Where e^x is too small for full precision, what multiplies it makes the lost bits larger.
    const long double units = f.name == "gelu" ? 7 : 4, smallest = std::numeric_limits<Real>::denorm_min();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double right = formula(f.name, x[i]),
                        lost = std::min(std::abs((long double)(x[i])), 800.0L) * smallest;
      ASSERT_LE(std::abs(y[i] - right), units * std::max(unit_at<Real>(right), smallest) + lost)
          << f.name << " at " << x[i] << ": " << y[i] << ", not " << right;
    }
  }
}

TEST(Activation, IsRightToAFewUnitsInTheLastPlaceEverywhere) {
  expect_right_everywhere<float>(activations());
  expect_right_everywhere<double>(activations());
}

template <class Real>
void expect_limits() {
  constexpr Real inf = std::numeric_limits<Real>::infinity(), smallest = std::numeric_limits<Real>::denorm_min();
  for (const Activation& f : activations()) {
    const bool falls_first = f.on<Real>().needs_inputs;  // and ends at 0 from below
    EXPECT_EQ(value(f, -inf), falls_first ? 0 : Real(f.lower)) << f.name;
    EXPECT_EQ(value(f, inf), Real(f.upper)) << f.name;
    EXPECT_TRUE(std::isnan(value(f, std::numeric_limits<Real>::quiet_NaN()))) << f.name;
    EXPECT_FALSE(std::isnan(slope(f, inf))) << f.name;
    EXPECT_FALSE(std::isnan(slope(f, -inf))) << f.name;
    const Real at_zero = value(f, Real(0));
    EXPECT_EQ(value(f, Real(-0.0)), at_zero) << f.name;
    EXPECT_NEAR(value(f, smallest), at_zero, smallest) << f.name;
    EXPECT_NEAR(value(f, -smallest), at_zero, smallest) << f.name;
  }
}

TEST(Activation, HasItsLimitsAtInfinityAndKeepsNan) {
  expect_limits<float>();
  expect_limits<double>();
}

TEST(Activation, TanhIsOddAndNeverBeyondOne) {
  const Activation& f = activation_named("tanh");
  for (const float x : everywhere<float>()) {
    ASSERT_EQ(value(f, -x), -value(f, x));
    ASSERT_LE(std::abs(value(f, x)), 1);
  }
}

#if KELVIN_ALL_ISAS
// Both have fused multiply-add and do the same operations on each number.
template <class Real>
void expect_same_bits(const Activation& narrow, const Activation& wide) {
  std::vector<Real> a = everywhere<Real>(), b = a;
  narrow.on<Real>().forward(a);
  wide.on<Real>().forward(b);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i]) << narrow.name;
}

TEST(Activation, HasTheSameBitsOnVectorsOfAnyWidthAndIsRightOnAll) {
  expect_right_everywhere<float>(portable::activations());
  expect_right_everywhere<double>(portable::activations());
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "this machine has no AVX-512 to compare with";
  for (std::size_t k = 0; k < activations().size(); ++k) {
    expect_same_bits<float>(avx2::activations()[k], avx512::activations()[k]);
    expect_same_bits<double>(avx2::activations()[k], avx512::activations()[k]);
  }
}
#endif

// Two pages between two that must not be touched.
class Fenced {
 public:
  Fenced() : page_(std::size_t(sysconf(_SC_PAGESIZE))) {
    all_ = static_cast<char*>(mmap(nullptr, 4 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (all_ == MAP_FAILED || mprotect(all_ + page_, 2 * page_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  Fenced(const Fenced&) = delete;
  ~Fenced() { munmap(all_, 4 * page_); }
  template <class Real>
  std::span<Real> first(std::size_t n) {
    return {reinterpret_cast<Real*>(all_ + page_), n};
  }
  template <class Real>
  std::span<Real> last(std::size_t n) {
    return {reinterpret_cast<Real*>(all_ + 3 * page_) - n, n};
  }

 private:
  std::size_t page_;
  char* all_;
};

template <class Real>
void expect_spans_of_any_length() {
  Fenced kept_pages, slope_pages;
  for (const Activation& f : activations()) {
    const ActivationOn<Real>& on = f.on<Real>();
    for (std::size_t n = 0; n <= 70; ++n)
      for (const bool at_end : {false, true}) {
        const auto y = at_end ? kept_pages.last<Real>(n) : kept_pages.first<Real>(n);
        const auto d = at_end ? slope_pages.last<Real>(n) : slope_pages.first<Real>(n);
        const auto input = [](std::size_t i) { return Real(points[i * 7 % std::size(points)] + 0.01 * double(i)); };
        std::fill_n(at_end ? y.data() - 80 : y.data(), n + 80, Real(77));
        std::fill_n(at_end ? d.data() - 80 : d.data(), n + 80, Real(77));
        for (std::size_t i = 0; i < n; ++i) y[i] = input(i);
        for (Real& one : d) one = 2;
        if (!on.needs_inputs) on.forward(y);
        on.backward(y, d);
        if (on.needs_inputs) on.forward(y);
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(y[i], value(f, input(i))) << f.name << ", number " << i << " of " << n;
          ASSERT_EQ(d[i], 2 * slope(f, input(i))) << f.name << ", number " << i << " of " << n;
        }
        for (std::size_t i = 0; i < 80; ++i) {
          ASSERT_EQ((at_end ? y.data() - 80 : y.data() + n)[i], 77) << f.name << " wrote beyond " << n;
          ASSERT_EQ((at_end ? d.data() - 80 : d.data() + n)[i], 77) << f.name << " wrote beyond " << n;
        }
      }
  }
}

TEST(Activation, TakesSpansOfAnyLengthAndTouchesNothingElse) {
  expect_spans_of_any_length<float>();
  expect_spans_of_any_length<double>();
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
