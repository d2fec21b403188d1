// SPDX-License-Identifier: Apache-2.0
// A tempered law: its bias learns during the warm-up, and in forms that heat the bath the other parts follow alpha.
#include <cmath>

#include "kelvin/chain/companion.h"
#include "kelvin/energy/tempered.h"

namespace kelvin {
namespace {

template <class Real>
class Tempering final : public Companion<Real> {
 public:
  static bool needed(Chain<Real>& chain) { return chain.energy().law && chain.energy().law->tempered(); }
  explicit Tempering(Chain<Real>& chain) : learns_until_(chain.recipe().tuning.warmup) {}

  // The bias learns during the warm-up, while alpha moves: a function of the step, not of when it is asked.
  void arrive(Chain<Real>& chain) override {
    const bool moves = chain.recipe().tempered && chain.recipe().parts[chain.program().alpha].frozen.empty();
    law(chain).learn(chain.steps() < learns_until_ && moves);
  }
  void before(Chain<Real>& chain) override {
    if (!law(chain).corrects()) return;
    chain.now();
    for (std::size_t k = 0; k < chain.movers().size(); ++k) chain.movers()[k].part.T = bath_temperature(chain, k);
  }
  // Forms of tempering that heat the bath: the other parts have temperature T/g(alpha) until they meet again, and the
  // letters of alpha that go by their energy find its slope, g'(alpha) (U + p.p/2m) and that of the bias, as a
  // gradient.
  void meet(Chain<Real>& chain, const Meeting& meeting) override {
    if (!chain.recipe().heats) return;
    ChainState<Real>& state = chain.now();
    const std::size_t at = chain.program().alpha;
    double energy = state.energy;
    for (std::size_t k = 0; k < at; ++k) {
      Mover<Real>& mover = chain.movers()[k];
      mover.part.T = bath_temperature(chain, k);
      energy += mover.momentum_square() / 2;
    }
    if (meeting.letters[at]->joint == Joint::energy)
      state.g[chain.recipe().parts[at].offset] = Real(law(chain).slope(alpha(chain), energy));
  }
  void after(Chain<Real>& chain) override { arrive(chain); }
  void read(Chain<Real>& chain, Reading& reading) const override {
    if (chain.recipe().tempered) reading.alpha = alpha(chain);
  }

 private:
  static Tempered<Real>& law(Chain<Real>& chain) { return *chain.energy().law->tempered(); }
  static double alpha(Chain<Real>& chain) { return double(chain.movers()[chain.program().alpha].part.q.front()); }

  // T, or T/g(alpha) in forms that heat the bath, less what minibatches bring if that is to be corrected: their noise
  // of variance s in the force adds h^2 s to that of p in a step, and
  //   2 gamma m T' + h s = 2 gamma m T
  // leaves room for it, with an error of order h^2.
  static double bath_temperature(Chain<Real>& chain, std::size_t k) {
    const Part<Real>& s = chain.part(k);
    const bool follows = chain.recipe().heats && k != chain.program().alpha;
    const double T = law(chain).temperature(follows ? alpha(chain) : 0);
    const double noise = law(chain).force_noise(alpha(chain), k);
    return noise > 0 ? std::max(0.0, T - s.h * noise / (2 * s.gamma * s.m)) : T;
  }

  std::uint64_t learns_until_;
};

}  // namespace

KELVIN_COMPANION_ROW(tempering, Tempering, {})

}  // namespace kelvin
