// SPDX-License-Identifier: Apache-2.0
// Gated recurrent units, with a = W_ih x + b_ih and u = W_hh h + b_hh of each gate:
//   r = sigmoid(a + u), z = sigmoid(a + u), n = tanh(a + r u), h' = (1 - z) n + z h
#include "kelvin/function/layers/recurrent.h"

namespace kelvin {
namespace {

struct GruCell {
  static constexpr std::size_t gates = 3;
  static constexpr bool separate = true, has_state = false;

  template <class Real>
  static void forward(const CellStep<Real>& s) {
    gru_forward(s);
  }
  template <class Real>
  static void backward(const CellStep<Real>& s) {
    gru_backward(s);
  }
};

template <class Real>
using GruLayer = Recurrent<GruCell, Real>;

}  // namespace

KELVIN_LAYER_ROW(gru, GruLayer, recurrent_parameters, true, recurrent_plan<GruCell::gates>,
                 "gated recurrent units on a sequence", {{5, 3}, "['gru 4', 'gru 3 layers 2 output last', 'dense 2']"})

}  // namespace kelvin
