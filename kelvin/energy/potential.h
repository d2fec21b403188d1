// SPDX-License-Identifier: Apache-2.0
// What a user writes: an energy U of named arrays of parameters, and its gradient.
#pragma once
#include <memory>

#include "kelvin/core/noise.h"
#include "kelvin/data/dataset.h"
#include "kelvin/function/weights.h"

namespace kelvin {

// What an evaluation is told besides the parameters.
struct Evaluation {
  Batch rows = {};                    // of the data; empty means every row
  int piece = 0;                      // which piece of U: 0 for all of it
  std::span<const char> wanted = {};  // of which blocks the gradient is; empty: of all. What is not need not be written
  Stream stream{};                    // for what U draws at random: the same numbers for the same evaluation
};

template <class Real>
struct Potential {
  virtual ~Potential() = default;
  virtual const std::vector<Block>& blocks() const = 0;  // what the parameters are called, and their shapes
  // Returns U averaged over those rows, writes its gradient. Never allocates after the first call.
  virtual double operator()(Weights<const Real> q, const Evaluation&, Weights<Real> g) = 0;
  virtual std::unique_ptr<Potential> clone() const = 0;        // for another walker: shares data, not workspace
  virtual std::size_t rows() const { return 0; }               // rows of data; 0 without data
  virtual std::size_t observations() const { return rows(); }  // that U is the mean over: rows, or steps of them
  virtual bool random() const { return false; }                // whether U depends on the evaluation's stream
  virtual int pieces() const { return 1; }                     // that U is the sum of, if they can be told apart
};

}  // namespace kelvin
