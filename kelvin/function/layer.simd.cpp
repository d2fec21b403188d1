// SPDX-License-Identifier: Apache-2.0
// Vectors lie along the wide side; the narrow side (a template argument, so that its loop unrolls into registers) and
// the rows run inside.
#include "kelvin/function/layer.h"

#include "kelvin/core/vector_math.h"

namespace kelvin::KELVIN_ISA {
namespace {

// Calls loops.template operator()<size>() for the narrow side, from 1 to `most`.
template <std::size_t most, std::size_t n = 1, class Loops>
KELVIN_INLINE void with_width(std::size_t size, Loops&& loops) {
  if constexpr (n < most)
    if (size != n) return with_width<most, n + 1>(size, loops);
  loops.template operator()<int(n)>();
}

// Numbers of the vector at `first` that lie within `count`.
template <class Real>
KELVIN_INLINE std::size_t within(std::size_t first, std::size_t count) {
  return count - first < std::size_t(lanes<Real>) ? count - first : std::size_t(lanes<Real>);
}

template <class Real>
KELVIN_INLINE void few_in_forward_(const LayerRows<Real>& l, const Real* weight, const Real* bias, bool relu) {
  const std::size_t wide = padded(l.out);
  with_width<narrow>(l.in, [&]<int in>() {
    for (std::size_t u = 0; u < l.out; ++u) {
      for (int i = 0; i < in; ++i) l.packed[std::size_t(i) * wide + u] = weight[u * in + std::size_t(i)];
      l.packed[in * wide + u] = bias[u];
    }
    for (std::size_t u = l.out; u < wide; ++u)
      for (int i = 0; i <= in; ++i) l.packed[std::size_t(i) * wide + u] = 0;
    for (std::size_t u = 0; u < wide; u += lanes<Real>) {
      Lanes<Real> w[in];
      for (int i = 0; i < in; ++i) w[i] = load(l.packed + std::size_t(i) * wide + u);
      const Lanes<Real> b = load(l.packed + in * wide + u);
      for (std::size_t s = 0; s < l.rows; ++s) {
        Lanes<Real> y = b;
        for (int i = 0; i < in; ++i) y += w[i] * l.x[s * l.x_stride + std::size_t(i)];
        store<Real>(l.y + s * l.y_stride + u, relu ? positive(y) : y);
      }
    }
  });
}

template <class Real>
KELVIN_INLINE void few_in_slopes_(const LayerRows<Real>& l, Real share, Real keep, Real* weight_slope,
                                  Real* bias_slope) {
  with_width<narrow>(l.in, [&]<int in>() {
    for (std::size_t u = 0; u < l.out; u += lanes<Real>) {
      Lanes<Real> w[in] = {}, b = {};
      for (std::size_t s = 0; s < l.rows; ++s) {
        const Lanes<Real> y = load(l.y + s * l.y_stride + u);
        b += y;
        for (int i = 0; i < in; ++i) w[i] += y * l.x[s * l.x_stride + std::size_t(i)];
      }
      Real sums[in + 1][lanes<Real>];
      for (int i = 0; i < in; ++i) store<Real>(sums[i], share * w[i]);
      store<Real>(sums[in], share * b);
      const std::size_t count = within<Real>(u, l.out);
      for (std::size_t j = 0; j < count; ++j) {
        for (int i = 0; i < in; ++i) {
          Real& slope = weight_slope[(u + j) * in + std::size_t(i)];
          slope = (keep == 0 ? 0 : slope) + sums[i][j];
        }
        bias_slope[u + j] = (keep == 0 ? 0 : bias_slope[u + j]) + sums[in][j];
      }
    }
  });
}

template <class Real>
KELVIN_INLINE void few_in_below_(const LayerRows<Real>& l, Real* x_slope) {
  const std::size_t wide = padded(l.out);
  with_width<narrow>(l.in, [&]<int in>() {
    for (std::size_t s = 0; s < l.rows; ++s) {
      Lanes<Real> x[in] = {};
      std::size_t u = 0;
      for (; u + lanes<Real> <= l.out; u += lanes<Real>) {
        const Lanes<Real> y = load(l.y + s * l.y_stride + u);
        for (int i = 0; i < in; ++i) x[i] += y * load(l.packed + std::size_t(i) * wide + u);
      }
      Real rest[in] = {};
      for (; u < l.out; ++u)
        for (int i = 0; i < in; ++i) rest[i] += l.y[s * l.y_stride + u] * l.packed[std::size_t(i) * wide + u];
      for (int i = 0; i < in; ++i) x_slope[s * l.x_stride + std::size_t(i)] = sum(x[i]) + rest[i];
    }
  });
}

template <class Real>
KELVIN_INLINE void few_out_forward_(const LayerRows<Real>& l, const Real* weight, const Real* bias) {
  const std::size_t wide = padded(l.in);
  with_width<narrow>(l.out, [&]<int out>() {
    for (std::size_t o = 0; o < out; ++o) {
      std::memcpy(l.packed + o * wide, weight + o * l.in, l.in * sizeof(Real));
      std::memset(l.packed + o * wide + l.in, 0, (wide - l.in) * sizeof(Real));
    }
    std::size_t s = 0;
    const auto rows = [&]<int at_once>() {
      for (; s + at_once <= l.rows; s += at_once) {
        Lanes<Real> y[at_once][out] = {};
        for (std::size_t u = 0; u < l.in; u += lanes<Real>) {
          Lanes<Real> w[out];
          for (int o = 0; o < out; ++o) w[o] = load(l.packed + std::size_t(o) * wide + u);
          for (int k = 0; k < at_once; ++k) {
            const Lanes<Real> x = load(l.x + (s + std::size_t(k)) * l.x_stride + u);
            for (int o = 0; o < out; ++o) y[k][o] += w[o] * x;
          }
        }
        for (int k = 0; k < at_once; ++k)
          for (int o = 0; o < out; ++o)
            l.y[(s + std::size_t(k)) * l.y_stride + std::size_t(o)] = bias[o] + sum(y[k][o]);
      }
    };
    if constexpr (out <= 2) rows.template operator()<4>();
    rows.template operator()<1>();
  });
}

template <class Real>
KELVIN_INLINE void few_out_slopes_(const LayerRows<Real>& l, Real share, Real keep, Real* weight_slope,
                                   Real* bias_slope) {
  with_width<narrow>(l.out, [&]<int out>() {
    for (std::size_t u = 0; u < l.in; u += lanes<Real>) {
      Lanes<Real> w[out] = {};
      for (std::size_t s = 0; s < l.rows; ++s) {
        const Lanes<Real> x = load(l.x + s * l.x_stride + u);
        for (int o = 0; o < out; ++o) w[o] += x * l.y[s * l.y_stride + std::size_t(o)];
      }
      const std::size_t count = within<Real>(u, l.in);
      for (int o = 0; o < out; ++o) {
        Real sums[lanes<Real>];
        store<Real>(sums, share * w[o]);
        for (std::size_t j = 0; j < count; ++j) {
          Real& slope = weight_slope[std::size_t(o) * l.in + u + j];
          slope = (keep == 0 ? 0 : slope) + sums[j];
        }
      }
    }
    for (int o = 0; o < out; ++o) {
      Real total = 0;
      for (std::size_t s = 0; s < l.rows; ++s) total += l.y[s * l.y_stride + std::size_t(o)];
      bias_slope[o] = (keep == 0 ? 0 : bias_slope[o]) + share * total;
    }
  });
}

template <class Real>
KELVIN_INLINE void few_out_below_(const LayerRows<Real>& l, Real* x_slope, bool relu) {
  const std::size_t wide = padded(l.in);
  with_width<narrow>(l.out, [&]<int out>() {
    for (std::size_t u = 0; u < wide; u += lanes<Real>) {
      Lanes<Real> w[out];
      for (int o = 0; o < out; ++o) w[o] = load(l.packed + std::size_t(o) * wide + u);
      for (std::size_t s = 0; s < l.rows; ++s) {
        Lanes<Real> x = {};
        for (int o = 0; o < out; ++o) x += w[o] * l.y[s * l.y_stride + std::size_t(o)];
        if (relu) x = load(l.x + s * l.x_stride + u) > 0 ? x : Lanes<Real>{};
        store<Real>(x_slope + s * l.x_stride + u, x);
      }
    }
  });
}

// Packs the weights of a hidden layer: its inputs one after another, its bias, its outputs, each padded(hidden) long.
template <int in, int out, class Real>
KELVIN_INLINE void pack_hidden(const HiddenRows<Real>& l, const HiddenWeights<const Real>& w) {
  const std::size_t wide = padded(l.hidden);
  std::size_t u = 0;
  if constexpr (in == 2)
    for (; u + lanes<Real> <= l.hidden; u += lanes<Real>) {
      Lanes<Real> a, b;
      separate(load(w.in + 2 * u), load(w.in + 2 * u + lanes<Real>), a, b);
      store<Real>(l.packed + u, a);
      store<Real>(l.packed + wide + u, b);
    }
  for (; u < l.hidden; ++u)
    for (int i = 0; i < in; ++i) l.packed[std::size_t(i) * wide + u] = w.in[u * in + std::size_t(i)];
  std::memcpy(l.packed + in * wide, w.in_bias, l.hidden * sizeof(Real));
  for (int o = 0; o < out; ++o)
    std::memcpy(l.packed + std::size_t(in + 1 + o) * wide, w.out + std::size_t(o) * l.hidden, l.hidden * sizeof(Real));
  for (u = l.hidden; u < wide; ++u)
    for (int k = 0; k < in + 1 + out; ++k) l.packed[std::size_t(k) * wide + u] = 0;
}

template <bool smooth, class Real>
KELVIN_INLINE void hidden_forward_(const HiddenRows<Real>& l, const HiddenWeights<const Real>& w) {
  const std::size_t wide = padded(l.hidden);
  with_width<very_narrow>(l.in, [&]<int in>() {
    with_width<very_narrow>(l.out, [&]<int out>() {
      pack_hidden<in, out>(l, w);
      std::size_t s = 0;
      const auto rows = [&]<int at_once>() {
        for (; s + at_once <= l.rows; s += at_once) {
          Lanes<Real> x[at_once][in], y[at_once][out] = {};
          for (int k = 0; k < at_once; ++k)
            for (int i = 0; i < in; ++i) x[k][i] = all(l.x[(s + std::size_t(k)) * in + std::size_t(i)]);
          for (std::size_t u = 0; u < wide; u += lanes<Real>) {
            const Lanes<Real> b = load(l.packed + in * wide + u);
            Lanes<Real> a[in], c[out];
            for (int i = 0; i < in; ++i) a[i] = load(l.packed + std::size_t(i) * wide + u);
            for (int o = 0; o < out; ++o) c[o] = load(l.packed + std::size_t(in + 1 + o) * wide + u);
            for (int k = 0; k < at_once; ++k) {
              Lanes<Real> h = b;
              for (int i = 0; i < in; ++i) h += a[i] * x[k][i];
              if constexpr (smooth) {
                h = tanh(h);
                store<Real>(l.values + (s + std::size_t(k)) * wide + u, h);
              } else {
                h = positive(h);
              }
              for (int o = 0; o < out; ++o) y[k][o] += c[o] * h;
            }
          }
          for (int k = 0; k < at_once; ++k)
            for (int o = 0; o < out; ++o)
              l.y[(s + std::size_t(k)) * out + std::size_t(o)] = w.out_bias[o] + sum(y[k][o]);
        }
      };
      if constexpr (in * out <= 4) rows.template operator()<4>();
      rows.template operator()<1>();
    });
  });
}

// to = (0 or to) + what, for `count` numbers `apart` from each other.
template <class Real>
KELVIN_INLINE void add(Real* to, std::size_t apart, std::size_t count, Real keep, Lanes<Real> what) {
  if (apart == 1 && count == std::size_t(lanes<Real>)) return store<Real>(to, keep == 0 ? what : load(to) + what);
  Real numbers[lanes<Real>];
  store<Real>(numbers, what);
  for (std::size_t j = 0; j < count; ++j) to[j * apart] = (keep == 0 ? 0 : to[j * apart]) + numbers[j];
}

// Sums of the slopes of `out` outputs over the rows.
template <class Real, int out>
KELVIN_INLINE void add_output_bias(const HiddenRows<Real>& l, Real share, Real keep, Real* bias) {
  for (int o = 0; o < out; ++o) {
    Real total = 0;
    if constexpr (out == 1) {
      Lanes<Real> some = {};
      for (std::size_t s = 0; s < l.rows; s += lanes<Real>) some += load_some(l.y + s, within<Real>(s, l.rows));
      total = sum(some);
    } else {
      for (std::size_t s = 0; s < l.rows; ++s) total += l.y[s * out + std::size_t(o)];
    }
    bias[o] = (keep == 0 ? 0 : bias[o]) + share * total;
  }
}

// What units were given in a row, a x + b, or, of smooth ones, what they made of it.
template <bool smooth, int in, class Real>
KELVIN_INLINE Lanes<Real> units_of_row(const Lanes<Real> (&a)[in], Lanes<Real> b, const Real* x, const Real* kept) {
  if constexpr (smooth) return load(kept);
  for (int i = 0; i < in; ++i) b += a[i] * x[i];
  return b;
}
template <bool smooth, class Vector>
KELVIN_INLINE Vector times_slope(Vector d, Vector h) {
  if constexpr (smooth) return d - d * h * h;
  else return h > 0 ? d : Vector{};
}

template <bool smooth, class Real>
KELVIN_INLINE void hidden_slopes_(const HiddenRows<Real>& l, Real share, Real keep, const HiddenWeights<Real>& slope) {
  const std::size_t wide = padded(l.hidden);
  with_width<very_narrow>(l.in, [&]<int in>() {
    with_width<very_narrow>(l.out, [&]<int out>() {
      // Several vectors of units at a time, whose sums do not wait for each other.
      std::size_t u = 0;
      const auto units = [&]<int vectors>() {
        for (; u + (vectors - 1) * lanes<Real> < l.hidden; u += vectors * lanes<Real>) {
          Lanes<Real> a[vectors][in], b[vectors], c[vectors][out];
          Lanes<Real> a_slope[vectors][in] = {}, b_slope[vectors] = {}, c_slope[vectors][out] = {};
          const auto kept = [&](std::size_t s, int v) {
            return l.values + s * wide + u + std::size_t(v) * lanes<Real>;
          };
          for (int v = 0; v < vectors; ++v) {
            const Real* packed = l.packed + u + std::size_t(v) * lanes<Real>;
            for (int i = 0; i < in; ++i) a[v][i] = load(packed + std::size_t(i) * wide);
            b[v] = load(packed + in * wide);
            for (int o = 0; o < out; ++o) c[v][o] = load(packed + std::size_t(in + 1 + o) * wide);
          }
          if constexpr (out == 1) {
            // One output: d = c y where active, so c may wait until the rows are summed, and of relu h = a x + b gives
            // c_slope from the same sums.
            for (std::size_t s = 0; s < l.rows; ++s)
              for (int v = 0; v < vectors; ++v) {
                const Lanes<Real> h = units_of_row<smooth>(a[v], b[v], l.x + s * in, kept(s, v));
                const Lanes<Real> y = times_slope<smooth>(all(l.y[s]), h);
                if constexpr (smooth) c_slope[v][0] += h * l.y[s];
                b_slope[v] += y;
                for (int i = 0; i < in; ++i) a_slope[v][i] += y * l.x[s * in + std::size_t(i)];
              }
            for (int v = 0; v < vectors; ++v) {
              if constexpr (!smooth) {
                c_slope[v][0] = b[v] * b_slope[v];
                for (int i = 0; i < in; ++i) c_slope[v][0] += a[v][i] * a_slope[v][i];
              }
              b_slope[v] *= c[v][0];
              for (int i = 0; i < in; ++i) a_slope[v][i] *= c[v][0];
            }
          } else {
            for (std::size_t s = 0; s < l.rows; ++s)
              for (int v = 0; v < vectors; ++v) {
                Lanes<Real> h = units_of_row<smooth>(a[v], b[v], l.x + s * in, kept(s, v)), d = {};
                if constexpr (!smooth) h = positive(h);
                for (int o = 0; o < out; ++o) {
                  const Real y = l.y[s * out + std::size_t(o)];
                  c_slope[v][o] += h * y;
                  d += c[v][o] * y;
                }
                d = times_slope<smooth>(d, h);
                b_slope[v] += d;
                for (int i = 0; i < in; ++i) a_slope[v][i] += d * l.x[s * in + std::size_t(i)];
              }
          }
          for (int v = 0; v < vectors; ++v) {
            const std::size_t first = u + std::size_t(v) * lanes<Real>, count = within<Real>(first, l.hidden);
            if (in == 2 && count == std::size_t(lanes<Real>)) {
              Lanes<Real> low, high;
              interleave(a_slope[v][0], a_slope[v][in - 1], low, high);
              add(slope.in + 2 * first, 1, count, keep, share * low);
              add(slope.in + 2 * first + lanes<Real>, 1, count, keep, share * high);
            } else {
              for (int i = 0; i < in; ++i)
                add(slope.in + first * in + std::size_t(i), in, count, keep, share * a_slope[v][i]);
            }
            add(slope.in_bias + first, 1, count, keep, share * b_slope[v]);
            for (int o = 0; o < out; ++o)
              add(slope.out + std::size_t(o) * l.hidden + first, 1, count, keep, share * c_slope[v][o]);
          }
        }
      };
      if constexpr (in + out <= 4) units.template operator()<2>();
      units.template operator()<1>();
      add_output_bias<Real, out>(l, share, keep, slope.out_bias);
    });
  });
}

template <class Real>
KELVIN_INLINE void column_sums_(const LayerRows<Real>& l, Real share, Real keep, Real* bias_slope) {
  for (std::size_t u = 0; u < l.out; u += lanes<Real>) {
    const std::size_t count = within<Real>(u, l.out);
    Lanes<Real> total = {};
    if (count == std::size_t(lanes<Real>)) {
      for (std::size_t s = 0; s < l.rows; ++s) total += load(l.y + s * l.y_stride + u);
    } else {
      for (std::size_t s = 0; s < l.rows; ++s)
        for (std::size_t j = 0; j < count; ++j) total[j] += l.y[s * l.y_stride + u + j];
    }
    for (std::size_t j = 0; j < count; ++j) bias_slope[u + j] = (keep == 0 ? 0 : bias_slope[u + j]) + share * total[j];
  }
}

}  // namespace

#define KELVIN_LAYER_DEFINITIONS(Real)                                                                        \
  void few_in_forward(const LayerRows<Real>& l, const Real* w, const Real* b, bool relu) {                    \
    relu ? few_in_forward_(l, w, b, true) : few_in_forward_(l, w, b, false);                                  \
  }                                                                                                           \
  void few_in_slopes(const LayerRows<Real>& l, Real share, Real keep, Real* w, Real* b) {                     \
    few_in_slopes_(l, share, keep, w, b);                                                                     \
  }                                                                                                           \
  void few_in_below(const LayerRows<Real>& l, Real* x) { few_in_below_(l, x); }                               \
  void few_out_forward(const LayerRows<Real>& l, const Real* w, const Real* b) { few_out_forward_(l, w, b); } \
  void few_out_slopes(const LayerRows<Real>& l, Real share, Real keep, Real* w, Real* b) {                    \
    few_out_slopes_(l, share, keep, w, b);                                                                    \
  }                                                                                                           \
  void few_out_below(const LayerRows<Real>& l, Real* x, bool relu) {                                          \
    relu ? few_out_below_(l, x, true) : few_out_below_(l, x, false);                                          \
  }                                                                                                           \
  void hidden_forward(const HiddenRows<Real>& l, const HiddenWeights<const Real>& w) {                        \
    l.values ? hidden_forward_<true>(l, w) : hidden_forward_<false>(l, w);                                    \
  }                                                                                                           \
  void hidden_slopes(const HiddenRows<Real>& l, Real share, Real keep, const HiddenWeights<Real>& w) {        \
    l.values ? hidden_slopes_<true>(l, share, keep, w) : hidden_slopes_<false>(l, share, keep, w);            \
  }                                                                                                           \
  void column_sums(const LayerRows<Real>& l, Real share, Real keep, Real* b) { column_sums_(l, share, keep, b); }

KELVIN_LAYER_DEFINITIONS(float)
KELVIN_LAYER_DEFINITIONS(double)

}  // namespace kelvin::KELVIN_ISA
