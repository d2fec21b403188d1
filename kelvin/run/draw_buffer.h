// SPDX-License-Identifier: Apache-2.0
// Draws of a rank, kept until the end of a round, when they are sent to the first rank.
#pragma once
#include "kelvin/core/pack.h"
#include "kelvin/ensemble/comm.h"
#include "kelvin/run/rounds.h"

namespace kelvin {

// A sink; several walkers may give draws at the same time.
template <class Real>
class DrawBuffer {
 public:
  DrawBuffer(std::size_t first_walker, std::size_t walkers) : first_(first_walker), packed_(walkers) {}
  void add(const Draw<Real>&);
  // Every rank calls it; the first one gives all draws to the sink, walker by walker.
  void deliver(Comm&, const Sink<Real>&);

 private:
  std::size_t first_;
  std::vector<Packer> packed_;  // of each walker
};

}  // namespace kelvin
