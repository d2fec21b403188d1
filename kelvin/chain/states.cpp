// SPDX-License-Identifier: Apache-2.0
// Where a chain stands: how it starts, is put somewhere, goes on in another phase, and what is kept of it or exchanged.
#include <algorithm>
#include <cmath>

#include "kelvin/chain/companion.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

bool forgets_p(const PartRecipe& part, double gamma) {
  return std::ranges::any_of(part.scheme.moves, [&](const Move& m) { return m.letter->forgets(gamma); });
}

}  // namespace

template <class Real>
void Chain<Real>::place(std::span<const Real> q, std::span<const Real> p) {
  for (Mover<Real>& mover : movers_) mover.forget();
  std::copy(q.begin(), q.end(), state_.q.begin());
  std::copy(p.begin(), p.end(), state_.p.begin());
  for (const auto& [at, value] : program_->recipe.fixed) state_.q[at] = Real(value);
  for (Mover<Real>& mover : movers_) mover.hold_frozen();
  state_.stale = 1;
}

template <class Real>
void Chain<Real>::move_in(std::unique_ptr<LowRankMetric<Real>> metric, std::span<const Real> q) {
  flush();
  LargeArray<Real> x(q.begin(), q.end());
  if (metric) energy_.coordinates = std::move(metric);
  if (energy_.coordinates) energy_.coordinates->to_coordinates(x);
  if (!state_.stale) --state_.evaluations;  // the gradient is taken again in the new coordinates, on the same rows
  place(x, LargeArray<Real>(state_.p));
  for (const auto& companion : companions_) companion.acts->moved(*this);
}

// p keeps its numbers, which have the same law in both coordinates.
template <class Real>
void Chain<Real>::stand_on(std::span<const double> factor) {
  const std::span<const Real> q = this->q();
  LargeArray<Real> x(q.begin(), q.end());
  energy_.coordinates->use(factor);
  energy_.coordinates->to_coordinates(x);
  if (!state_.stale) --state_.evaluations;
  place(x, LargeArray<Real>(state_.p));
  for (const auto& companion : companions_) companion.acts->moved(*this);
}

template <class Real>
double Chain<Real>::gradient_at(std::span<const Real> x, std::span<Real> g) {
  return energy_(x, {.rows = batches_(state_.evaluations)}, g);
}

template <class Real>
Replica<Real> Chain<Real>::replica_now() {
  const auto at = q();
  const auto anchor = energy_.memory();
  Replica<Real> out{.number = state_.replica,
                    .q = {at.begin(), at.end()},
                    .p = {state_.p.begin(), state_.p.end()},
                    .memory = state_.memory,
                    .anchor = {anchor.begin(), anchor.end()}};
  for (Real& x : out.p) x /= Real(std::sqrt(outside_.heat));
  return out;
}

template <class Real>
void Chain<Real>::take(const Replica<Real>& replica) {
  flush();
  state_.replica = replica.number;
  LargeArray<Real> x(replica.q.begin(), replica.q.end()), p(replica.p.begin(), replica.p.end());
  if (energy_.coordinates) energy_.coordinates->to_coordinates(x);
  for (Real& y : p) y *= Real(std::sqrt(outside_.heat));
  if (!state_.stale) --state_.evaluations;
  place(x, p);
  std::copy(replica.memory.begin(), replica.memory.end(), state_.memory.begin());
  std::copy(replica.anchor.begin(), replica.anchor.end(), energy_.memory().begin());
  for (const auto& companion : companions_) companion.acts->moved(*this);
}

template <class Real>
double Chain<Real>::energy_on(Batch rows) {
  flush();
  const bool known = !state_.stale && program_->meetings[state_.fresh_at].piece == 0;
  if (known && rows.empty() && batches_.full() && !energy_.noisy()) return state_.energy;
  std::vector<Real> unused(state_.q.size());
  return energy_(state_.q, {.rows = rows}, unused);
}

template <class Real>
void Chain<Real>::begin_with_bias(std::span<const double> learnt) {
  if (learnt.size() != learnt_bias().size() || learnt.empty())
    throw Error("a bias of {} numbers does not fit one of {}", learnt.size(), learnt_bias().size());
  std::copy(learnt.begin(), learnt.end(), energy_.law->learnt().begin());
}

template <class Real>
ChainState<Real> Chain<Real>::state() {
  ChainState<Real> out = now();
  const auto anchor = energy_.memory();
  out.anchor.assign(anchor.begin(), anchor.end());
  out.bias.assign(learnt_bias().begin(), learnt_bias().end());
  out.factor.assign(learnt_factor().begin(), learnt_factor().end());
  Archive archive;
  for (const auto& companion : companions_) {
    archive.prefix = std::string(companion.name) + ".";
    companion.acts->fields(archive);
  }
  out.companions = archive.fields();
  return out;
}

template <class Real>
void Chain<Real>::restore(const ChainState<Real>& from) {
  while (!later_.empty() && later_.front().begins < from.steps) next_recipe();
  const std::size_t size = state_.q.size();
  if (from.q.size() != size || from.p.size() != size || from.g.size() != size || from.xi.size() != state_.xi.size())
    throw Error("a state of {} parameters does not fit a chain of {}", from.q.size(), size);
  if (from.factor.size() != learnt_factor().size() || from.anchor.size() != energy_.memory().size() ||
      from.bias.size() != learnt_bias().size())
    throw Error("a state of a chain that adapts otherwise does not fit this one");
  state_.steps = from.steps;
  state_.replica = from.replica;
  state_.pace = from.pace;
  state_.put_back = from.put_back;
  state_.put_back_later = from.put_back_later;
  state_.friction = from.friction;
  Archive archive(from.companions);
  for (const auto& companion : companions_) {
    archive.prefix = std::string(companion.name) + ".";
    companion.acts->fields(archive);
  }
  std::copy(from.anchor.begin(), from.anchor.end(), energy_.memory().begin());
  if (energy_.coordinates) energy_.coordinates->use(from.factor);
  if (!from.bias.empty()) begin_with_bias(from.bias);
  for (const auto& companion : companions_) companion.acts->arrive(*this);
  schedule();
  place(from.q, from.p);
  std::copy(from.g.begin(), from.g.end(), state_.g.begin());
  std::copy(from.xi.begin(), from.xi.end(), state_.xi.begin());
  std::copy_n(from.memory.begin(), std::min(from.memory.size(), state_.memory.size()), state_.memory.begin());
  std::copy_n(from.fallbacks.begin(), std::min(from.fallbacks.size(), state_.fallbacks.size()),
              state_.fallbacks.begin());
  state_.evaluations = from.evaluations;
  state_.energy = from.energy;
  state_.stale = from.stale;
  state_.fresh_at = std::min<std::uint64_t>(from.fresh_at, program_->meetings.size() - 1);
  if (from.reading.parts.size() == state_.reading.parts.size()) state_.reading = from.reading;
  else if (!state_.stale) {
    record_.reading = true;
    read_energy();
    record_.reading = false;
  }
}

template <class Real>
void Chain<Real>::start(std::span<const Real> q) {
  std::vector<Real> settled(q.begin(), q.end());
  settle<Real>(program_->recipe, settled, [](std::string_view) {});
  for (const auto& companion : companions_) companion.acts->arrive(*this);
  begin(settled, std::vector<char>(movers_.size(), 0));
  for (const auto& companion : companions_) companion.acts->start(*this);
}

template <class Real>
void Chain<Real>::next_recipe() {
  program_ = std::make_shared<const Program>(std::move(later_.front()));
  later_.erase(later_.begin());
  lay_out();
}

// Momenta last into the next phase where they mean something in both and its string does not forget them.
template <class Real>
void Chain<Real>::next_phase() {
  flush();
  std::vector<char> keeps_p;
  for (const Mover<Real>& mover : movers_) keeps_p.push_back(mover.recipe().scheme.has_momentum);
  const bool unit_speed = program_->scheme().unit_speed;
  next_recipe();
  for (const auto& companion : companions_) companion.acts->arrive(*this);
  for (std::size_t k = 0; k < keeps_p.size(); ++k)
    keeps_p[k] &= char(movers_[k].recipe().scheme.has_momentum && unit_speed == program_->scheme().unit_speed);
  if (!state_.stale) --state_.evaluations;  // the gradient is taken again for those who read it now, on the same rows
  begin(LargeArray<Real>(state_.q), keeps_p);
}

template <class Real>
void Chain<Real>::begin(std::span<const Real> q, const std::vector<char>& keeps_p) {
  schedule();
  std::vector<Real> p(state_.p.size(), 0);
  std::fill(state_.memory.begin(), state_.memory.end(), Real(0));
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    const Part<Real>& s = movers_[k].part;
    const PartRecipe& recipe = movers_[k].recipe();
    state_.xi[k] = recipe.xi;
    const auto mine = std::span(p).subspan(recipe.offset, s.size());
    noise().normals({key("start " + recipe.name), walker(), state_.steps, 0}, 0, mine);
    for (Real& x : mine) x *= Real(std::sqrt(s.m * s.T));
    if (recipe.scheme.unit_speed) {
      const double size = std::sqrt(dot<Real>(mine, mine));
      for (Real& x : mine) x = Real(double(x) / size);
    }
    if (keeps_p[k] && !forgets_p(recipe, s.gamma)) std::copy(s.p.begin(), s.p.end(), mine.begin());
  }
  place(q, p);
  for (Mover<Real>& mover : movers_) mover.tangent();
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    const auto& moves = movers_[k].recipe().scheme.moves;
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
  template void Chain<Real>::stand_on(std::span<const double>);                                    \
  template double Chain<Real>::gradient_at(std::span<const Real>, std::span<Real>);                \
  template Replica<Real> Chain<Real>::replica_now();                                               \
  template void Chain<Real>::take(const Replica<Real>&);                                           \
  template double Chain<Real>::energy_on(Batch);                                                   \
  template void Chain<Real>::begin_with_bias(std::span<const double>);                             \
  template ChainState<Real> Chain<Real>::state();                                                  \
  template void Chain<Real>::restore(const ChainState<Real>&);                                     \
  template void Chain<Real>::start(std::span<const Real>);                                         \
  template void Chain<Real>::next_phase();
KELVIN_MEMBERS(float)
KELVIN_MEMBERS(double)
#undef KELVIN_MEMBERS

}  // namespace kelvin
