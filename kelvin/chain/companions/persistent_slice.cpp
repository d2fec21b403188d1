// SPDX-License-Identifier: Apache-2.0
// Letter |: decides on a proposal as } does, by a uniform that lasts from one decision to the next instead of a fresh
// one (Neal 2020). Refusals then come in runs, between long stretches without any, so that momenta which are kept in
// part between proposals (O{BAB|O) are seldom reversed.
#include "kelvin/chain/companion.h"

namespace kelvin {

extern const CompanionRow persistent_slice_row;

namespace {

constexpr Letter persistent_slice_letters[] = {
    companion_letter('|', {.proposes = true, .brace = -1},
                     "decide by a uniform that lasts: as }, but refusals come in runs and p is seldom reversed"),
};

// (q, p, v) with v uniform on [-1, 1) and independent of (q, p). Each decision first moves v on by `shift`, around the
// interval; then the proposal is accepted if |v| < r = exp(-(H' - H)/T), and v becomes v / r: the height |v| exp(-H/T)
// of a slice under the density stays the same, which is what makes the map one-to-one and of unit volume.
template <class Real>
class PersistentSlice final : public Companion<Real> {
 public:
  static bool needed(const Chain<Real>& chain) {
    return chain.in_some_phase([](const Recipe& recipe) {
      return std::ranges::any_of(recipe.parts.front().scheme.moves,
                                 [](const Move& move) { return move.letter->companion == &persistent_slice_row; });
    });
  }
  explicit PersistentSlice(Chain<Real>& chain)
      : v_(2 * chain.noise().uniform({chain.key("slice"), chain.walker(), 0, 0}) - 1) {}

  void meet(Chain<Real>& chain, const Meeting& meeting) override {
    const Letter& letter = *meeting.move->letter;
    if (letter.brace > 0) proposal_.begin(chain);
    if (letter.companion == &persistent_slice_row) decide(chain);
  }
  void read(Chain<Real>&, Reading& reading) const override { proposal_.read(reading); }
  void fields(Archive& field) override {
    field("v", v_);
    proposal_.fields(field);
  }

 private:
  void decide(Chain<Real>& chain) {
    constexpr double shift = 0.03;  // once around the interval in 67 decisions
    const double change = proposal_.change(chain), ratio = std::exp(-change / chain.temperature());
    v_ += v_ + shift >= 1 ? shift - 2 : shift;
    const bool accept = proposal_.possible(chain, change) && std::abs(v_) < ratio;
    if (accept) v_ /= ratio;
    proposal_.end(chain, change, accept);
  }

  Proposal<Real> proposal_;
  double v_;
};

}  // namespace

KELVIN_COMPANION_ROW(persistent_slice, PersistentSlice, persistent_slice_letters)

}  // namespace kelvin
