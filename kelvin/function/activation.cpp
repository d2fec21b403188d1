// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kelvin/core/choice.h"

namespace kelvin {
namespace {

// Each activation: y = value(x), and dy/dx = slope(y), written in y so that the inputs need not be kept.
struct Linear {
  static auto value(auto x) { return x; }
  static auto slope(auto y) { return decltype(y)(1); }
};
struct Relu {
  static auto value(auto x) { return x < 0 ? 0 : x; }  // nan stays nan, so that a blow-up is noticed
  static auto slope(auto y) { return decltype(y)(y > 0); }
};
struct LeakyRelu {
  static auto value(auto x) { return x * slope(x); }
  static auto slope(auto y) { return y > 0 ? decltype(y)(1) : decltype(y)(0.01); }
};
struct Relu6 {
  static auto value(auto x) { return std::clamp(x, decltype(x)(0), decltype(x)(6)); }
  static auto slope(auto y) { return decltype(y)(y > 0 && y < 6); }
};
struct Elu {
  static auto value(auto x) { return x > 0 ? x : std::expm1(x); }
  static auto slope(auto y) { return y > 0 ? decltype(y)(1) : y + 1; }
};
struct Tanh {
  static auto value(auto x) { return std::tanh(x); }
  static auto slope(auto y) { return 1 - y * y; }
};
struct Sigmoid {
  static auto value(auto x) { return 1 / (1 + std::exp(-x)); }
  static auto slope(auto y) { return y * (1 - y); }
};
struct Softplus {
  static auto value(auto x) { return std::max(x, decltype(x)(0)) + std::log1p(std::exp(-std::abs(x))); }
  static auto slope(auto y) { return -std::expm1(-y); }
};
struct Softsign {
  static auto value(auto x) { return x / (1 + std::abs(x)); }
  static auto slope(auto y) { return (1 - std::abs(y)) * (1 - std::abs(y)); }
};

template <class F, class Real>
constexpr ActivationOn<Real> spans_of() {
  return {[](std::span<Real> x) {
            for (Real& a : x) a = F::value(a);
          },
          [](std::span<const Real> y, std::span<Real> dy) {
            for (std::size_t i = 0; i < y.size(); ++i) dy[i] *= F::slope(y[i]);
          }};
}

template <class F>
constexpr Activation row(std::string_view name, double lower, double upper, std::string_view meaning) {
  return {name, spans_of<F, float>(), spans_of<F, double>(), lower, upper, std::is_same_v<F, Relu>, meaning};
}

constexpr double inf = std::numeric_limits<double>::infinity();

constexpr Activation all_activations[] = {
    row<Linear>("linear", -inf, inf, "x"),
    row<Relu>("relu", 0, inf, "max(x, 0)"),
    row<LeakyRelu>("leaky_relu", -inf, inf, "x if positive, else x / 100"),
    row<Relu6>("relu6", 0, 6, "x between 0 and 6, cut off outside"),
    row<Elu>("elu", -1, inf, "x if positive, else exp(x) - 1"),
    row<Tanh>("tanh", -1, 1, "hyperbolic tangent"),
    row<Sigmoid>("sigmoid", 0, 1, "1 / (1 + exp(-x))"),
    row<Softplus>("softplus", 0, inf, "log(1 + exp(x))"),
    row<Softsign>("softsign", -1, 1, "x / (1 + |x|)"),
};

}  // namespace

bool Activation::bounded() const { return std::isfinite(lower) || std::isfinite(upper); }

std::span<const Activation> activations() { return all_activations; }

const Activation& activation_named(std::string_view name) { return row_named(name, activations(), "activation"); }

}  // namespace kelvin
