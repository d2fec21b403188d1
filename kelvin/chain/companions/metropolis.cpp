// SPDX-License-Identifier: Apache-2.0
// Letters { and }: what stands between them is a proposal.
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
    if (letter.brace > 0) proposal_.begin(chain);
    if (letter.companion == &metropolis_row && letter.brace < 0) decide(chain);
  }
  void read(Chain<Real>&, Reading& reading) const override { proposal_.read(reading); }
  void fields(Archive& field) override { proposal_.fields(field); }

 private:
  void decide(Chain<Real>& chain) {
    const double change = proposal_.change(chain), T = chain.temperature();
    const bool accept = proposal_.possible(chain, change) &&
                        chain.noise().uniform({key_, chain.walker(), proposal_.count(), 0}) < std::exp(-change / T);
    proposal_.end(chain, change, accept);
  }

  std::uint64_t key_;
  Proposal<Real> proposal_;
};

}  // namespace

KELVIN_COMPANION_ROW(metropolis, Metropolis, metropolis_letters)

}  // namespace kelvin
