// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/run.h"

#include <algorithm>

#include "kelvin/core/parallel.h"

namespace kelvin {

namespace {

// Takes a walker to a step, unless it is told to pause; whether it is read there is up to those who meet.
template <class Real>
void advance(Chain<Real>& chain, std::uint64_t until, bool read_there, const Plan& plan, const Requests& requests,
             const Sink<Real>& sink) {
  for (std::uint64_t n = chain.steps() + 1; n <= until; ++n) {
    if (requests.pause.load(std::memory_order_relaxed)) return;
    const bool warmup = n <= plan.warmup;
    const std::uint64_t in_phase = warmup ? n : n - plan.warmup;
    const bool kept = (!warmup || plan.keep_warmup) && in_phase % plan.every == 0;
    if (!kept && !(read_there && n == until)) {
      chain.step();
      continue;
    }
    chain.step_and_read();
    if (kept) sink({chain.walker(), in_phase / plan.every - 1, chain.reading(), chain.q(), warmup});
  }
}

}  // namespace

template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan& plan, Ensembles<Real>& ensembles, const Sink<Real>& sink,
         const std::function<void(std::uint64_t)>& after_round) {
  const auto multiple_after = [](std::uint64_t n, std::uint64_t of) { return n - n % of + of; };
  Requests none;
  Requests& requests = plan.requests ? *plan.requests : none;
  const std::uint64_t total = plan.total(), refresh = ensembles.refresh();
  Threads threads(std::min(plan.threads, walkers.size()));
  // Steps that all walkers of each group have done, on all ranks; then 0 if one of them is to stop.
  const auto look = [&] {
    std::vector<std::uint64_t> least(ensembles.groups() + 1, total);
    for (const auto& chain : walkers) {
      std::uint64_t& mine = least[ensembles.group_of(chain.walker())];
      mine = std::min(mine, chain.steps());
    }
    least.back() = requests.stop ? 0 : 1;
    return ensembles.comm().least(least);
  };
  for (auto at = look(); at.back() != 0; at = look()) {
    at.pop_back();
    if (*std::min_element(at.begin(), at.end()) >= total) break;
    // Groups move in turn, a whole interval each; the one that is behind, when the one before it has finished its own.
    std::size_t group = 0;
    while (group + 1 < at.size() && at[group + 1] < at[group] && (at[group] % refresh == 0 || at[group] == total))
      ++group;
    const std::uint64_t now = at[group];
    std::uint64_t until = std::min(total, multiple_after(now, plan.round));
    if (until - now > plan.longest) until = now + plan.longest;
    if (plan.checkpoint) until = std::min(until, multiple_after(now, plan.checkpoint));
    if (ensembles.at_work()) until = std::min(until, multiple_after(now, refresh));
    std::vector<Chain<Real>*> moving;
    for (auto& chain : walkers)
      if (ensembles.group_of(chain.walker()) == group) moving.push_back(&chain);
    if (ensembles.due(group, now)) ensembles.couple(walkers, group, now, threads);
    const bool read_there = until % plan.round == 0 || until == total || ensembles.reads();
    ensembles.comm().together([&] {
      threads.each(moving.size(), [&](std::size_t k) { advance(*moving[k], until, read_there, plan, requests, sink); });
    });
    requests.pause = bool(requests.stop);
    at = look();
    at.pop_back();
    after_round(*std::min_element(at.begin(), at.end()));
  }
}

template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan& plan, const Sink<Real>& sink,
         const std::function<void(std::uint64_t)>& after_round) {
  Comm alone;
  EnsembleSettings independent;
  independent.walkers = long(walkers.size());
  Ensembles<Real> ensembles(independent, walkers.front().recipe(), alone, [](std::string_view) {});
  run<Real>(walkers, plan, ensembles, sink, after_round);
}

template void run(std::span<Chain<float>>, const Plan&, Ensembles<float>&, const Sink<float>&,
                  const std::function<void(std::uint64_t)>&);
template void run(std::span<Chain<double>>, const Plan&, Ensembles<double>&, const Sink<double>&,
                  const std::function<void(std::uint64_t)>&);
template void run(std::span<Chain<float>>, const Plan&, const Sink<float>&, const std::function<void(std::uint64_t)>&);
template void run(std::span<Chain<double>>, const Plan&, const Sink<double>&,
                  const std::function<void(std::uint64_t)>&);

}  // namespace kelvin
