// SPDX-License-Identifier: Apache-2.0
// The distribution that is sampled where it is not exp(-U/T) itself. A law changes U, and gives each draw its
// importance weight for the requested distribution.
#pragma once
#include <memory>
#include <span>

#include "kelvin/function/block.h"

namespace kelvin {

// The energy that is asked for, and its gradient over the one that was written.
struct AskedFor {
  double energy = 0, slope = 1;
};

template <class Real>
class Tempered;

template <class Real>
struct Law {
  virtual ~Law() = default;
  virtual double operator()(double U, std::span<const Real> q, std::span<Real> g) = 0;  // returns W, changes g to match
  // Of a draw at q, where U was evaluated last, up to a constant; -infinity for one that does not count.
  virtual double log_weight(std::span<const Real> q) const = 0;
  virtual AskedFor asked_for(double energy, std::span<const Real> q) const = 0;  // where W was `energy`
  virtual bool of_likelihood() const { return false; }                           // it changes the data's energy only
  virtual bool splits() const { return true; }                                   // pieces of U can be told apart
  virtual const Block* own_block() const { return nullptr; }                     // its variable, the last one of q
  virtual void place(std::size_t) {}                                             // where that lies
  virtual std::span<Real> memory() { return {}; }                                // numbers to be kept with a state
  virtual std::span<double> learnt() { return {}; }  // what it has found by itself, likewise
  virtual Tempered<Real>* tempered() { return nullptr; }
  virtual std::unique_ptr<Law> clone() const = 0;
};

}  // namespace kelvin
