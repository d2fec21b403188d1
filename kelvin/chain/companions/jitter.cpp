// SPDX-License-Identifier: Apache-2.0
// [jitter]: the step, and the number of repeats in braces, drawn anew at every step.
#include <cmath>

#include "kelvin/chain/companion.h"

namespace kelvin {
namespace {

template <class Real>
class Jitter final : public Companion<Real> {
 public:
  static bool needed(const Chain<Real>& chain) {
    const JitterSettings& jitter = chain.recipe().tuning.jitter;
    return jitter.step > 0 || jitter.length > 0;
  }
  explicit Jitter(Chain<Real>& chain) : key_(chain.key("jitter")) {
    const Scheme& scheme = chain.program().scheme();
    if (chain.recipe().tuning.jitter.length > 0)
      for (const PartRecipe& part : chain.recipe().parts)
        if (part.scheme.repeats.times < 2 || part.scheme.repeats.times != scheme.repeats.times)
          throw Error(
              "jitter.length needs braces around repeats, the same number in all parts, as in R{{(BAB)10}}; part "
              "\"{}\" has \"{}\"",
              part.name, part.scheme.text);
  }
  void schedule(Chain<Real>& chain, StepFactors& factors) override {
    const JitterSettings& jitter = chain.recipe().tuning.jitter;
    const auto uniform = [&](std::uint16_t place) {
      return chain.noise().uniform({key_, chain.walker(), chain.steps(), place});
    };
    if (jitter.step > 0) factors.pace *= 1 + jitter.step * (2 * uniform(0) - 1);
    if (jitter.length > 0) {
      const double times = double(chain.program().scheme().repeats.times);
      const double least = std::max(1.0, std::ceil((1 - jitter.length) * times));
      factors.repeats = std::size_t(least + std::floor((times - least + 1) * uniform(1)));
    }
  }

 private:
  std::uint64_t key_;
};

}  // namespace

KELVIN_COMPANION_ROW(jitter, Jitter, {})

}  // namespace kelvin
