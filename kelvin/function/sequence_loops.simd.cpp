// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/sequence_loops.h"

#include "kelvin/core/vector_math.h"

namespace kelvin::KELVIN_ISA {
namespace {

template <class Vector>
KELVIN_INLINE Vector sigmoid(Vector x) {
  const Vector e = exp(-magnitude(x));
  return (x > 0 ? 1 + Vector{} : e) / (1 + e);
}

// Some numbers from the k-th on, as one vector, of each of the arrays that a cell has.
template <class Real>
struct Some {
  std::size_t k, count;
  KELVIN_INLINE Lanes<Real> of(const Real* array) const { return load_some(array + k, count); }
  KELVIN_INLINE void put(Real* array, Lanes<Real> v) const { store_some(array + k, v, count); }
};

// The same units of each gate of a row.
template <class Real>
struct Gates {
  Some<Real> first;
  std::size_t units;
  KELVIN_INLINE Lanes<Real> of(const Real* array, std::size_t gate) const { return first.of(array + gate * units); }
  KELVIN_INLINE void put(Real* array, std::size_t gate, Lanes<Real> v) const { first.put(array + gate * units, v); }
};

template <class Real>
KELVIN_INLINE void for_each_vector(std::size_t n, auto&& act) {
  std::size_t k = 0;
  for (; k + lanes<Real> <= n; k += lanes<Real>) act(Some<Real>{k, std::size_t(lanes<Real>)});
  if (k < n) act(Some<Real>{k, n - k});
}

// Calls act(numbers of a row that lie `gates` to a unit, numbers that lie one to a unit, units) for each row.
template <class Real, std::size_t gates>
KELVIN_INLINE void for_each_unit(const CellStep<Real>& s, auto&& act) {
  for (std::size_t row = 0; row < s.rows; ++row)
    for_each_vector<Real>(s.units, [&](Some<Real> some) {
      const std::size_t of_row = row * s.units;
      act(Gates<Real>{{gates * of_row + some.k, some.count}, s.units}, Some<Real>{of_row + some.k, some.count});
    });
}

// h' = tanh(a)
template <class Real>
KELVIN_INLINE void forward_rnn(const CellStep<Real>& s) {
  for_each_unit<Real, 1>(s, [&](auto, auto at) {
    const auto h = tanh(at.of(s.gates));
    at.put(s.gates, h);
    at.put(s.h, h);
  });
}
template <class Real>
KELVIN_INLINE void backward_rnn(const CellStep<Real>& s) {
  for_each_unit<Real, 1>(s, [&](auto, auto at) {
    const auto h = at.of(s.gates);
    at.put(s.gates, at.of(s.dh) * (1 - h * h));
  });
}

// r = sigmoid(a + u), z = sigmoid(a + u), n = tanh(a + r u), h' = (1 - z) n + z h
template <class Real>
KELVIN_INLINE void forward_gru(const CellStep<Real>& s) {
  for_each_unit<Real, 3>(s, [&](auto gate, auto at) {
    const auto r = sigmoid(gate.of(s.gates, 0) + gate.of(s.recurrent, 0));
    const auto z = sigmoid(gate.of(s.gates, 1) + gate.of(s.recurrent, 1));
    const auto n = tanh(gate.of(s.gates, 2) + r * gate.of(s.recurrent, 2));
    gate.put(s.gates, 0, r);
    gate.put(s.gates, 1, z);
    gate.put(s.gates, 2, n);
    at.put(s.h, (1 - z) * n + z * at.of(s.h_before));
  });
}
template <class Real>
KELVIN_INLINE void backward_gru(const CellStep<Real>& s) {
  for_each_unit<Real, 3>(s, [&](auto gate, auto at) {
    const auto r = gate.of(s.gates, 0), z = gate.of(s.gates, 1), n = gate.of(s.gates, 2), dh = at.of(s.dh);
    const auto dn = dh * (1 - z) * (1 - n * n), dr = dn * gate.of(s.recurrent, 2) * r * (1 - r);
    const auto dz = dh * (at.of(s.h_before) - n) * z * (1 - z);
    at.put(s.dh_before, at.of(s.dh_before) + dh * z);
    gate.put(s.gates, 0, dr);
    gate.put(s.gates, 1, dz);
    gate.put(s.gates, 2, dn);
    gate.put(s.recurrent, 0, dr);
    gate.put(s.recurrent, 1, dz);
    gate.put(s.recurrent, 2, dn * r);
  });
}

// i, f, o = sigmoid(a), g = tanh(a), c' = f c + i g, h' = o tanh(c')
template <class Real>
KELVIN_INLINE void forward_lstm(const CellStep<Real>& s) {
  for_each_unit<Real, 4>(s, [&](auto gate, auto at) {
    const auto i = sigmoid(gate.of(s.gates, 0)), f = sigmoid(gate.of(s.gates, 1));
    const auto g = tanh(gate.of(s.gates, 2)), o = sigmoid(gate.of(s.gates, 3));
    const auto c = f * at.of(s.c_before) + i * g, value = tanh(c);
    gate.put(s.gates, 0, i);
    gate.put(s.gates, 1, f);
    gate.put(s.gates, 2, g);
    gate.put(s.gates, 3, o);
    at.put(s.c, c);
    at.put(s.c_value, value);
    at.put(s.h, o * value);
  });
}
template <class Real>
KELVIN_INLINE void backward_lstm(const CellStep<Real>& s) {
  for_each_unit<Real, 4>(s, [&](auto gate, auto at) {
    const auto i = gate.of(s.gates, 0), f = gate.of(s.gates, 1), g = gate.of(s.gates, 2), o = gate.of(s.gates, 3);
    const auto dh = at.of(s.dh), t = at.of(s.c_value), dc = at.of(s.dc) + dh * o * (1 - t * t);
    at.put(s.dc, dc * f);
    gate.put(s.gates, 0, dc * g * i * (1 - i));
    gate.put(s.gates, 1, dc * at.of(s.c_before) * f * (1 - f));
    gate.put(s.gates, 2, dc * i * (1 - g * g));
    gate.put(s.gates, 3, dh * t * o * (1 - o));
  });
}

// exp(p) / sum exp(p), counted from the largest so that nothing overflows
template <class Real>
KELVIN_INLINE void softmax(const Shares<Real>& s) {
  for (std::size_t row = 0; row < s.rows; ++row) {
    Real* p = s.p + row * s.width;
    const std::size_t seen = s.causal ? row + 1 : s.width;
    const Real top = largest(p, seen);
    Lanes<Real> sums = {};
    for_each_vector<Real>(seen, [&](auto at) {
      const auto e = exp(at.of(p) - top);
      at.put(p, e);
      sums += at.count == std::size_t(lanes<Real>) ? e : at.of(p);  // 0 beyond the last
    });
    const Real share = 1 / sum(sums);
    for_each_vector<Real>(seen, [&](auto at) { at.put(p, at.of(p) * share); });
    for (std::size_t k = seen; k < s.width; ++k) p[k] = 0;
  }
}

// dp <- p (dp - sum p dp)
template <class Real>
KELVIN_INLINE void through_softmax(const Shares<Real>& s) {
  for (std::size_t row = 0; row < s.rows; ++row) {
    const Real* p = s.p + row * s.width;
    Real* dp = s.dp + row * s.width;
    const std::size_t seen = s.causal ? row + 1 : s.width;
    Lanes<Real> sums = {};
    for_each_vector<Real>(seen, [&](auto at) { sums += at.of(p) * at.of(dp); });
    const Real along = sum(sums);
    for_each_vector<Real>(seen, [&](auto at) { at.put(dp, at.of(p) * (at.of(dp) - along)); });
    for (std::size_t k = seen; k < s.width; ++k) dp[k] = 0;
  }
}

// The sum of what `term` makes of each vector of a row; `term` must be 0 where its arrays are.
template <class Real>
KELVIN_INLINE Real sum_of_row(std::size_t n, auto&& term) {
  Lanes<Real> sums = {};
  for_each_vector<Real>(n, [&](auto at) { sums += term(at); });
  return sum(sums);
}

template <class Real>
KELVIN_INLINE Real inverse_root(Real x) {
  return 1 / root(all(x))[0];
}

template <class Real>
KELVIN_INLINE void forward_normalise(const NormalisedRows<Real>& r) {
  const Real share = 1 / Real(r.width);
  for (std::size_t i = 0; i < r.rows; ++i) {
    const Real* x = r.x + i * r.width;
    Real *z = r.z + i * r.width, *y = r.y + i * r.width;
    const Real mean = share * sum_of_row<Real>(r.width, [&](auto at) { return at.of(x); });
    for_each_vector<Real>(r.width, [&](auto at) { at.put(z, at.of(x) - mean); });
    const Real variance = share * sum_of_row<Real>(r.width, [&](auto at) { return at.of(z) * at.of(z); });
    const Real inverse = inverse_root(variance + r.floor);
    r.inverse[i] = inverse;
    for_each_vector<Real>(r.width, [&](auto at) {
      const auto normalised = at.of(z) * inverse;
      at.put(z, normalised);
      at.put(y, at.of(r.gain) * normalised + at.of(r.bias));
    });
  }
}
// With u = gain dy:  dx = (u - mean(u) - z mean(u z)) / sqrt(variance + floor)
template <class Real>
KELVIN_INLINE void backward_normalise(const NormalisedRows<Real>& r) {
  const Real share = 1 / Real(r.width);
  for (std::size_t i = 0; i < r.rows; ++i) {
    const Real *dy = r.dy + i * r.width, *z = r.z + i * r.width;
    Real* dx = r.dx + i * r.width;
    const Real inverse = r.inverse[i];
    const Real mean = share * sum_of_row<Real>(r.width, [&](auto at) { return at.of(r.gain) * at.of(dy); });
    const Real along = share * sum_of_row<Real>(r.width, [&](auto at) { return at.of(r.gain) * at.of(dy) * at.of(z); });
    for_each_vector<Real>(
        r.width, [&](auto at) { at.put(dx, inverse * (at.of(r.gain) * at.of(dy) - mean - at.of(z) * along)); });
  }
}

// Some vectors of columns at a time, so that their sums stay in registers.
template <class Real, int vectors>
KELVIN_INLINE void add_columns(const RowSums<Real>& r, std::size_t first, std::size_t count) {
  Lanes<Real> sums[vectors] = {};
  for (std::size_t i = 0; i < r.rows; ++i)
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = i * r.width + first + std::size_t(v * lanes<Real>);
      const auto x = load_some(r.x + at, count);
      sums[v] += r.times ? x * load_some(r.times + at, count) : x;
    }
  for (int v = 0; v < vectors; ++v) store_some(r.sums + first + std::size_t(v * lanes<Real>), sums[v], count);
}
template <class Real>
KELVIN_INLINE void add_rows(const RowSums<Real>& r) {
  constexpr int many = 4;
  std::size_t k = 0;
  for (; k + many * lanes<Real> <= r.columns; k += many * lanes<Real>)
    add_columns<Real, many>(r, k, std::size_t(lanes<Real>));
  for (; k < r.columns; k += lanes<Real>)
    add_columns<Real, 1>(r, k, r.columns - k < lanes<Real> ? r.columns - k : std::size_t(lanes<Real>));
}

}  // namespace

#define KELVIN_SEQUENCE_LOOPS_HERE(Real)                                           \
  void rnn_forward(const CellStep<Real>& s) { forward_rnn(s); }                    \
  void rnn_backward(const CellStep<Real>& s) { backward_rnn(s); }                  \
  void gru_forward(const CellStep<Real>& s) { forward_gru(s); }                    \
  void gru_backward(const CellStep<Real>& s) { backward_gru(s); }                  \
  void lstm_forward(const CellStep<Real>& s) { forward_lstm(s); }                  \
  void lstm_backward(const CellStep<Real>& s) { backward_lstm(s); }                \
  void softmax_rows(const Shares<Real>& s) { softmax(s); }                         \
  void softmax_slopes(const Shares<Real>& s) { through_softmax(s); }               \
  void normalise(const NormalisedRows<Real>& r) { forward_normalise(r); }          \
  void normalised_slopes(const NormalisedRows<Real>& r) { backward_normalise(r); } \
  void sum_over_rows(const RowSums<Real>& r) { add_rows(r); }

KELVIN_SEQUENCE_LOOPS_HERE(float)
KELVIN_SEQUENCE_LOOPS_HERE(double)

}  // namespace kelvin::KELVIN_ISA
