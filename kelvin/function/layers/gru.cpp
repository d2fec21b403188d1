// SPDX-License-Identifier: Apache-2.0
// Gated recurrent units, with a = W_ih x + b_ih and u = W_hh h + b_hh of each gate:
//   r = sigmoid(a + u), z = sigmoid(a + u), n = tanh(a + r u), h' = (1 - z) n + z h
#include <cmath>

#include "kelvin/function/layers/recurrent.h"

namespace kelvin {
namespace {

struct GruCell {
  static constexpr std::size_t gates = 3;
  static constexpr bool separate = true, has_state = false;

  template <class Real>
  static void forward(const CellStep<Real>& s) {
    const std::size_t n = s.units;
    Real* a = s.gates;
    const Real* u = s.recurrent;
    for (std::size_t k = 0; k < 2 * n; ++k) a[k] = 1 / (1 + std::exp(-(a[k] + u[k])));
    for (std::size_t k = 0; k < n; ++k) {
      a[2 * n + k] = std::tanh(a[2 * n + k] + a[k] * u[2 * n + k]);
      s.h[k] = (1 - a[n + k]) * a[2 * n + k] + a[n + k] * s.h_before[k];
    }
  }
  template <class Real>
  static void backward(const CellStep<Real>& s) {
    const std::size_t n = s.units;
    Real *a = s.gates, *u = s.recurrent;
    for (std::size_t k = 0; k < n; ++k) {
      const Real r = a[k], z = a[n + k], c = a[2 * n + k], dh = s.dh[k];
      const Real dc = dh * (1 - z) * (1 - c * c), dr = dc * u[2 * n + k] * r * (1 - r);
      const Real dz = dh * (s.h_before[k] - c) * z * (1 - z);
      s.dh_before[k] += dh * z;
      a[k] = u[k] = dr;
      a[n + k] = u[n + k] = dz;
      a[2 * n + k] = dc;
      u[2 * n + k] = dc * r;
    }
  }
};

template <class Real>
using GruLayer = Recurrent<GruCell, Real>;

}  // namespace

KELVIN_LAYER_ROW(gru, GruLayer, recurrent_parameters, true, recurrent_plan<GruCell::gates>,
                 "gated recurrent units on a sequence", {{5, 3}, "['gru 4', 'gru 3 layers 2 output last', 'dense 2']"})

}  // namespace kelvin
