// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/chain.h"

#include <algorithm>
#include <cmath>

#include "kelvin/chain/checks.h"
#include "kelvin/core/isa.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {

template <class Real>
Chain<Real>::Chain(Energy<Real> energy, const Recipe& recipe, Batches batches,
                   const Noise<Real>& noise, std::uint64_t seed, std::uint32_t walker)
    : energy_(std::move(energy)),
      recipe_(recipe),
      batches_(std::move(batches)),
      noise_(&noise),
      seed_(seed),
      metropolis_key_(stream_key(seed, "metropolis")),
      evaluation_key_(stream_key(seed, "evaluation")),
      walker_(walker),
      replica_(walker),
      q_(recipe.size),
      p_(recipe.size),
      g_(recipe.size),
      xi_(recipe.parts.size()),
      fallbacks_(recipe.parts.size()),
      jitter_key_(stream_key(seed, "jitter")),
      path_key_(stream_key(seed, "path")),
      covariance_key_(stream_key(seed, "covariance")) {
  const bool all_rows = batches_.full() && !energy_.noisy();
  check_recipe(recipe_, all_rows, energy_.pieces());
  for (const Recipe& phase : recipe_.later) check_recipe(phase, all_rows, energy_.pieces());
  energy_.arrange(recipe_.blocks);
  if (energy_.law) tempered_ = energy_.law->tempered();
  learns_until_ = recipe_.tuning.warmup;
  tune();
  lay_out();
  use_threads(1);
  schedule();
}

// Everything that follows from the recipe.
template <class Real>
void Chain<Real>::lay_out() {
  movers_.clear(), readers_.clear(), wanted_.clear();
  starts_still_ = true, fresh_at_ = 0;
  int most_normals = 1;
  std::size_t longest = block_length;
  from_each_ = 0;
  for (const PartRecipe& part : recipe_.parts) {
    Mover mover;
    mover.part.q = std::span(q_).subspan(part.offset, part.size);
    mover.part.p = std::span(p_).subspan(part.offset, part.size);
    mover.part.g = std::span(g_).subspan(part.offset, part.size);
    mover.key = stream_key(seed_, "part " + part.name);
    mover.frozen.resize(part.frozen.size());
    mover.part.xi = &xi_[movers_.size()];
    mover.part.constants = &part.constants;
    if (gradient_noise_) mover.part.noise = gradient_noise_->of(movers_.size());
    mover.segments.push_back(0);
    const auto& moves = part.scheme.moves;
    for (std::size_t k = 0; k < moves.size(); ++k) {
      if (!moves[k].letter->local()) mover.segments.push_back(k);
      if (mover.segments.size() == 1 && moves[k].letter->moves_q) starts_still_ = false;
      most_normals = std::max(most_normals, moves[k].letter->normals);
      if (moves[k].letter->whole && moves[k].letter->normals) longest = std::max(longest, part.size);
    }
    meetings_ = mover.segments.size() - 1;
    mover.segments.push_back(moves.size());
    mover.pending.reserve(8);
    mover.held = Held<Real>(part, block_length);
    longest = std::max(longest, mover.held.longest()), from_each_ = std::max(from_each_, mover.held.room());
    movers_.push_back(std::move(mover));
  }
  std::size_t memory = 0;
  for (const PartRecipe& part : recipe_.parts) memory += std::size_t(part.scheme.memory) * part.size;
  memory_.assign(memory, Real(0));
  memory = 0;
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    Part<Real>& part = movers_[k].part;
    const int each = recipe_.parts[k].scheme.memory;
    if (each > 0) part.u = std::span(memory_).subspan(memory, part.size());
    if (each > 1) part.v = std::span(memory_).subspan(memory + part.size(), part.size());
    memory += std::size_t(each) * part.size();
  }
  readers_.resize(meetings_ + 1, std::vector<char>(movers_.size(), 0));
  pieces_.assign(meetings_ + 1, 0);
  for (std::size_t meeting = 1; meeting <= meetings_; ++meeting) {
    const bool by_energy = joint_at(movers_.size() - 1, meeting) == Joint::energy;  // of what the others are at
    for (std::size_t k = 0; k < movers_.size(); ++k) {
      const Letter& letter = *recipe_.parts[k].scheme.moves[movers_[k].segments[meeting]].letter;
      readers_[meeting][k] =
          by_energy ? k + 1 < movers_.size() : letter.joint != Joint::wait;  // braces keep the gradient with the state
      if (letter.joint == Joint::gradient) pieces_[meeting] = letter.piece;
    }
    auto& blocks = wanted_.emplace_back();
    for (const Block& block : recipe_.blocks) {
      const auto part = recipe_.part_of.find(block.name);
      blocks.push_back(0);
      for (std::size_t k = 0; k < movers_.size() && part != recipe_.part_of.end(); ++k)
        blocks.back() |= char(readers_[meeting][k] && recipe_.parts[k].name == part->second);
    }
  }
  wanted_.insert(wanted_.begin(), std::vector<char>(recipe_.blocks.size(), 1));
  std::fill(readers_[0].begin(), readers_[0].end(), 1);
  normals_each_ = std::size_t(most_normals) * longest;
  proposes_ = recipe_.parts.front().scheme.proposes;
  tempo_ = recipe_.parts.front().scheme.tempo, unit_speed_ = recipe_.parts.front().scheme.unit_speed;
  use_threads(threads_);
  if (proposes_ || unit_speed_)
    for (auto* v : {&old_q_, &old_p_, &old_g_}) v->resize(recipe_.size);
  reading_.parts.resize(recipe_.parts.size());
}

template <class Real>
void Chain<Real>::use_threads(std::size_t threads) {
  threads_ = threads;
  normals_.resize(threads_ * normals_each_), from_.resize(threads_ * from_each_);
  tallies_.assign(threads_, {.retrace = proposes_});
}

template <class Real>
void Chain<Real>::step() {
  const FlushToZero tiny_numbers;
  if (!recipe_.later.empty() && steps_ == recipe_.later.front().begins) next_phase();
  schedule();
  if (tempered_ && tempered_->corrects()) leave_room();
  statistic_ = 0, proposals_now_ = 0;
  if (unit_speed_) watch_energy();
  const auto [from, to] = left_out(0);
  for (std::size_t meeting = 0; meeting <= meetings_; ++meeting) {
    const std::size_t at = movers_.front().segments[meeting];
    if (meeting > 0 && (at < from || at >= to)) meet(meeting);
    for (std::size_t k = 0; k < movers_.size(); ++k) run(k, meeting);
  }
  ++steps_;
  if (tempered_) let_learn();
  if (unit_speed_) read_energy_error();
  if (proposals_now_) statistics_ += statistic_ / double(proposals_now_);
  if (tuner_ && tuner_->learns_at(steps_)) learn();
}

template <class Real>
void Chain<Real>::step_and_read() {
  const FlushToZero tiny_numbers;
  reading_now_ = true;
  reading_.diverging = false;
  step();
  if (stale_ && starts_still_) evaluate(1);  // the next step would begin with this gradient: no more work, only sooner
  read_whole_energy();
  take_reading();
  reading_now_ = false;
}

// The constants of this step; letters never meet a schedule.
template <class Real>
void Chain<Real>::schedule() {
  pace_now_ = learnt_pace();
  if (proposes_) draw_jitter();
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    const PartRecipe& part = recipe_.parts[k];
    const double now = double(steps_ - recipe_.begins);
    movers_[k].beat = pace_ * pace_now_ * part.step.at(now);
    movers_[k].step = tempo_ ? recipe_.tuning.tempo.psi(zeta_) * movers_[k].beat : movers_[k].beat;
    movers_[k].part.gamma = learnt_friction() * part.friction.at(now);
    movers_[k].part.T = heat_ * part.temperature.at(now);
    movers_[k].part.m = part.mass.at(now);
    movers_[k].part.h = movers_[k].step;
    if (!part.scheme.adaptive) continue;
    movers_[k].part.sigma = part.sigma.at(now);
    movers_[k].part.eps = part.eps.at(now);
    movers_[k].part.damping = part.damping->per_xi(movers_[k].part.eps);
  }
}

template <class Real>
void Chain<Real>::meet(std::size_t meeting) {
  const Move& move = recipe_.parts.front().scheme.moves[movers_.front().segments[meeting]];
  const Joint joint = move.letter->joint;
  evaluate(meeting);
  if (recipe_.heats) temper(meeting);
  if (joint == Joint::propose) propose();  // braces stand at the same meetings in all parts
  if (joint == Joint::decide) decide();
  if (joint == Joint::travel) travel();
  if (joint == Joint::tempo) follow_tempo(move);
}

template <class Real>
bool Chain<Real>::fresh(std::size_t meeting) const {
  if (pieces_[meeting] != pieces_[fresh_at_]) return false;
  for (std::size_t k = 0; k < movers_.size(); ++k)
    if (readers_[meeting][k] && !readers_[fresh_at_][k]) return false;
  return true;
}

// Only if some letter has moved q since the last time, or a part reads the gradient now that did not then. A new batch
// per change of q, not per step: the last B of one step and the first B of the next share a gradient.
template <class Real>
void Chain<Real>::evaluate(std::size_t meeting) {
  const auto& readers = readers_[meeting];
  if (std::none_of(readers.begin(), readers.end(), [](char reads) { return reads; })) return;
  if (!stale_ && fresh(meeting)) return;
  flush();
  if (stale_) ++evaluations_;
  fresh_at_ = meeting;
  if (energy_.noisy()) energy_.estimate.prepare({evaluation_key_, walker_, evaluations_ - 1, 0});
  U_ = energy_(q_, {batches_(evaluations_ - 1), pieces_[meeting], wanted_[meeting]}, g_);
  stale_ = false;
  if (gradient_noise_) gradient_noise_->see(energy_, q_, {covariance_key_, walker_, evaluations_ - 1, 0});
  if (!std::isfinite(U_) && !proposing_) diverged();
  if (reading_now_) read_energy();
}

// A string of pieces leaves the gradient of one of them; what is read is that of U.
template <class Real>
void Chain<Real>::read_whole_energy() {
  if (pieces_[fresh_at_] == 0) return;
  const bool stale = stale_;
  const std::uint64_t evaluations = evaluations_;
  evaluate(0);
  stale_ = stale, evaluations_ = evaluations;
}

template <class Real>
void Chain<Real>::read_energy() {
  const AskedFor asked = energy_.asked_for(U_, q_);
  reading_.energy = asked.energy;
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    if (!readers_[fresh_at_][k]) continue;
    const Part<Real>& s = movers_[k].part;
    double product = asked.slope * dot<Real>(s.q, s.g), entries = double(s.size() - recipe_.parts[k].frozen.size());
    for (const std::uint32_t i : recipe_.parts[k].frozen) product -= asked.slope * double(s.q[i]) * double(s.g[i]);
    reading_.parts[k].virial = product / 2;
    for (const auto& stretch : movers_[k].held.stretches)  // on a manifold <q.g> says nothing of T
      if (stretch.on) {
        product -= asked.slope *
                   dot<Real>(s.q.subspan(stretch.first, stretch.count), s.g.subspan(stretch.first, stretch.count));
        entries -= double(stretch.count + stretch.slack_count);
      }
    reading_.parts[k].configurational_temperature = entries > 0 ? product / entries : NAN;
  }
}

template <class Real>
double Chain<Real>::momentum_square(const Part<Real>& s) const {
  return dot<Real>(s.p, s.p) / s.m;
}

template <class Real>
double Chain<Real>::hamiltonian() const {
  double H = U_;
  if (unit_speed_) return H + movers_.front().part.T * work_;
  for (const Mover& mover : movers_) H += momentum_square(mover.part) / 2;
  return H;
}

template <class Real>
void Chain<Real>::propose() {
  flush();
  old_q_ = q_, old_p_ = p_, old_g_ = g_;
  old_energy_ = U_, old_hamiltonian_ = hamiltonian();
  proposing_ = true, irreversible_ = false;
}

// Accept with probability min(1, exp(-(H' - H)/T)); a path that blew up has infinite H'. On return p is reversed,
// without which a string that keeps part of p between proposals (GHMC) would not sample exp(-H/T).
template <class Real>
void Chain<Real>::decide() {
  flush();
  const double change = hamiltonian() - old_hamiltonian_, T = movers_.front().part.T;
  const bool accept = std::isfinite(change) && !irreversible_ &&
                      noise_->uniform({metropolis_key_, walker_, proposals_, 0}) < std::exp(-change / T);
  reading_.diverging |= !(change < 1000 * T);
  statistic_ += std::isfinite(change) ? std::min(1.0, std::exp(-change / T)) : 0;
  ++proposals_now_;
  ++proposals_;
  proposing_ = false;
  if (accept) {
    ++accepted_;
    return;
  }
  q_ = old_q_, g_ = old_g_, U_ = old_energy_;
  for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = -old_p_[i];
  if (reading_now_) read_energy();
}

template <class Real>
void Chain<Real>::take_reading() {
  flush();
  reading_.step = steps_, reading_.replica = replica_;
  reading_.acceptance = proposals_   ? double(accepted_) / double(proposals_)
                        : no_u_turn_ ? statistics_ / double(steps_)
                                     : 1;
  reading_.statistic = proposals_now_ ? statistic_ / double(proposals_now_) : 1;
  reading_.taken = tempo_ ? taken_ : movers_.front().step;
  if (recipe_.tempered) reading_.alpha = alpha();
  if (recipe_.weighed) reading_.log_weight = energy_.log_weight(q()) + weight_of_time();
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    PartReading& part = reading_.parts[k];
    part.kinetic_energy = momentum_square(movers_[k].part) / 2;
    part.kinetic_temperature = movers_[k].kinetic / double(recipe_.parts[k].freedom());
    part.xi = recipe_.parts[k].scheme.adaptive ? xi_[k] : NAN;
    const Held<Real>& held = movers_[k].held;
    part.residual = held.none() ? NAN : held.residual(movers_[k].part);
    part.tangency = held.none() ? NAN : held.tangency(movers_[k].part);
    part.fallbacks = fallbacks_[k];
    if (!recipe_.parts[k].scheme.has_momentum || unit_speed_)
      part.kinetic_energy = part.kinetic_temperature = part.tangency = NAN;
  }
}

template <class Real>
void Chain<Real>::diverged() const {
  std::size_t worst = 0;
  for (std::size_t k = movers_.size(); k-- > 0;)
    for (const Real x : movers_[k].part.q)
      if (!std::isfinite(x)) worst = k;
  throw Error(
      "U is {} at step {} of walker {}; part \"{}\" (scheme {}, step {}, temperature {}) has left the region where it "
      "is "
      "finite: try a smaller step, more friction or a prior",
      U_, steps_, walker_, recipe_.parts[worst].name, recipe_.parts[worst].scheme.text, movers_[worst].step,
      movers_[worst].part.T);
}

template class Chain<float>;
template class Chain<double>;

}  // namespace kelvin
