// SPDX-License-Identifier: Apache-2.0
// Letters { and }: what stands between them is a proposal.
#include <cmath>

#include "kelvin/chain/companion.h"

namespace kelvin {

extern const CompanionRow metropolis_row;

namespace {

constexpr Letter metropolis_letters[] = {
    companion_letter('{', {.proposes = true, .brace = 1}, "propose: remember this state"),
    companion_letter('}', {.proposes = true, .brace = -1},
                     "decide: keep the new state or return to the remembered one with p reversed, by Metropolis"),
};

template <class Real>
class Metropolis final : public Companion<Real> {
 public:
  static bool needed(const Chain<Real>& chain) {
    return chain.in_some_phase([](const Recipe& recipe) {
      return std::ranges::any_of(recipe.parts.front().scheme.moves,
                                 [](const Move& move) { return move.letter->companion == &metropolis_row; });
    });
  }
  explicit Metropolis(Chain<Real>& chain) : key_(chain.key("metropolis")) {}

  void meet(Chain<Real>& chain, const Meeting& meeting) override {
    const Letter& letter = *meeting.move->letter;
    if (letter.brace > 0) propose(chain);
    if (letter.brace < 0 && letter.companion == &metropolis_row) decide(chain);
  }
  void read(Chain<Real>&, Reading& reading) const override {
    if (proposals_) reading.acceptance = double(accepted_) / double(proposals_);
  }
  void fields(Archive& field) override {
    field("proposals", proposals_);
    field("accepted", accepted_);
  }

 private:
  void propose(Chain<Real>& chain) {
    before_.take(chain.now());
    hamiltonian_ = chain.hamiltonian();
    chain.step_record().may_diverge = true;
    chain.workspace().irreversible = false;
  }
  // Accept with probability min(1, exp(-(H' - H)/T)); a path that blew up has infinite H'. On return p is reversed,
  // without which a string that keeps part of p between proposals (GHMC) would not sample exp(-H/T).
  void decide(Chain<Real>& chain) {
    constexpr double hopeless = 1000;  // rise of H, in units of T, that counts as a divergence
    ChainState<Real>& state = chain.now();
    StepRecord& step = chain.step_record();
    const double change = chain.hamiltonian() - hamiltonian_, T = chain.temperature();
    const bool accept = std::isfinite(change) && !chain.workspace().irreversible &&
                        chain.noise().uniform({key_, chain.walker(), proposals_, 0}) < std::exp(-change / T);
    step.diverging |= !(change < hopeless * T);
    step.acceptance += std::isfinite(change) ? std::min(1.0, std::exp(-change / T)) : 0;
    ++step.proposals;
    step.may_diverge = false;
    ++proposals_;
    if (accept) {
      ++accepted_;
      return;
    }
    before_.give_back_position(state);
    for (std::size_t i = 0; i < state.p.size(); ++i) state.p[i] = -before_.p[i];
    chain.read_energy();
  }

  std::uint64_t key_;
  PhasePoint<Real> before_;  // the state at '{'
  double hamiltonian_ = 0;
  std::uint64_t proposals_ = 0, accepted_ = 0;
};

}  // namespace

KELVIN_COMPANION_ROW(metropolis, Metropolis, metropolis_letters)

}  // namespace kelvin
