// SPDX-License-Identifier: Apache-2.0
// What an engine says of the run besides its log.
#include <algorithm>
#include <cmath>

#include "kelvin/run/engine.h"

namespace kelvin {

// What does not go without saying.
template <class Real>
void EngineOf<Real>::remark_on_learnt() const {
  double least = INFINITY, most = 0, before = 0, after = 0;
  for (const LearntRecord& walker : record_.learnt) {
    least = std::min(least, walker.pace);
    most = std::max(most, walker.pace);
    before += walker.put_back.value_or(0);
    after += walker.put_back_later.value_or(0);
  }
  constexpr double alike = 2;
  if (most > alike * least)
    remark(fmt::format("the warm-ups of the walkers ended at steps that differ by a factor of {:.3g}", most / least));
  if (before + after > 0)
    remark(
        fmt::format("the energy of walkers jumped: they were put back with a smaller step {:.0f} times in the "
                    "warm-up and {:.0f} times after it",
                    before, after));
}

template <class Real>
void EngineOf<Real>::remark_on_parts() const {
  for (const PartRecipe& part : problem_.recipe.parts)
    remark(fmt::format(
               "part \"{}\": {} of {} numbers, step {:.4g}, temperature {:.4g}, posterior temperature N T = {:.4g}{}",
               part.name, part.scheme.text, part.freedom(), part.step.at(0), part.temperature.at(0),
               problem_.rows() * part.temperature.at(0),
               part.scheme.adaptive ? fmt::format(", friction {} with sigma {:.4g} and eps {:.4g}", part.damping->name,
                                                  part.sigma.at(0), part.eps.at(0))
                                    : "") +
           (part.constraints.empty() ? "" : fmt::format(", constraint {}", part.constraints.front().row->name)));
}

template void EngineOf<float>::remark_on_learnt() const;
template void EngineOf<double>::remark_on_learnt() const;
template void EngineOf<float>::remark_on_parts() const;
template void EngineOf<double>::remark_on_parts() const;

}  // namespace kelvin
