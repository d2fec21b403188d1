// SPDX-License-Identifier: Apache-2.0
// A companion is what a scheme or a setting needs besides its parts: it acts when all parts meet, before and after
// steps, and has a state of its own. The chain names none. To add one, write companions/NAME.cpp with its row
// (dynamics/letters.h) and add NAME to the list in dynamics/letters.cpp.
#pragma once
#include <cmath>

#include "kelvin/chain/chain.h"
#include "kelvin/core/pack.h"

namespace kelvin {

template <class Real>
struct Companion {
  virtual ~Companion() = default;
  virtual void start(Chain<Real>&) {}                   // the walker has been put somewhere to start
  virtual void arrive(Chain<Real>&) {}                  // in a phase, or in a state that is restored
  virtual void moved(Chain<Real>&) {}                   // others have put it elsewhere, or into other coordinates
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

// What stands between { and the letter that decides on it.
template <class Real>
class Proposal {
 public:
  static constexpr double hopeless = 1000;  // rise of H, in units of T, that counts as a divergence

  void begin(Chain<Real>& chain) {
    before_.take(chain.now());
    hamiltonian_ = chain.hamiltonian();
    chain.step_record().may_diverge = true;
    chain.workspace().irreversible = false;
  }
  // Decided with the probability min(1, exp(-change / T)); a path that blew up, or cannot be retraced, is not possible.
  double change(Chain<Real>& chain) const {
    chain.now();
    return chain.hamiltonian() - hamiltonian_;
  }
  bool possible(Chain<Real>& chain, double change) const {
    return std::isfinite(change) && !chain.workspace().irreversible;
  }
  // The decision is made. On return p is reversed, without which a string that keeps part of p between proposals (GHMC)
  // would not sample exp(-H/T).
  void end(Chain<Real>& chain, double change, bool accepted) {
    ChainState<Real>& state = chain.now();
    StepRecord& step = chain.step_record();
    const double T = chain.temperature();
    step.diverging |= !(change < hopeless * T);
    step.acceptance += std::isfinite(change) ? std::min(1.0, std::exp(-change / T)) : 0;
    step.may_diverge = false;
    ++step.proposals;
    ++proposals_;
    accepted_ += accepted;
    if (accepted) return;
    before_.give_back_position(state);
    for (std::size_t i = 0; i < state.p.size(); ++i) state.p[i] = -before_.p[i];
    chain.read_energy();
  }
  std::uint64_t count() const { return proposals_; }
  void read(Reading& reading) const {
    if (proposals_) reading.acceptance = double(accepted_) / double(proposals_);
  }
  void fields(Archive& field) {
    field("proposals", proposals_);
    field("accepted", accepted_);
  }

 private:
  PhasePoint<Real> before_;
  double hamiltonian_ = 0;
  std::uint64_t proposals_ = 0, accepted_ = 0;
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
