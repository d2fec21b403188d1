// SPDX-License-Identifier: Apache-2.0
// The loop: walkers advance together in rounds, draws go to a sink. A round ends where something must meet: a coupling,
// a line of the log, a checkpoint.
#pragma once
#include <atomic>
#include <functional>

#include "kelvin/ensemble/coupling.h"

namespace kelvin {

struct Plan {
  std::uint64_t warmup = 0, steps = 0, every = 1;
  std::uint64_t round = 0;  // all walkers meet, and are read, at every multiple of this
  std::size_t threads = 1;
  std::uint64_t checkpoint = 0;               // they meet at every multiple of this too
  std::uint64_t longest = ~std::uint64_t(0);  // no round is longer: draws wait in memory until its end
  bool keep_warmup = false;
  // Set from outside: the walkers finish the step they are at, which need not be the same step, and the round ends.
  const std::atomic<bool>* interrupt = nullptr;
  std::atomic<std::uint64_t>* progress = nullptr;  // told the steps of the first walker, at every one of them
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

// The walkers that this rank has, and what they share.
template <class Real>
struct LocalWalkers {
  std::span<Chain<Real>> walkers;
  Couplings<Real>& couplings;
  Comm& comm;
  Threads& threads;
};

// Steps that all walkers have done, on all ranks; at most `total`.
template <class Real>
std::uint64_t steps_done(const LocalWalkers<Real>&, std::uint64_t total);

// One round: each walker goes on from the step it is at, no further than `limit`. Returns the steps that all have done.
template <class Real>
std::uint64_t next_round(const LocalWalkers<Real>&, const Plan&, const Sink<Real>&, std::uint64_t limit = never);

// All rounds, up to the end or an interrupt. after_round(steps that all walkers have done) runs alone.
template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan&, Couplings<Real>&, const Sink<Real>&,
         const std::function<void(std::uint64_t)>& after_round);

// Of independent walkers.
template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan&, const Sink<Real>&,
         const std::function<void(std::uint64_t)>& after_round);

}  // namespace kelvin
