// SPDX-License-Identifier: Apache-2.0
// What a chain does besides its string: the path of letter N, jitter, learning during the warm-up, and tempering.
#include <algorithm>
#include <cmath>

#include "kelvin/chain/stiffness.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

const Letter& letter_named(char symbol) {
  return *std::ranges::find_if(letters(), [&](const Letter& l) { return l.symbol == symbol; });
}

}  // namespace

// What the settings ask for besides the string, once at construction.
template <class Real>
void Chain<Real>::tune() {
  const Tuning& tuning = recipe_.tuning;
  check_tuning(tuning);
  const Scheme& scheme = recipe_.parts.front().scheme;
  const bool jitters = tuning.jitter.step > 0 || tuning.jitter.length > 0;
  if ((jitters || tuning.learns()) && !recipe_.later.empty())
    throw Error("[adapt] and [jitter] need one way to move from beginning to end; leave out the phases or them");
  if (jitters && !scheme.proposes)
    throw Error("[jitter] is for schemes with braces or N, which it leaves exact; \"{}\" has none", scheme.text);
  if (tuning.adapt.friction && scheme.proposes)
    throw Error("adapt.friction goes by the heat that gradient noise leaves; \"{}\" leaves none", scheme.text);
  if (tuning.jitter.length > 0)
    for (const PartRecipe& part : recipe_.parts)
      if (part.scheme.repeats.times < 2 || part.scheme.repeats.times != scheme.repeats.times)
        throw Error(
            "jitter.length needs braces around repeats, the same number in all parts, as in R{{(BAB)10}}; part "
            "\"{}\" has \"{}\"",
            part.name, part.scheme.text);
  if (scheme.tempo && (tuning.adapt.step || tuning.adapt.friction))
    throw Error(
        "adapt.step and adapt.friction go by steps of one length, which Z in \"{}\" does not leave; use [tempo]",
        scheme.text);
  const auto [least, most] = recipe_.parts.front().friction.range();
  if (scheme.unit_speed && tuning.adapt.friction && !(least > 0 && std::isfinite(most)))
    throw Error("adapt.friction scales the friction of \"{}\", which must be above 0 and finite, not from {} to {}",
                scheme.text, least, most);
  if (needs_noise(recipe_)) {
    if (!recipe_.later.empty())
      throw Error("letter V needs one way to move from beginning to end; leave out the phases");
    gradient_noise_ = std::make_unique<NoiseEstimate<Real>>(recipe_, energy_.rows(), batches_.share_of_variance());
  }
  if (scheme.travels) no_u_turn_ = std::make_unique<NoUTurn<Real>>(recipe_.size);
  for (const Move& move : scheme.moves)
    if (scheme.proposes && move.letter->moves_q) leap_share_ = move.share;
  if (!tuning.learns()) return;
  tuner_ = std::make_unique<Adaptation>(recipe_);
  const MassShape shape = tuning.rescaling().shape;
  if (shape == MassShape::none) return;
  energy_.coordinates =
      scaled_coordinates<Real>(recipe_.size, shape == MassShape::dense ? recipe_.parts.front().size : 0);
}

template <class Real>
void Chain<Real>::draw_jitter() {
  const JitterSettings& jitter = recipe_.tuning.jitter;
  const auto uniform = [&](std::uint16_t place) { return noise_->uniform({jitter_key_, walker_, steps_, place}); };
  if (jitter.step > 0) pace_now_ *= 1 + jitter.step * (2 * uniform(0) - 1);
  if (jitter.length > 0) {
    const double times = double(recipe_.parts.front().scheme.repeats.times);
    const double least = std::max(1.0, std::ceil((1 - jitter.length) * times));
    repeats_ = std::size_t(least + std::floor((times - least + 1) * uniform(1)));
  }
}

// B A B of every part, with its own step, forwards or backwards in time.
template <class Real>
void Chain<Real>::leap(int direction) {
  static const Letter &kick = letter_named('B'), &drift = letter_named('A');
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    const double h = direction * leap_share_ * movers_[k].step;
    kick.flow(movers_[k].part, h / 2, {});
    drift.flow(movers_[k].part, h, {});
    restore_frozen(k);
  }
  U_ = energy_(q_, {.rows = batches_(evaluations_++), .wanted = wanted_[fresh_at_]}, g_);
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    kick.flow(movers_[k].part, direction * leap_share_ * movers_[k].step / 2, {});
    restore_frozen(k);
  }
}

template <class Real>
PathSpace<Real> Chain<Real>::path_space() {
  return {q_,
          p_,
          g_,
          &U_,
          [this](int direction) { leap(direction); },
          [this] { return hamiltonian(); },
          [this](std::span<const Real> a, std::span<const Real> b) {
            double sum = 0;
            for (std::size_t k = 0; k < movers_.size(); ++k) {
              const std::size_t at = recipe_.parts[k].offset, size = recipe_.parts[k].size;
              sum += dot<Real>(a.subspan(at, size), b.subspan(at, size)) / movers_[k].part.m;
            }
            return sum;
          }};
}

template <class Real>
void Chain<Real>::travel() {
  flush();
  const Travelled way =
      no_u_turn_->travel(path_space(), movers_.front().part.T, *noise_, {path_key_, walker_, steps_, 0});
  statistic_ += way.acceptance, ++proposals_now_;
  reading_.diverging |= way.diverging;
  reading_.depth = way.depth, reading_.leaps = way.leaps;
  if (reading_now_) read_energy();
}

// The pace is doubled or halved until the acceptance of one leapfrog step with fresh momenta crosses 0.8.
template <class Real>
void Chain<Real>::guess_pace() {
  if (unit_speed_) return tuner_->begin_again(tuner_->pace());  // a leapfrog is none of its steps
  evaluate(0);
  propose();
  const std::uint64_t key = stream_key(seed_, "guess");
  const double T = movers_.front().part.T;
  double pace = tuner_->pace();
  int towards = 0;
  for (std::uint16_t tries = 0; tries < 100; ++tries) {
    tuner_->begin_again(pace);
    schedule();
    noise_->normals({key, walker_, steps_, tries}, 0, p_);
    for (std::size_t k = 0; k < movers_.size(); ++k) {
      for (Real& x : movers_[k].part.p) x *= Real(std::sqrt(movers_[k].part.m * T));
      restore_frozen(k);
    }
    const double before = hamiltonian();
    leap(1);
    const double change = hamiltonian() - before;
    q_ = old_q_, g_ = old_g_, U_ = old_energy_;
    const int direction = change < -T * std::log(0.8) ? 1 : -1;  // nan: the step is too long
    if (towards != 0 && direction != towards) break;
    towards = direction;
    pace *= direction > 0 ? 2 : 0.5;
  }
  p_ = old_p_;
  proposing_ = false;
  schedule();
}

// Changes coordinates under a walker that stays where it is; p keeps its numbers, which have the same law in both.
template <class Real>
void Chain<Real>::stand_on(std::span<const double> factor) {
  LargeArray<Real> x(this->q().begin(), this->q().end());
  const LargeArray<Real> p(p_);
  energy_.coordinates->use(factor);
  energy_.coordinates->to_coordinates(x);
  if (!stale_) --evaluations_;  // the gradient is taken again in the new coordinates, on the same rows
  place(x, p);
}

// Temperatures are means over all directions and say nothing of a single stiff one.
template <class Real>
void Chain<Real>::stay_stable() {
  constexpr double stiffest = 1;  // h^2 times the largest curvature; the limit of stability is 4
  schedule();
  if (const double now = stiffness(*this); now > stiffest) tuner_->slow_down(std::sqrt(stiffest / now));
}

template <class Real>
void Chain<Real>::learn() {
  flush();
  if (unit_speed_) learn_by_energy();
  bool changed = false;
  if (tuner_->by_acceptance()) tuner_->accepted(steps_, statistic_ / double(proposals_now_));
  if (tuner_->by_temperatures()) {
    Temperatures now;
    double freedom = 0;
    for (std::size_t k = 0; k < movers_.size(); ++k) {
      const Part<Real>& part = movers_[k].part;
      now.kinetic += momentum_square(part) / part.T;
      now.half_kick += part.h * part.h / 4 * dot<Real>(part.g, part.g) / (part.m * part.T);
      freedom += double(recipe_.parts[k].freedom());
    }
    changed = tuner_->agreed(steps_, {now.kinetic / freedom, now.half_kick / freedom});
  }
  if (!learnt_factor().empty() && tuner_->watch(steps_, q())) {
    stand_on(tuner_->factor());
    changed = true;
  }
  if (!changed || !recipe_.tuning.adapt.step) return;
  if (tuner_->by_acceptance()) guess_pace();
  else if (!unit_speed_) stay_stable();
}

// The bias learns during the warm-up, while alpha moves: a function of the step, not of when it is asked.
template <class Real>
void Chain<Real>::let_learn() {
  tempered_->learn(steps_ < learns_until_ && recipe_.parts.back().frozen.empty());
}

template <class Real>
void Chain<Real>::begin_with_bias(std::span<const double> learnt) {
  if (!tempered_ || learnt.size() != tempered_->learnt().size())
    throw Error("a bias of {} numbers does not fit one of {}", learnt.size(), learnt_bias().size());
  std::copy(learnt.begin(), learnt.end(), tempered_->learnt().begin());
}

// T, or T/g(alpha) in forms that heat the bath, less what minibatches bring if that is to be corrected: their noise of
// variance s in the force adds h^2 s to that of p in a step, and
//   2 gamma m T' + h s = 2 gamma m T
// leaves room for it, with an error of order h^2.
template <class Real>
double Chain<Real>::bath_temperature(std::size_t k) const {
  const Part<Real>& s = movers_[k].part;
  const double T = tempered_->temperature(recipe_.heats && k + 1 < movers_.size() ? alpha() : 0);
  const double noise = tempered_->force_noise(alpha(), k);
  return noise > 0 ? std::max(0.0, T - s.h * noise / (2 * s.gamma * s.m)) : T;
}

template <class Real>
void Chain<Real>::leave_room() {
  flush();
  for (std::size_t k = 0; k < movers_.size(); ++k) movers_[k].part.T = bath_temperature(k);
}

// Forms of tempering that heat the bath: the other parts have temperature T/g(alpha) until they meet again, and the
// letters of alpha that go by their energy find its slope, g'(alpha) (U + p.p/2m) and that of the bias, as a gradient.
template <class Real>
void Chain<Real>::temper(std::size_t meeting) {
  flush();
  const std::size_t last = movers_.size() - 1;
  double energy = U_;
  for (std::size_t k = 0; k < last; ++k) {
    movers_[k].part.T = bath_temperature(k);
    energy += momentum_square(movers_[k].part) / 2;
  }
  if (joint_at(last, meeting) == Joint::energy)
    g_[recipe_.parts[last].offset] = Real(tempered_->slope(alpha(), energy));
}

#define KELVIN_MEMBERS(Real)                      \
  template void Chain<Real>::tune();              \
  template void Chain<Real>::draw_jitter();       \
  template void Chain<Real>::travel();            \
  template void Chain<Real>::guess_pace();        \
  template void Chain<Real>::learn();             \
  template void Chain<Real>::let_learn();         \
  template void Chain<Real>::temper(std::size_t); \
  template void Chain<Real>::leave_room();        \
  template void Chain<Real>::begin_with_bias(std::span<const double>);
KELVIN_MEMBERS(float)
KELVIN_MEMBERS(double)
#undef KELVIN_MEMBERS

}  // namespace kelvin
