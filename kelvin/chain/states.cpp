// SPDX-License-Identifier: Apache-2.0
// Where a chain stands: how it starts, is put somewhere, goes on in another phase, and what is kept of it or exchanged.
#include <algorithm>
#include <cmath>

#include "kelvin/chain/chain.h"
#include "kelvin/chain/checks.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

bool forgets_p(const PartRecipe& part, double gamma) {
  return std::ranges::any_of(part.scheme.moves, [&](const Move& m) { return m.letter->forgets(gamma); });
}

}  // namespace

template <class Real>
void Chain<Real>::place(std::span<const Real> q, std::span<const Real> p) {
  for (Mover& mover : movers_) mover.pending.clear();
  std::copy(q.begin(), q.end(), q_.begin());
  std::copy(p.begin(), p.end(), p_.begin());
  for (const auto& [at, value] : recipe_.fixed) q_[at] = Real(value);
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    for (std::size_t i = 0; i < movers_[k].frozen.size(); ++i)
      movers_[k].frozen[i] = movers_[k].part.q[recipe_.parts[k].frozen[i]];
    restore_frozen(k);
  }
  stale_ = true;
}

template <class Real>
void Chain<Real>::move_in(std::unique_ptr<LowRankMetric<Real>> metric, std::span<const Real> q) {
  flush();
  LargeArray<Real> x(q.begin(), q.end());
  if (metric) energy_.coordinates = std::move(metric);
  if (energy_.coordinates) energy_.coordinates->to_coordinates(x);
  if (!stale_) --evaluations_;  // the gradient is taken again in the new coordinates, on the same rows
  place(x, LargeArray<Real>(p_));
}

template <class Real>
double Chain<Real>::gradient_at(std::span<const Real> x, std::span<Real> g) {
  return energy_(x, {.rows = batches_(evaluations_)}, g);
}

template <class Real>
Replica<Real> Chain<Real>::replica_now() {
  const auto at = q();
  const auto memory = energy_.memory();
  Replica<Real> out{replica_, {at.begin(), at.end()}, {p_.begin(), p_.end()}, memory_, {memory.begin(), memory.end()}};
  for (Real& x : out.p) x /= Real(std::sqrt(heat_));
  return out;
}

template <class Real>
void Chain<Real>::take(const Replica<Real>& replica) {
  flush();
  replica_ = replica.number;
  LargeArray<Real> x(replica.q.begin(), replica.q.end()), p(replica.p.begin(), replica.p.end());
  if (energy_.coordinates) energy_.coordinates->to_coordinates(x);
  for (Real& y : p) y *= Real(std::sqrt(heat_));
  if (!stale_) --evaluations_;
  place(x, p);
  std::copy(replica.memory.begin(), replica.memory.end(), memory_.begin());
  std::copy(replica.anchor.begin(), replica.anchor.end(), energy_.memory().begin());
}

template <class Real>
double Chain<Real>::energy_on(Batch rows) {
  flush();
  if (rows.empty() && !stale_ && batches_.full() && !energy_.noisy() && pieces_[fresh_at_] == 0) return U_;
  std::vector<Real> unused(q_.size());
  return energy_(q_, {.rows = rows}, unused);
}

template <class Real>
ChainState<Real> Chain<Real>::state() {
  flush();
  const auto copy = [](const auto& from) { return std::vector<Real>(from.begin(), from.end()); };
  return {steps_,
          evaluations_,
          proposals_,
          accepted_,
          fresh_at_,
          U_,
          zeta_,
          std::uint8_t(stale_),
          copy(q_),
          copy(p_),
          copy(g_),
          xi_,
          memory_,
          fallbacks_,
          statistics_,
          gradient_noise_ ? gradient_noise_->state() : std::vector<Real>(),
          copy(energy_.memory()),
          std::vector<double>(learnt_bias().begin(), learnt_bias().end()),
          tuner_ ? tuner_->state() : std::vector<double>(),
          std::vector<double>(learnt_factor().begin(), learnt_factor().end()),
          replica_,
          reading_};
}

template <class Real>
void Chain<Real>::restore(const ChainState<Real>& s) {
  while (!recipe_.later.empty() && recipe_.later.front().begins < s.steps) next_recipe();
  if (s.q.size() != q_.size() || s.p.size() != q_.size() || s.g.size() != q_.size() || s.xi.size() != xi_.size())
    throw Error("a state of {} parameters does not fit a chain of {}", s.q.size(), q_.size());
  if (s.learnt.size() != (tuner_ ? tuner_->state().size() : 0) || s.factor.size() != learnt_factor().size() ||
      s.anchor.size() != energy_.memory().size() || s.bias.size() != learnt_bias().size())
    throw Error("a state of a chain that adapts otherwise does not fit this one");
  steps_ = s.steps, statistics_ = s.statistics, zeta_ = s.zeta, replica_ = s.replica;
  if (tuner_) tuner_->restore(s.learnt);
  if (gradient_noise_) gradient_noise_->restore(s.covariance);
  std::copy(s.anchor.begin(), s.anchor.end(), energy_.memory().begin());
  if (energy_.coordinates) energy_.coordinates->use(s.factor);
  if (tempered_) begin_with_bias(s.bias), let_learn();
  schedule();
  place(s.q, s.p);
  std::copy(s.g.begin(), s.g.end(), g_.begin());
  std::copy(s.xi.begin(), s.xi.end(), xi_.begin());
  std::copy(s.memory.begin(), s.memory.end(), memory_.begin());
  std::copy(s.fallbacks.begin(), s.fallbacks.end(), fallbacks_.begin());
  evaluations_ = s.evaluations, proposals_ = s.proposals, accepted_ = s.accepted;
  U_ = s.energy, stale_ = s.stale, fresh_at_ = std::min<std::size_t>(s.fresh_at, meetings_);
  if (s.reading.parts.size() == reading_.parts.size()) reading_ = s.reading;
  else if (!stale_) read_energy();
}

template <class Real>
void Chain<Real>::start(std::span<const Real> q) {
  std::vector<Real> settled(q.begin(), q.end());
  settle<Real>(recipe_, settled, [](std::string_view) {});
  if (tempered_) let_learn();
  begin(settled, std::vector<char>(movers_.size(), 0));
  if (tempo_) start_tempo();
  if (tuner_ && tuner_->by_acceptance()) guess_pace();
}

template <class Real>
void Chain<Real>::next_recipe() {
  Recipe next = std::move(recipe_.later.front());
  next.later.assign(std::make_move_iterator(recipe_.later.begin() + 1), std::make_move_iterator(recipe_.later.end()));
  recipe_ = std::move(next);
  lay_out();
}

// Momenta last into the next phase where they mean something in both and its string does not forget them.
template <class Real>
void Chain<Real>::next_phase() {
  flush();
  std::vector<char> keeps_p;
  const bool unit_speed = unit_speed_;
  for (const PartRecipe& part : recipe_.parts) keeps_p.push_back(part.scheme.has_momentum);
  next_recipe();
  if (tempered_) let_learn();
  for (std::size_t k = 0; k < keeps_p.size(); ++k)
    keeps_p[k] &= char(recipe_.parts[k].scheme.has_momentum && unit_speed == unit_speed_);
  if (!stale_) --evaluations_;  // the gradient is taken again for those who read it now, on the same rows
  begin(LargeArray<Real>(q_), keeps_p);
}

template <class Real>
void Chain<Real>::begin(std::span<const Real> q, const std::vector<char>& keeps_p) {
  schedule();
  std::vector<Real> p(p_.size(), 0);
  std::fill(memory_.begin(), memory_.end(), Real(0));
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    const Part<Real>& s = movers_[k].part;
    xi_[k] = recipe_.parts[k].xi;
    const auto mine = std::span(p).subspan(recipe_.parts[k].offset, s.size());
    noise_->normals({stream_key(seed_, "start " + recipe_.parts[k].name), walker_, steps_, 0}, 0, mine);
    for (Real& x : mine) x *= Real(std::sqrt(s.m * s.T));
    if (unit_speed_) {
      const double size = std::sqrt(dot<Real>(mine, mine));
      for (Real& x : mine) x = Real(double(x) / size);
    }
    if (keeps_p[k] && !forgets_p(recipe_.parts[k], s.gamma)) std::copy(s.p.begin(), s.p.end(), mine.begin());
  }
  place(q, p);
  for (Mover& mover : movers_) mover.held.tangent(mover.part);
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    const auto& moves = recipe_.parts[k].scheme.moves;
    const auto forgets = [&](const Move& m) { return m.letter->forgets(movers_[k].part.gamma); };
    const auto last = std::find_if(moves.rbegin(), moves.rend(), forgets).base();
    if (last == moves.begin() || forgets(moves.front())) continue;
    evaluate(0);
    for (std::size_t at = std::size_t(last - moves.begin()); at < moves.size(); ++at)
      if (!moves[at].letter->moves_q && !moves[at].letter->normals && !moves[at].letter->whole) put_off(k, at, at + 1);
  }
}

#define KELVIN_MEMBERS(Real)                                                                       \
  template void Chain<Real>::place(std::span<const Real>, std::span<const Real>);                  \
  template void Chain<Real>::move_in(std::unique_ptr<LowRankMetric<Real>>, std::span<const Real>); \
  template double Chain<Real>::gradient_at(std::span<const Real>, std::span<Real>);                \
  template Replica<Real> Chain<Real>::replica_now();                                               \
  template void Chain<Real>::take(const Replica<Real>&);                                           \
  template double Chain<Real>::energy_on(Batch);                                                   \
  template ChainState<Real> Chain<Real>::state();                                                  \
  template void Chain<Real>::restore(const ChainState<Real>&);                                     \
  template void Chain<Real>::start(std::span<const Real>);                                         \
  template void Chain<Real>::next_phase();
KELVIN_MEMBERS(float)
KELVIN_MEMBERS(double)
#undef KELVIN_MEMBERS

}  // namespace kelvin
