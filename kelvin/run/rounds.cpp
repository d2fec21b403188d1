// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/rounds.h"

#include <algorithm>

namespace kelvin {
namespace {

// Takes a walker to a step, unless it is interrupted; whether it is read there is up to those who meet.
template <class Real>
void advance(Chain<Real>& chain, std::uint64_t until, bool read_there, const Plan& plan, const Sink<Real>& sink) {
  std::atomic<std::uint64_t>* const progress = chain.walker() == 0 ? plan.progress : nullptr;
  for (std::uint64_t n = chain.steps() + 1; n <= until; ++n) {
    if (plan.interrupt && plan.interrupt->load(std::memory_order_relaxed)) return;
    const bool warmup = n <= plan.warmup;
    const std::uint64_t in_phase = warmup ? n : n - plan.warmup;
    const bool kept = (!warmup || plan.keep_warmup) && in_phase % plan.every == 0;
    if (kept || (read_there && n == until)) chain.step_and_read();
    else chain.step();
    if (kept) sink({chain.walker(), in_phase / plan.every - 1, chain.reading(), chain.q(), warmup});
    if (progress) progress->store(n, std::memory_order_relaxed);
  }
}

// Steps that all walkers of each group have done, on all ranks.
template <class Real>
std::vector<std::uint64_t> steps_of_groups(const LocalWalkers<Real>& local, std::uint64_t total) {
  std::vector<std::uint64_t> least(local.couplings.groups(), total);
  for (const auto& chain : local.walkers) {
    std::uint64_t& mine = least[local.couplings.group_of(chain.walker())];
    mine = std::min(mine, chain.steps());
  }
  return local.comm.least(least);
}

}  // namespace

template <class Real>
std::uint64_t steps_done(const LocalWalkers<Real>& local, std::uint64_t total) {
  const auto at = steps_of_groups(local, total);
  return *std::min_element(at.begin(), at.end());
}

template <class Real>
std::uint64_t next_round(const LocalWalkers<Real>& local, const Plan& plan, const Sink<Real>& sink,
                         std::uint64_t limit) {
  const auto multiple_after = [](std::uint64_t n, std::uint64_t of) { return n - n % of + of; };
  const std::uint64_t total = plan.total();
  const auto at = steps_of_groups(local, total);
  // Groups move in turn, a whole interval each; the one that is behind, when the one before it has finished its own.
  const auto has_met = [&](std::uint64_t step) {
    return step == total || local.couplings.next_meeting(step - 1) == step;
  };
  std::size_t group = 0;
  while (group + 1 < at.size() && at[group + 1] < at[group] && has_met(at[group])) ++group;
  const std::uint64_t now = at[group];
  std::uint64_t until = std::min({total, multiple_after(now, plan.round), local.couplings.next_meeting(now)});
  if (limit > now) until = std::min(until, limit);
  if (until - now > plan.longest) until = now + plan.longest;
  if (plan.checkpoint) until = std::min(until, multiple_after(now, plan.checkpoint));
  const bool read_there = until % plan.round == 0 || until == total || local.couplings.reads();
  std::vector<Chain<Real>*> moving;
  for (auto& chain : local.walkers)
    if (local.couplings.group_of(chain.walker()) == group) moving.push_back(&chain);
  local.couplings.meet(local.walkers, group, now, local.threads);
  local.comm.together([&] {
    local.threads.each(moving.size(), [&](std::size_t k) { advance(*moving[k], until, read_there, plan, sink); });
  });
  return steps_done(local, total);
}

template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan& plan, Couplings<Real>& couplings, const Sink<Real>& sink,
         const std::function<void(std::uint64_t)>& after_round) {
  Comm alone;
  Threads threads(std::min(plan.threads, walkers.size()));
  const LocalWalkers<Real> local{walkers, couplings, alone, threads};
  std::uint64_t done = steps_done(local, plan.total());
  while (done < plan.total() && !(plan.interrupt && *plan.interrupt)) {
    done = next_round(local, plan, sink);
    after_round(done);
  }
}

template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan& plan, const Sink<Real>& sink,
         const std::function<void(std::uint64_t)>& after_round) {
  Couplings<Real> none;
  run<Real>(walkers, plan, none, sink, after_round);
}

#define KELVIN_ROUNDS(Real)                                                                                    \
  template std::uint64_t steps_done(const LocalWalkers<Real>&, std::uint64_t);                                 \
  template std::uint64_t next_round(const LocalWalkers<Real>&, const Plan&, const Sink<Real>&, std::uint64_t); \
  template void run(std::span<Chain<Real>>, const Plan&, Couplings<Real>&, const Sink<Real>&,                  \
                    const std::function<void(std::uint64_t)>&);                                                \
  template void run(std::span<Chain<Real>>, const Plan&, const Sink<Real>&, const std::function<void(std::uint64_t)>&);
KELVIN_ROUNDS(float)
KELVIN_ROUNDS(double)
#undef KELVIN_ROUNDS

}  // namespace kelvin
