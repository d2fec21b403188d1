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

template <class Real>
KELVIN_INLINE void for_each_vector(std::size_t n, auto&& act) {
  std::size_t k = 0;
  for (; k + lanes<Real> <= n; k += lanes<Real>) act(Some<Real>{k, std::size_t(lanes<Real>)});
  if (k < n) act(Some<Real>{k, n - k});
}

// h' = tanh(a)
template <class Real>
KELVIN_INLINE void forward_rnn(const CellStep<Real>& s) {
  for_each_vector<Real>(s.units, [&](auto at) {
    const auto h = tanh(at.of(s.gates));
    at.put(s.gates, h);
    at.put(s.h, h);
  });
}
template <class Real>
KELVIN_INLINE void backward_rnn(const CellStep<Real>& s) {
  for_each_vector<Real>(s.units, [&](auto at) {
    const auto h = at.of(s.gates);
    at.put(s.gates, at.of(s.dh) * (1 - h * h));
  });
}

// r = sigmoid(a + u), z = sigmoid(a + u), n = tanh(a + r u), h' = (1 - z) n + z h
template <class Real>
KELVIN_INLINE void forward_gru(const CellStep<Real>& s) {
  Real *ar = s.gates, *az = ar + s.units, *an = az + s.units;
  const Real *ur = s.recurrent, *uz = ur + s.units, *un = uz + s.units;
  for_each_vector<Real>(s.units, [&](auto at) {
    const auto r = sigmoid(at.of(ar) + at.of(ur)), z = sigmoid(at.of(az) + at.of(uz));
    const auto n = tanh(at.of(an) + r * at.of(un));
    at.put(ar, r);
    at.put(az, z);
    at.put(an, n);
    at.put(s.h, (1 - z) * n + z * at.of(s.h_before));
  });
}
template <class Real>
KELVIN_INLINE void backward_gru(const CellStep<Real>& s) {
  Real *ar = s.gates, *az = ar + s.units, *an = az + s.units;
  Real *ur = s.recurrent, *uz = ur + s.units, *un = uz + s.units;
  for_each_vector<Real>(s.units, [&](auto at) {
    const auto r = at.of(ar), z = at.of(az), n = at.of(an), dh = at.of(s.dh);
    const auto dn = dh * (1 - z) * (1 - n * n), dr = dn * at.of(un) * r * (1 - r);
    const auto dz = dh * (at.of(s.h_before) - n) * z * (1 - z);
    at.put(s.dh_before, at.of(s.dh_before) + dh * z);
    at.put(ar, dr);
    at.put(ur, dr);
    at.put(az, dz);
    at.put(uz, dz);
    at.put(an, dn);
    at.put(un, dn * r);
  });
}

// i, f, o = sigmoid(a), g = tanh(a), c' = f c + i g, h' = o tanh(c')
template <class Real>
KELVIN_INLINE void forward_lstm(const CellStep<Real>& s) {
  Real *ai = s.gates, *af = ai + s.units, *ag = af + s.units, *ao = ag + s.units;
  for_each_vector<Real>(s.units, [&](auto at) {
    const auto i = sigmoid(at.of(ai)), f = sigmoid(at.of(af)), g = tanh(at.of(ag)), o = sigmoid(at.of(ao));
    const auto c = f * at.of(s.c_before) + i * g;
    at.put(ai, i);
    at.put(af, f);
    at.put(ag, g);
    at.put(ao, o);
    at.put(s.c, c);
    at.put(s.h, o * tanh(c));
  });
}
template <class Real>
KELVIN_INLINE void backward_lstm(const CellStep<Real>& s) {
  Real *ai = s.gates, *af = ai + s.units, *ag = af + s.units, *ao = ag + s.units;
  for_each_vector<Real>(s.units, [&](auto at) {
    const auto i = at.of(ai), f = at.of(af), g = at.of(ag), o = at.of(ao), dh = at.of(s.dh), t = tanh(at.of(s.c));
    const auto dc = at.of(s.dc) + dh * o * (1 - t * t);
    at.put(s.dc, dc * f);
    at.put(ai, dc * g * i * (1 - i));
    at.put(af, dc * at.of(s.c_before) * f * (1 - f));
    at.put(ag, dc * i * (1 - g * g));
    at.put(ao, dh * t * o * (1 - o));
  });
}

template <class Real>
KELVIN_INLINE Real largest(const Real* p, std::size_t n) {
  Lanes<Real> tops = all(p[0]);
  std::size_t k = 0;
  for (; k + lanes<Real> <= n; k += lanes<Real>) tops = load(p + k) > tops ? load(p + k) : tops;
  Real top = tops[0];
  for (int lane = 1; lane < lanes<Real>; ++lane) top = tops[lane] > top ? tops[lane] : top;
  for (; k < n; ++k) top = p[k] > top ? p[k] : top;
  return top;
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

}  // namespace

#define KELVIN_SEQUENCE_LOOPS_HERE(Real)                            \
  void rnn_forward(const CellStep<Real>& s) { forward_rnn(s); }     \
  void rnn_backward(const CellStep<Real>& s) { backward_rnn(s); }   \
  void gru_forward(const CellStep<Real>& s) { forward_gru(s); }     \
  void gru_backward(const CellStep<Real>& s) { backward_gru(s); }   \
  void lstm_forward(const CellStep<Real>& s) { forward_lstm(s); }   \
  void lstm_backward(const CellStep<Real>& s) { backward_lstm(s); } \
  void softmax_rows(const Shares<Real>& s) { softmax(s); }          \
  void softmax_slopes(const Shares<Real>& s) { through_softmax(s); }

KELVIN_SEQUENCE_LOOPS_HERE(float)
KELVIN_SEQUENCE_LOOPS_HERE(double)

}  // namespace kelvin::KELVIN_ISA
