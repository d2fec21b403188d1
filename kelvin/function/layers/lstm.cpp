// SPDX-License-Identifier: Apache-2.0
// Long short-term memory, each gate with a = W_ih x + b_ih + W_hh h + b_hh of its own:
//   i, f, o = sigmoid(a), g = tanh(a), c' = f c + i g, h' = o tanh(c')
#include <cmath>

#include "kelvin/function/layers/recurrent.h"

namespace kelvin {
namespace {

struct LstmCell {
  static constexpr std::size_t gates = 4;
  static constexpr bool separate = false, has_state = true;

  template <class Real>
  static void forward(const CellStep<Real>& s) {
    const std::size_t n = s.units;
    Real *i = s.gates, *f = i + n, *g = f + n, *o = g + n;
    for (std::size_t k = 0; k < n; ++k) {
      i[k] = 1 / (1 + std::exp(-i[k]));
      f[k] = 1 / (1 + std::exp(-f[k]));
      g[k] = std::tanh(g[k]);
      o[k] = 1 / (1 + std::exp(-o[k]));
      s.c[k] = f[k] * s.c_before[k] + i[k] * g[k];
      s.h[k] = o[k] * std::tanh(s.c[k]);
    }
  }
  template <class Real>
  static void backward(const CellStep<Real>& s) {
    const std::size_t n = s.units;
    Real *i = s.gates, *f = i + n, *g = f + n, *o = g + n;
    for (std::size_t k = 0; k < n; ++k) {
      const Real t = std::tanh(s.c[k]), dc = s.dc[k] + s.dh[k] * o[k] * (1 - t * t);
      s.dc[k] = dc * f[k];
      const Real di = dc * g[k] * i[k] * (1 - i[k]);
      g[k] = dc * i[k] * (1 - g[k] * g[k]);
      i[k] = di;
      f[k] = dc * s.c_before[k] * f[k] * (1 - f[k]);
      o[k] = s.dh[k] * t * o[k] * (1 - o[k]);
    }
  }
};

template <class Real>
using LstmLayer = Recurrent<LstmCell, Real>;

}  // namespace

KELVIN_LAYER_ROW(lstm, LstmLayer, recurrent_parameters, true, recurrent_plan<LstmCell::gates>,
                 "long short-term memory on a sequence", {{5, 3}, "['lstm 4 2', 'lstm 3 output last', 'dense 2']"})

}  // namespace kelvin
