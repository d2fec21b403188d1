// SPDX-License-Identifier: Apache-2.0
// What a rank sends to the first one: draws, kept until the end of a round, and the states of its walkers.
#pragma once
#include "kelvin/ensemble/comm.h"
#include "kelvin/run/run.h"
#include "kelvin/core/pack.h"

namespace kelvin {

// A sink that keeps draws; several walkers may give them at the same time.
template <class Real>
class Parcel {
 public:
  Parcel(std::size_t first_walker, std::size_t walkers) : first_(first_walker), packed_(walkers) {}
  void add(const Draw<Real>&);
  // Every rank calls it; the first one gives all draws to the sink, walker by walker.
  void deliver(Comm&, const Sink<Real>&);

 private:
  std::size_t first_;
  std::vector<Packer> packed_;  // of each walker
};

// The states of all walkers, at the first rank.
template <class Real>
std::vector<ChainState<Real>> gathered_states(Comm&, std::span<Chain<Real>> mine);

}  // namespace kelvin
