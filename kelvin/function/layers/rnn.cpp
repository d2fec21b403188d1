// SPDX-License-Identifier: Apache-2.0
// h' = tanh(W_ih x + b_ih + W_hh h + b_hh)
#include "kelvin/function/layers/recurrent.h"

namespace kelvin {
namespace {

struct RnnCell {
  static constexpr std::size_t gates = 1;
  static constexpr bool separate = false, has_state = false;

  template <class Real>
  static void forward(const CellStep<Real>& s) {
    rnn_forward(s);
  }
  template <class Real>
  static void backward(const CellStep<Real>& s) {
    rnn_backward(s);
  }
};

template <class Real>
using RnnLayer = Recurrent<RnnCell, Real>;

}  // namespace

KELVIN_LAYER_ROW(rnn, RnnLayer, recurrent_parameters, true, recurrent_plan<RnnCell::gates>,
                 "recurrent: h' = tanh(W x + U h + b) from step to step of a sequence",
                 {{5, 3}, "['rnn 4 2', 'rnn 3 output last', 'dense 2']"})

}  // namespace kelvin
