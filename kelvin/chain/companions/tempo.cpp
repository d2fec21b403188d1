// SPDX-License-Identifier: Apache-2.0
// Letter Z: the gradient sets the pace of all parts.
#include <cmath>

#include "kelvin/chain/companion.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

constexpr Letter tempo_letters[] = {
    companion_letter(
        'Z', {.own_time = true},
        "tempo: the size of the gradient sets the pace of all parts, and the weight of the draw ([tempo])"),
};

template <class Real>
class Tempo final : public Companion<Real> {
 public:
  static bool needed(const Chain<Real>& chain) { return chain.program().scheme().own_time; }
  explicit Tempo(Chain<Real>&) {}

  // zeta starts where it would settle.
  void start(Chain<Real>& chain) override {
    const TempoSettings& tempo = chain.recipe().tuning.tempo;
    chain.evaluate(0);
    zeta_ = gradient_square(chain) / (tempo.rate * tempo.scale);
    chain.schedule();
  }
  void schedule(Chain<Real>& chain, StepFactors& factors) override {
    factors.tempo = chain.recipe().tuning.tempo.psi(zeta_);
  }
  // dzeta = (|g|^2 / scale - rate zeta) ds, solved exactly; s runs as the first part's step does without Z.
  void meet(Chain<Real>& chain, const Meeting& meeting) override {
    if (!meeting.move->letter->own_time) return;
    const TempoSettings& tempo = chain.recipe().tuning.tempo;
    const Mover<Real>& first = chain.movers().front();
    const double x = tempo.rate * meeting.move->share * first.beat;
    zeta_ = std::exp(-x) * zeta_ - std::expm1(-x) * gradient_square(chain) / (tempo.rate * tempo.scale);
    const double last = first.step, psi = tempo.psi(zeta_);
    for (Mover<Real>& mover : chain.movers()) mover.step = mover.part.h = psi * mover.beat;
    taken_ = meeting.move == &chain.program().scheme().moves.back() ? last : first.step;
  }
  // A draw stands for the time psi ds. Not for the time of the step behind it: zeta there is of another moment than q.
  void read(Chain<Real>& chain, Reading& reading) const override {
    reading.taken = taken_;
    reading.log_weight += std::log(chain.recipe().tuning.tempo.psi(zeta_));
  }
  void fields(Archive& field) override { field("zeta", zeta_); }

 private:
  static double gradient_square(Chain<Real>& chain) {
    double sum = 0;
    for (const Mover<Real>& mover : chain.movers()) {
      const auto g = mover.part.g;
      sum += dot<Real>(g, g);
      for (const std::uint32_t i : mover.recipe().frozen) sum -= double(g[i]) * double(g[i]);
    }
    return sum;
  }

  double zeta_ = 0;
  double taken_ = 0;  // the step that it gave last
};

}  // namespace

KELVIN_COMPANION_ROW(tempo, Tempo, tempo_letters)

}  // namespace kelvin
