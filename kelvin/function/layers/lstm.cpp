// SPDX-License-Identifier: Apache-2.0
// Long short-term memory, each gate with a = W_ih x + b_ih + W_hh h + b_hh of its own:
//   i, f, o = sigmoid(a), g = tanh(a), c' = f c + i g, h' = o tanh(c')
#include "kelvin/function/layers/recurrent.h"

namespace kelvin {
namespace {

struct LstmCell {
  static constexpr std::size_t gates = 4;
  static constexpr bool separate = false, has_state = true;

  template <class Real>
  static void forward(const CellStep<Real>& s) {
    lstm_forward(s);
  }
  template <class Real>
  static void backward(const CellStep<Real>& s) {
    lstm_backward(s);
  }
};

template <class Real>
using LstmLayer = Recurrent<LstmCell, Real>;

}  // namespace

KELVIN_LAYER_ROW(lstm, LstmLayer, recurrent_parameters, true, recurrent_plan<LstmCell::gates>,
                 "long short-term memory on a sequence", {{5, 3}, "['lstm 4 2', 'lstm 3 output last', 'dense 2']"})

}  // namespace kelvin
