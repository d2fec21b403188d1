// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/sequence_loops.h"

namespace kelvin {

#define KELVIN_SEQUENCE_LOOPS_BEST(Real)                                                              \
  void rnn_forward(const CellStep<Real>& s) { KELVIN_RETURN_BEST(rnn_forward(s)); }                   \
  void rnn_backward(const CellStep<Real>& s) { KELVIN_RETURN_BEST(rnn_backward(s)); }                 \
  void gru_forward(const CellStep<Real>& s) { KELVIN_RETURN_BEST(gru_forward(s)); }                   \
  void gru_backward(const CellStep<Real>& s) { KELVIN_RETURN_BEST(gru_backward(s)); }                 \
  void lstm_forward(const CellStep<Real>& s) { KELVIN_RETURN_BEST(lstm_forward(s)); }                 \
  void lstm_backward(const CellStep<Real>& s) { KELVIN_RETURN_BEST(lstm_backward(s)); }               \
  void softmax_rows(const Shares<Real>& s) { KELVIN_RETURN_BEST(softmax_rows(s)); }                   \
  void softmax_slopes(const Shares<Real>& s) { KELVIN_RETURN_BEST(softmax_slopes(s)); }               \
  void normalise(const NormalisedRows<Real>& r) { KELVIN_RETURN_BEST(normalise(r)); }                 \
  void normalised_slopes(const NormalisedRows<Real>& r) { KELVIN_RETURN_BEST(normalised_slopes(r)); } \
  void sum_over_rows(const RowSums<Real>& r) { KELVIN_RETURN_BEST(sum_over_rows(r)); }

KELVIN_SEQUENCE_LOOPS_BEST(float)
KELVIN_SEQUENCE_LOOPS_BEST(double)

}  // namespace kelvin
