// SPDX-License-Identifier: Apache-2.0
// The loop: walkers advance together in rounds, draws go to a sink.
#pragma once
#include <atomic>
#include <functional>

#include "kelvin/ensemble/coupling.h"

namespace kelvin {

// Set from outside, by another thread or a signal: the walkers finish the step they are at, which need not be the same
// step, and after_round is called; then they go on, or the run ends.
struct Requests {
  std::atomic<bool> pause = false, stop = false;
};

struct Plan {
  std::uint64_t warmup = 0, steps = 0, every = 1;
  std::uint64_t round = 0;  // steps between two calls of after_round
  std::size_t threads = 1;
  std::uint64_t checkpoint = 0;               // and at every multiple of this
  std::uint64_t longest = ~std::uint64_t(0);  // no round is longer: draws wait in memory until its end
  bool keep_warmup = false;
  Requests* requests = nullptr;
  std::uint64_t total() const { return warmup + steps; }
  std::uint64_t draws() const { return steps / every; }
};

template <class Real>
struct Draw {
  std::uint32_t walker;
  std::uint64_t index;  // 0, 1, ... within its walker and its phase
  const Reading& reading;
  std::span<const Real> q;
  bool warmup = false;
};

// Called from several threads at once, but never for the same walker.
template <class Real>
using Sink = std::function<void(const Draw<Real>&)>;

// Each walker goes on from the step it is at. after_round(steps that all walkers have done) runs alone, between rounds,
// on all ranks; `walkers` are those that this rank has.
template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan&, Ensembles<Real>&, const Sink<Real>&,
         const std::function<void(std::uint64_t)>& after_round);

// Of independent walkers in one process.
template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan&, const Sink<Real>&,
         const std::function<void(std::uint64_t)>& after_round);

}  // namespace kelvin
