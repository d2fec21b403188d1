// SPDX-License-Identifier: Apache-2.0
// Where a walker without a Metropolis test returns to when its energy jumps: a step that was too long there grows
// within a few steps beyond anything that the temperature explains.
#pragma once
#include <algorithm>
#include <cmath>

#include "kelvin/chain/companion.h"

namespace kelvin {

template <class Real>
class Refuge {
 public:
  // From here on; the energy of the walker is known.
  void begin(Chain<Real>& chain) {
    newer_.take(chain);
    older_ = newer_;
    next_ = chain.steps() + apart;
    changes_.clear();
    last_ = chain.last_energy();
  }

  // U above the H of a place some steps ago by more than 25 T, four times the mean of all heat there is, and what
  // minibatches change: no bath brings so much.
  bool lost(Chain<Real>& chain) {
    const double U = chain.last_energy();
    if (!std::isfinite(U)) return true;
    double heat = 0, T = 0;
    for (const Mover<Real>& mover : chain.movers()) {
      T = std::max(T, mover.part.T);
      heat += mover.part.T * double(mover.recipe().freedom());
    }
    const double most = older_.hamiltonian + 25 * T + 2 * heat + noise(chain);
    if (U > most) return true;
    changes_.push_back(std::abs(U - last_));
    if (changes_.size() > remembered) changes_.erase(changes_.begin());
    last_ = U;
    return false;
  }

  // What is returned to is at least `apart` steps old: a newer place may be on the way out already.
  void watch(Chain<Real>& chain) {
    if (chain.steps() < next_) return;
    next_ = chain.steps() + apart;
    older_ = std::move(newer_);
    newer_.take(chain);
  }

  // With momenta no hotter than they should be.
  void go_back(Chain<Real>& chain) {
    ChainState<Real>& state = chain.now();
    chain.place(older_.q, older_.p);
    std::ranges::copy(older_.xi, state.xi.begin());
    std::ranges::copy(older_.memory, state.memory.begin());
    for (Mover<Real>& mover : chain.movers()) {
      const double warm = double(mover.recipe().freedom()) * mover.part.T, now = mover.momentum_square();
      if (now > warm)
        for (Real& p : mover.part.p) p *= Real(std::sqrt(warm / now));
    }
    newer_ = older_;
    next_ = chain.steps() + apart;
  }

  void fields(Archive& field) {
    field("next", next_);
    field("changes", changes_);
    field("last", last_);
    newer_.fields(field, "newer.");
    older_.fields(field, "older.");
  }

 private:
  static constexpr std::uint64_t apart = 16;
  static constexpr std::size_t remembered = 31;

  struct Place {
    LargeArray<Real> q, p;
    std::vector<double> xi;
    std::vector<Real> memory;
    double hamiltonian = 0;
    void take(Chain<Real>& chain) {
      const ChainState<Real>& state = chain.now();
      q = state.q;
      p = state.p;
      xi = state.xi;
      memory = state.memory;
      hamiltonian = chain.hamiltonian();
    }
    void fields(Archive& field, const std::string& name) {
      field(name + "q", q);
      field(name + "p", p);
      field(name + "xi", xi);
      field(name + "memory", memory);
      field(name + "hamiltonian", hamiltonian);
    }
  };

  // Twenty times the median change of U from step to step, where rows or masks change from step to step.
  double noise(Chain<Real>& chain) const {
    if (chain.batches().full() && !chain.energy().noisy()) return 0;
    constexpr double many = 20;
    constexpr std::size_t fewest = 8;
    if (changes_.size() < fewest) return many * std::abs(older_.hamiltonian);
    std::vector<double> sorted = changes_;
    const auto middle = sorted.begin() + long(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return many * *middle;
  }

  Place newer_, older_;
  std::uint64_t next_ = 0;
  std::vector<double> changes_;  // the latest |U - U before|
  double last_ = 0;
};

}  // namespace kelvin
