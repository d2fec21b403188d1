// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/run.h"

#include "kelvin/core/parallel.h"

namespace kelvin {

template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan& plan, const Sink<Real>& sink,
         const std::function<void(std::uint64_t)>& after_round) {
  const auto done = [&] {
    std::uint64_t least = walkers.front().steps();
    for (const auto& chain : walkers) least = std::min(least, chain.steps());
    return least;
  };
  const auto multiple_after = [](std::uint64_t n, std::uint64_t of) { return n - n % of + of; };
  Requests none;
  Requests& requests = plan.requests ? *plan.requests : none;
  for (std::uint64_t now = done(); now < plan.total() && !requests.stop; now = done()) {
    std::uint64_t until = std::min(plan.total(), multiple_after(now, plan.round));
    if (plan.checkpoint) until = std::min(until, multiple_after(now, plan.checkpoint));
    parallel(walkers.size(), plan.threads, [&](std::size_t w) {
      Chain<Real>& chain = walkers[w];
      for (std::uint64_t n = chain.steps() + 1; n <= until; ++n) {
        if (requests.pause.load(std::memory_order_relaxed)) return;
        const bool warmup = n <= plan.warmup;
        const std::uint64_t in_phase = warmup ? n : n - plan.warmup;
        const bool kept = (!warmup || plan.keep_warmup) && in_phase % plan.every == 0;
        if (!kept && n != until) {
          chain.step();
          continue;
        }
        chain.step_and_read();
        if (kept) sink({std::uint32_t(w), in_phase / plan.every - 1, chain.reading(), chain.q(), warmup});
      }
    });
    requests.pause = bool(requests.stop);
    after_round(done());
  }
}

template void run(std::span<Chain<float>>, const Plan&, const Sink<float>&, const std::function<void(std::uint64_t)>&);
template void run(std::span<Chain<double>>, const Plan&, const Sink<double>&,
                  const std::function<void(std::uint64_t)>&);

}  // namespace kelvin
