// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/run.h"

#include "kelvin/core/parallel.h"

namespace kelvin {

template <class Real>
void run(std::span<Chain<Real>> walkers, const Plan& plan, const Sink<Real>& sink,
         const std::function<void(std::uint64_t)>& after_round) {
  const std::uint64_t total = plan.warmup + plan.steps;
  for (std::uint64_t done = 0; done < total;) {
    const std::uint64_t until = std::min(total, done + plan.round);
    parallel(walkers.size(), plan.threads, [&](std::size_t w) {
      Chain<Real>& chain = walkers[w];
      for (std::uint64_t n = done + 1; n <= until; ++n) {
        const bool kept = n > plan.warmup && (n - plan.warmup) % plan.every == 0;
        if (!kept && n != until) {
          chain.step();
          continue;
        }
        chain.step_and_read();
        if (kept) sink({std::uint32_t(w), (n - plan.warmup) / plan.every - 1, chain.reading(), chain.q()});
      }
    });
    after_round(done = until);
  }
}

template void run(std::span<Chain<float>>, const Plan&, const Sink<float>&, const std::function<void(std::uint64_t)>&);
template void run(std::span<Chain<double>>, const Plan&, const Sink<double>&,
                  const std::function<void(std::uint64_t)>&);

}  // namespace kelvin
