// SPDX-License-Identifier: Apache-2.0
// What a string or a setting needs besides its parts: acts when all parts meet, before and after steps, with memory of
// its own. The chain knows none by name. To add one, write companions/NAME.cpp with its row (dynamics/letters.h) and
// add NAME to the list in dynamics/letters.cpp.
#pragma once
#include "kelvin/chain/chain.h"
#include "kelvin/core/pack.h"

namespace kelvin {

template <class Real>
struct Companion {
  virtual ~Companion() = default;
  virtual void start(Chain<Real>&) {}                   // the walker has been put somewhere to start
  virtual void arrive(Chain<Real>&) {}                  // in a phase, or in a state that is restored
  virtual void schedule(Chain<Real>&, StepFactors&) {}  // what a step's constants are multiplied by
  virtual void before(Chain<Real>&) {}                  // its constants are set, nothing has moved
  virtual void evaluated(Chain<Real>&) {}               // the gradient has been taken
  virtual void meet(Chain<Real>&, const Meeting&) {}    // with the gradient for those who read it
  virtual void after(Chain<Real>&) {}                   // the step is done
  virtual void read(Chain<Real>&, Reading&) const {}    // its own statistics
  virtual void fields(Archive&) {}                      // its part of a checkpoint, by name
};

// A point of phase space to return to.
template <class Real>
struct PhasePoint {
  LargeArray<Real> q, p, g;
  double energy = 0;
  void take(const ChainState<Real>& state) {
    q = state.q;
    p = state.p;
    g = state.g;
    energy = state.energy;
  }
  void give_back_position(ChainState<Real>& state) const {
    state.q = q;
    state.g = g;
    state.energy = energy;
  }
};

// B A B of every part, with its own step, forwards (1) or backwards (-1) in time.
template <class Real>
void leapfrog(Chain<Real>&, int direction);

// Made for either precision from a class template, where `needed` is true of the chain's program.
#define KELVIN_COMPANION_ROW(NAME, Type, letters)                                                   \
  extern const CompanionRow NAME##_row;                                                             \
  const CompanionRow NAME##_row = {#NAME, letters,                                                  \
                                   [](Chain<float>& chain) -> std::unique_ptr<Companion<float>> {   \
                                     if (!Type<float>::needed(chain)) return nullptr;               \
                                     return std::make_unique<Type<float>>(chain);                   \
                                   },                                                               \
                                   [](Chain<double>& chain) -> std::unique_ptr<Companion<double>> { \
                                     if (!Type<double>::needed(chain)) return nullptr;              \
                                     return std::make_unique<Type<double>>(chain);                  \
                                   }};

}  // namespace kelvin
