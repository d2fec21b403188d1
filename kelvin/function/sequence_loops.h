// SPDX-License-Identifier: Apache-2.0
// Loops of layers of sequences that gain from vectors, one version for each instruction set.
#pragma once
#include <cstddef>

#include "kelvin/core/isa.h"

namespace kelvin {

// All rows of a recurrent layer at one step, one after another. A cell has some gates for each unit: all units of the
// first gate of a row, then those of its next.
template <class Real>
struct CellStep {
  std::size_t rows = 0, units = 0;
  Real* gates = nullptr;  // W x + b of this step, to which cells that add them find W h + b added; becomes the gates
  Real* recurrent = nullptr;       // W h + b by itself, of other cells
  const Real* h_before = nullptr;  // h of the step before
  const Real* c_before = nullptr;  // the state of the step before, of cells that have one
  Real* h = nullptr;               // of this step, as c
  Real* c = nullptr;
  Real* c_value = nullptr;    // tanh(c)
  const Real* dh = nullptr;   // backward: dL/dh of this step
  Real* dh_before = nullptr;  // added to, besides what comes by W h
  Real* dc = nullptr;         // dL/dc of this step becomes that of the step before
};

// Rows of `width` numbers, of which row i sees all or, if causal, the first i + 1.
template <class Real>
struct Shares {
  std::size_t rows, width;
  bool causal;
  Real* p;             // becomes exp(p) / sum exp(p) of each row, 0 where it does not see
  Real* dp = nullptr;  // backward: dL/dp, becomes that by what p was made of
};

// Rows of `width` numbers that are normalised each by itself: z = (x - mean) / sqrt(variance + floor), y = gain z +
// bias.
template <class Real>
struct NormalisedRows {
  std::size_t rows, width;
  Real* z;
  Real* inverse;  // 1 / sqrt(variance + floor) of each row
  const Real* gain;
  const Real *x = nullptr, *bias = nullptr;  // forward
  Real* y = nullptr;
  Real floor = 0;
  const Real* dy = nullptr;  // backward
  Real* dx = nullptr;
};

// The sums over rows, which lie `width` numbers apart, of their first `columns` numbers, or of products of such.
template <class Real>
struct RowSums {
  std::size_t rows, width, columns;
  const Real* x;
  const Real* times;  // or null
  Real* sums;
};

#define KELVIN_SEQUENCE_LOOPS(Real)                    \
  void rnn_forward(const CellStep<Real>&);             \
  void rnn_backward(const CellStep<Real>&);            \
  void gru_forward(const CellStep<Real>&);             \
  void gru_backward(const CellStep<Real>&);            \
  void lstm_forward(const CellStep<Real>&);            \
  void lstm_backward(const CellStep<Real>&);           \
  void softmax_rows(const Shares<Real>&);              \
  void softmax_slopes(const Shares<Real>&);            \
  void normalise(const NormalisedRows<Real>&);         \
  void normalised_slopes(const NormalisedRows<Real>&); \
  void sum_over_rows(const RowSums<Real>&)

KELVIN_FOR_EACH_ISA(KELVIN_SEQUENCE_LOOPS(float))
KELVIN_FOR_EACH_ISA(KELVIN_SEQUENCE_LOOPS(double))
KELVIN_SEQUENCE_LOOPS(float);
KELVIN_SEQUENCE_LOOPS(double);

}  // namespace kelvin
