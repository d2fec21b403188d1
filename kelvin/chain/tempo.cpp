// SPDX-License-Identifier: Apache-2.0
// Letter Z: the gradient sets the pace of all parts.
#include <cmath>

#include "kelvin/chain/chain.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {

template <class Real>
double Chain<Real>::gradient_square() const {
  double sum = 0;
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    const auto g = movers_[k].part.g;
    sum += dot<Real>(g, g);
    for (const std::uint32_t i : recipe_.parts[k].frozen) sum -= double(g[i]) * double(g[i]);
  }
  return sum;
}

// zeta starts where it would settle.
template <class Real>
void Chain<Real>::start_tempo() {
  const TempoSettings& tempo = recipe_.tuning.tempo;
  evaluate(0);
  zeta_ = gradient_square() / (tempo.rate * tempo.scale);
  schedule();
}

// dzeta = (|g|^2 / scale - rate zeta) ds, solved exactly; s runs as the first part's step does without Z.
template <class Real>
void Chain<Real>::follow_tempo(const Move& move) {
  const TempoSettings& tempo = recipe_.tuning.tempo;
  const double x = tempo.rate * move.share * movers_.front().beat;
  zeta_ = std::exp(-x) * zeta_ - std::expm1(-x) * gradient_square() / (tempo.rate * tempo.scale);
  const double last = movers_.front().step, psi = tempo.psi(zeta_);
  for (Mover& mover : movers_) mover.step = mover.part.h = psi * mover.beat;
  taken_ = &move == &recipe_.parts.front().scheme.moves.back() ? last : movers_.front().step;
}

// A draw stands for the time psi ds. Not for the time of the step behind it: zeta there is of another moment than q. A
// part whose temperature rests draws from no law.
template <class Real>
double Chain<Real>::weight_of_time() const {
  for (std::size_t k = 0; k < movers_.size(); ++k)
    if (recipe_.parts[k].temperature.rests() && movers_[k].part.T == 0) return -INFINITY;
  return tempo_ ? std::log(recipe_.tuning.tempo.psi(zeta_)) : 0;
}

#define KELVIN_MEMBERS(Real)                           \
  template double Chain<Real>::weight_of_time() const; \
  template void Chain<Real>::start_tempo();            \
  template void Chain<Real>::follow_tempo(const Move&);
KELVIN_MEMBERS(float)
KELVIN_MEMBERS(double)
#undef KELVIN_MEMBERS

}  // namespace kelvin
