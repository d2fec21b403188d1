// SPDX-License-Identifier: Apache-2.0
// The loop: walkers advance together in rounds, draws go to a sink.
#pragma once
#include <functional>

#include "kelvin/chain/chain.h"

namespace kelvin {

struct Plan {
  std::uint64_t warmup = 0, steps = 0, every = 1;
  std::uint64_t round = 0;  // steps between two calls of after_round
  std::size_t threads = 1;
  std::uint64_t draws() const { return steps / every; }
};

template <class Real>
struct Draw {
  std::uint32_t walker;
  std::uint64_t index;  // 0, 1, ... within its walker
  const Reading& reading;
  std::span<const Real> q;
};

// Called from several threads at once, but never for the same walker.
template <class Real>
using Sink = std::function<void(const Draw<Real>&)>;

// after_round(steps done) runs alone, between rounds.
template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan&, const Sink<Real>&,
         const std::function<void(std::uint64_t)>& after_round);

}  // namespace kelvin
