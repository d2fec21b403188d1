// SPDX-License-Identifier: Apache-2.0
// The only thing the dynamics knows about networks and data: an energy U(q) and its gradient.
#pragma once
#include <memory>

#include "kelvin/core/noise.h"
#include "kelvin/data/dataset.h"
#include "kelvin/function/block.h"

namespace kelvin {

// What an evaluation is told besides q and its rows.
struct Evaluation {
  Stream stream;  // of its own, for energies that draw something: masks
  int piece = 0;  // which piece of U: 0 for all of it
};

// Of a U whose law is not the one that is asked for: the energy that is, and its gradient over the one that was
// written.
struct AskedFor {
  double energy = 0, slope = 1;
};

template <class Real>
class Tempered;

template <class Real>
struct Potential {
  virtual ~Potential() = default;
  virtual std::vector<Block> blocks() const = 0;  // what the parameters are called, their shapes and where they are now
  virtual void arrange(
      std::span<const Block>) = 0;  // the same blocks with new offsets; called once, before any evaluation
  // Which of the blocks, in the order they were arranged, the gradient is wanted of from now on; all until told. What
  // is not wanted need not be written.
  virtual void want(std::span<const char>) {}
  virtual void prepare(const Evaluation&) {}  // called before an evaluation, if it is no plain one of all of U
  virtual int pieces() const { return 1; }
  virtual bool noisy() const { return false; }  // whether U depends on the evaluation besides q and the rows
  // Returns U averaged over those rows, writes its gradient into g. Same size as q; never allocates after the first
  // call.
  virtual double operator()(std::span<const Real> q, Batch rows, std::span<Real> g) = 0;
  // Numbers that last from evaluation to evaluation, to be kept with a state; with none, U is a function of q and rows.
  virtual std::span<Real> memory() { return {}; }
  // For a U whose law is not the one that is asked for: whether draws carry weights, and the logarithm of that of a
  // draw at q (where U was evaluated last), up to a constant; -infinity for one that does not count.
  virtual bool weighs() const { return false; }
  virtual double log_weight(std::span<const Real>) const { return 0; }
  virtual AskedFor asked_for(double energy, std::span<const Real>) const { return {energy}; }  // where U was `energy`
  virtual Tempered<Real>* tempered() { return nullptr; }  // the one that turns it down, if there is one
  virtual std::size_t rows() const { return 0; }          // rows of data; 0 without data
  virtual std::unique_ptr<Potential> clone() const = 0;   // for another walker: shares data, not workspace
};

}  // namespace kelvin
