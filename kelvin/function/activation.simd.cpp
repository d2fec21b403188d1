// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/activation.h"

#include "kelvin/core/vector_math.h"

namespace kelvin::KELVIN_ISA {
namespace {

// Each activation: y = value(x), and dy/dx = slope(y), written in y so that the inputs need not be kept, or else
// slope_at(x). They take whole vectors; nan stays nan, so that a blow-up is noticed, and infinities have their limits.
template <class Vector>
using NumberOf = typename NumberFormat<Vector>::Real;

struct Linear {};
struct Relu {
  KELVIN_INLINE static auto value(auto x) { return positive(x); }
  KELVIN_INLINE static auto slope(auto y) { return y > 0 ? 1 + decltype(y){} : decltype(y){}; }
};
struct LeakyRelu {
  KELVIN_INLINE static auto value(auto x) { return x * slope(x); }
  KELVIN_INLINE static auto slope(auto y) {
    return y > 0 ? 1 + decltype(y){} : NumberOf<decltype(y)>(0.01) + decltype(y){};
  }
};
struct Relu6 {
  KELVIN_INLINE static auto value(auto x) { return at_most(at_least(x, 0), 6); }
  KELVIN_INLINE static auto slope(auto y) { return (y > 0) & (y < 6) ? 1 + decltype(y){} : decltype(y){}; }
};
struct Elu {
  KELVIN_INLINE static auto value(auto x) {
    return x > 0 ? x : expm1(at_least(at_most(x, 0), -NumberFormat<decltype(x)>::flat));
  }
  KELVIN_INLINE static auto slope(auto y) { return y > 0 ? 1 + decltype(y){} : y + 1; }
};
struct Tanh {
  KELVIN_INLINE static auto value(auto x) { return tanh(x); }
  KELVIN_INLINE static auto slope(auto y) { return 1 - y * y; }
};
struct Sigmoid {
  KELVIN_INLINE static auto value(auto x) {
    const auto e = exp(-magnitude(x));
    return (x > 0 ? 1 + decltype(x){} : e) / (1 + e);
  }
  KELVIN_INLINE static auto slope(auto y) { return y * (1 - y); }
};
struct Softplus {
  KELVIN_INLINE static auto value(auto x) { return positive(x) + log1p(exp(-magnitude(x))); }
  KELVIN_INLINE static auto slope(auto y) { return -expm1(at_least(-y, -NumberFormat<decltype(y)>::flat)); }
};
struct Softsign {
  KELVIN_INLINE static auto value(auto x) {
    const auto size = at_most(magnitude(x), NumberOf<decltype(x)>(0x1p100));  // which an infinite one is as good as
    return with_sign_of(x, size / (1 + size));
  }
  KELVIN_INLINE static auto slope(auto y) {
    const auto rest = 1 - magnitude(y);
    return rest * rest;
  }
};
// x P(X <= x) for a normal X, by the probability of the tail, in which nothing cancels.
struct Gelu {
  KELVIN_INLINE static auto size_of(auto x) { return at_most(magnitude(x), NumberFormat<decltype(x)>::bell_ends); }
  KELVIN_INLINE static auto value(auto x) {
    const auto size = size_of(x);
    return positive(x) - size * tail_over_bell(size) * bell(size);
  }
  KELVIN_INLINE static auto slope_at(auto x) {
    const auto size = size_of(x), density = bell(size), tail = density * tail_over_bell(size);
    return (x > 0 ? 1 - tail : tail) + with_sign_of(x, NumberOf<decltype(x)>(0.39894228040143268) * size * density);
  }
};
// x s with s = 1 / (1 + e^-x); its slope is s + x s (1 - s).
struct Silu {
  KELVIN_INLINE static auto within(auto x) {  // beyond, s is 0 or 1
    return at_least(x, NumberFormat<decltype(x)>::lowest);
  }
  KELVIN_INLINE static auto value(auto x) { return within(x) * Sigmoid::value(x); }
  KELVIN_INLINE static auto slope_at(auto x) {
    const auto e = exp(-magnitude(x)), share = 1 / (1 + e), other = e * share;
    const auto capped = at_most(within(x), -NumberFormat<decltype(x)>::lowest);
    return (x > 0 ? share : other) + capped * share * other;
  }
};

// Calls `act` with the first number and the count of each vector of a span of n.
template <class Real>
KELVIN_INLINE void by_vectors(std::size_t n, auto&& act) {
  std::size_t i = 0;
  for (; i + lanes<Real> <= n; i += lanes<Real>) act(i, std::size_t(lanes<Real>));
  if (i < n) act(i, n - i);
}

template <class F, class Real>
void values(std::span<Real> x) {
  if constexpr (requires { F::value(Lanes<Real>{}); })
    by_vectors<Real>(x.size(), [to = x.data()](std::size_t i, std::size_t count) {
      store_some(to + i, F::value(load_some(to + i, count)), count);
    });
}

template <class F, class Real>
void slopes(std::span<const Real> kept, std::span<Real> dy) {
  const auto times = [from = kept.data(), to = dy.data(), n = kept.size()](auto slope) {
    by_vectors<Real>(n, [&](std::size_t i, std::size_t count) {
      store_some(to + i, load_some(to + i, count) * slope(load_some(from + i, count)), count);
    });
  };
  if constexpr (requires { F::slope(Lanes<Real>{}); }) times([](auto y) { return F::slope(y); });
  if constexpr (requires { F::slope_at(Lanes<Real>{}); }) times([](auto x) { return F::slope_at(x); });
}

template <class F, class Real>
constexpr ActivationOn<Real> spans_of() {
  return {values<F, Real>, slopes<F, Real>, requires {F::slope_at(Lanes<Real>{});
}
};  // namespace
}  // namespace kelvin::KELVIN_ISA

template <class F>
constexpr Activation row(std::string_view name, double lower, double upper, std::string_view meaning) {
  return {name, spans_of<F, float>(), spans_of<F, double>(), lower, upper, std::is_same_v<F, Relu>, meaning};
}

constexpr double inf = __builtin_inf();

constexpr Activation all_activations[] = {
    row<Linear>("linear", -inf, inf, "x"),
    row<Relu>("relu", 0, inf, "max(x, 0)"),
    row<LeakyRelu>("leaky_relu", -inf, inf, "x if positive, else x / 100"),
    row<Relu6>("relu6", 0, 6, "x between 0 and 6, cut off outside"),
    row<Elu>("elu", -1, inf, "x if positive, else exp(x) - 1"),
    row<Gelu>("gelu", -0.16997120747990369, inf, "x times the normal probability below x: x (1 + erf(x / sqrt 2)) / 2"),
    row<Silu>("silu", -0.27846454276107380, inf, "x sigmoid(x), also called swish"),
    row<Tanh>("tanh", -1, 1, "hyperbolic tangent"),
    row<Sigmoid>("sigmoid", 0, 1, "1 / (1 + exp(-x))"),
    row<Softplus>("softplus", 0, inf, "log(1 + exp(x))"),
    row<Softsign>("softsign", -1, 1, "x / (1 + |x|)"),
};

}  // namespace

std::span<const Activation> activations() { return all_activations; }

}  // namespace kelvin::KELVIN_ISA
