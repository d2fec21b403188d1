// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/chain.h"

#include <algorithm>
#include <cmath>

#include "kelvin/chain/checks.h"
#include "kelvin/chain/companion.h"
#include "kelvin/core/isa.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

std::unique_ptr<Companion<float>> make_companion(const CompanionRow& row, Chain<float>& chain) {
  return row.make_float(chain);
}
std::unique_ptr<Companion<double>> make_companion(const CompanionRow& row, Chain<double>& chain) {
  return row.make_double(chain);
}

}  // namespace

template <class Real>
Chain<Real>::Chain(Energy<Real> energy, const Recipe& recipe, Batches batches, const Noise<Real>& noise,
                   std::uint64_t seed, std::uint32_t walker)
    : energy_(std::move(energy)), batches_(std::move(batches)), seed_(seed), evaluation_key_(key("evaluation")) {
  workspace_.noise = &noise;
  workspace_.walker = walker;
  state_.replica = walker;
  const bool all_rows = batches_.full() && !energy_.noisy();
  check_recipe(recipe, all_rows, energy_.pieces());
  for (const Recipe& phase : recipe.later) check_recipe(phase, all_rows, energy_.pieces());
  check_tuning(recipe.tuning);
  energy_.arrange(recipe.blocks);
  program_ = std::make_shared<const Program>(recipe);
  later_ = recipe.later;
  state_.q.resize(recipe.size);
  state_.p.resize(recipe.size);
  state_.g.resize(recipe.size);
  state_.xi.resize(recipe.parts.size());
  state_.fallbacks.resize(recipe.parts.size());
  lay_out();
  for (const CompanionRow* row : companion_rows())
    if (auto made = make_companion(*row, *this)) companions_.push_back({row->name, std::move(made)});
  schedule();
}

template <class Real>
Chain<Real>::Chain(Chain&&) noexcept = default;
template <class Real>
Chain<Real>& Chain<Real>::operator=(Chain&&) noexcept = default;
template <class Real>
Chain<Real>::~Chain() = default;

// Everything that follows from the program.
template <class Real>
void Chain<Real>::lay_out() {
  const Recipe& recipe = program_->recipe;
  movers_.clear();
  movers_.reserve(recipe.parts.size());
  std::size_t memory = 0;
  for (const PartRecipe& part : recipe.parts) memory += std::size_t(part.scheme.memory) * part.size;
  state_.memory.assign(memory, Real(0));
  memory = 0;
  workspace_.normals_each = workspace_.from_each = 0;
  for (std::size_t k = 0; k < recipe.parts.size(); ++k) {
    Mover<Real>& mover = movers_.emplace_back(recipe, k, state_, seed_);
    Part<Real>& part = mover.part;
    const int each = recipe.parts[k].scheme.memory;
    if (each > 0) part.u = std::span(state_.memory).subspan(memory, part.size());
    if (each > 1) part.v = std::span(state_.memory).subspan(memory + part.size(), part.size());
    memory += std::size_t(each) * part.size();
    part.work = &mover.work;
    workspace_.normals_each = std::max(workspace_.normals_each, mover.most_normals());
    workspace_.from_each = std::max(workspace_.from_each, mover.tiling().room());
  }
  state_.fresh_at = 0;
  use_threads(workspace_.threads);
  state_.reading.parts.resize(recipe.parts.size());
}

template <class Real>
void Chain<Real>::use_threads(std::size_t threads) {
  workspace_.use_threads(threads, program_->scheme().proposes);
  energy_.estimate.use_threads(threads);
}

template <class Real>
ChainState<Real>& Chain<Real>::now() {
  flush();
  return state_;
}

template <class Real>
void Chain<Real>::flush() {
  for (Mover<Real>& mover : movers_) mover.flush(workspace_);
}

template <class Real>
void Chain<Real>::step() {
  const FlushToZero tiny_numbers;
  if (!later_.empty() && state_.steps == later_.front().begins) next_phase();
  schedule();
  record_ = {.reading = record_.reading};
  for (const auto& companion : companions_) companion.acts->before(*this);
  const auto [from, to] = left_out(0);
  for (std::size_t m = 0; m < program_->meetings.size(); ++m) {
    const std::size_t at = program_->segments.front()[m];
    if (m > 0 && (at < from || at >= to)) {
      evaluate(m);
      for (const auto& companion : companions_) companion.acts->meet(*this, program_->meetings[m]);
    }
    for (std::size_t k = 0; k < movers_.size(); ++k) run(k, m);
  }
  ++state_.steps;
  for (const auto& companion : companions_) companion.acts->after(*this);
}

template <class Real>
void Chain<Real>::step_and_read() {
  const FlushToZero tiny_numbers;
  record_.reading = true;
  step();
  // The next step would begin with this gradient: no more work, only sooner.
  if (state_.stale && program_->starts_still && program_->meetings.size() > 1) evaluate(1);
  read_whole_energy();
  take_reading();
  record_.reading = false;
}

// The constants of this step; letters never meet a schedule.
template <class Real>
void Chain<Real>::schedule() {
  factors_ = {.pace = state_.pace};
  for (const auto& companion : companions_) companion.acts->schedule(*this, factors_);
  const double now = double(program_->since_beginning(state_.steps));
  for (Mover<Real>& mover : movers_) {
    const PartRecipe& recipe = mover.recipe();
    Part<Real>& part = mover.part;
    mover.beat = outside_.pace * factors_.pace * recipe.step.at(now);
    mover.step = factors_.tempo * mover.beat;
    part.gamma = state_.friction * recipe.friction.at(now);
    part.T = outside_.heat * recipe.temperature.at(now);
    part.m = recipe.mass.at(now);
    part.h = mover.step;
    if (!recipe.scheme.adaptive) continue;
    part.sigma = recipe.sigma.at(now);
    part.eps = recipe.eps.at(now);
    part.damping = recipe.damping->per_xi(part.eps);
  }
}

// The moves [first, second) of a part that this step leaves out; without jitter none.
template <class Real>
std::pair<std::size_t, std::size_t> Chain<Real>::left_out(std::size_t part) const {
  if (factors_.repeats == 0) return {0, 0};
  const Repeats& r = program_->recipe.parts[part].scheme.repeats;
  return {r.first + factors_.repeats * r.letters, r.first + r.times * r.letters};
}

// The moves of part k that follow a meeting.
template <class Real>
void Chain<Real>::run(std::size_t k, std::size_t meeting) {
  const std::size_t first = program_->segments[k][meeting], last = program_->segments[k][meeting + 1];
  const std::size_t reads = movers_[k].recipe().scheme.kinetic_after;
  if (const auto [from, to] = left_out(k); first < to && last > from) {
    if (first < from) put_off(k, first, from);
    if (to < last) put_off(k, to, last);
  } else if (record_.reading && first < reads && reads <= last) {
    put_off(k, first, reads);
    flush();
    movers_[k].kinetic = movers_[k].momentum_square();
    put_off(k, reads, last);
  } else {
    put_off(k, first, last);
  }
}

template <class Real>
void Chain<Real>::put_off(std::size_t k, std::size_t first_move, std::size_t last_move) {
  const bool moved = movers_[k].put_off(first_move, last_move, state_.steps, workspace_);
  if (moved && !program_->moves_bath(k)) state_.stale = 1;
}

template <class Real>
bool Chain<Real>::fresh(const Meeting& meeting) const {
  const Meeting& last = program_->meetings[state_.fresh_at];
  if (meeting.piece != last.piece) return false;
  for (std::size_t k = 0; k < movers_.size(); ++k)
    if (meeting.readers[k] && !last.readers[k]) return false;
  return true;
}

// Only if some letter has moved q since the last time, or a part reads the gradient now that did not then. A new batch
// per change of q, not per step: the last B of one step and the first B of the next share a gradient.
template <class Real>
void Chain<Real>::evaluate(std::size_t m) {
  const bool moved = state_.stale;
  if (take_gradient(m) && moved) energy_.update_buffers(state_.q);  // once for each evaluation, whoever else reads it
}

template <class Real>
bool Chain<Real>::take_gradient(std::size_t m) {
  const Meeting& meeting = program_->meetings[m];
  if (std::ranges::none_of(meeting.readers, [](char reads) { return reads; })) return false;
  if (!state_.stale && fresh(meeting)) return false;
  flush();
  if (state_.stale) ++state_.evaluations;
  state_.fresh_at = m;
  const std::uint64_t number = state_.evaluations - 1;
  Stream stream{evaluation_key_, walker(), number, 0};
  if (energy_.noisy()) energy_.estimate.prepare(stream);
  stream.key = ~stream.key;  // layers draw by a key of their own
  state_.energy = energy_(state_.q, {batches_(number), meeting.piece, meeting.wanted, stream}, state_.g);
  state_.stale = 0;
  for (const auto& companion : companions_) companion.acts->evaluated(*this);
  if (!std::isfinite(state_.energy) && !record_.may_diverge) diverged();
  read_energy();
  return true;
}

// A string of pieces leaves the gradient of one of them; what is read is that of U.
template <class Real>
void Chain<Real>::read_whole_energy() {
  if (program_->meetings[state_.fresh_at].piece == 0) return;
  const auto stale = state_.stale;
  const std::uint64_t evaluations = state_.evaluations;
  take_gradient(0);
  state_.stale = stale;
  state_.evaluations = evaluations;
}

template <class Real>
void Chain<Real>::read_energy() {
  if (!record_.reading) return;
  const AskedFor asked = energy_.asked_for(state_.energy, state_.q);
  const std::vector<char>& readers = program_->meetings[state_.fresh_at].readers;
  state_.reading.energy = asked.energy;
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    if (!readers[k]) continue;
    const Part<Real>& s = movers_[k].part;
    const auto& frozen = movers_[k].recipe().frozen;
    double product = asked.slope * dot<Real>(s.q, s.g), entries = double(s.size() - frozen.size());
    for (const std::uint32_t i : frozen) product -= asked.slope * double(s.q[i]) * double(s.g[i]);
    state_.reading.parts[k].virial = product / 2;
    for (const auto& tile : movers_[k].tiling().tiles)  // on a manifold <q.g> says nothing of T
      if (tile.on) {
        product -= asked.slope * dot<Real>(s.q.subspan(tile.first, tile.count), s.g.subspan(tile.first, tile.count));
        entries -= double(tile.count + tile.slack_count);
      }
    state_.reading.parts[k].configurational_temperature = entries > 0 ? product / entries : NAN;
  }
}

template <class Real>
double Chain<Real>::hamiltonian() const {
  double H = state_.energy;
  for (const Mover<Real>& mover : movers_) H += mover.kinetic_energy();
  return H;
}

template <class Real>
void Chain<Real>::take_reading() {
  flush();
  Reading& reading = state_.reading;
  reading.step = state_.steps;
  reading.replica = state_.replica;
  reading.acceptance = 1;
  reading.diverging = record_.diverging;
  reading.statistic = record_.proposals ? record_.acceptance / double(record_.proposals) : 1;
  reading.taken = movers_.front().step;
  if (program_->recipe.weighed) reading.log_weight = energy_.log_weight(q());
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    const Mover<Real>& mover = movers_[k];
    const PartRecipe& recipe = mover.recipe();
    PartReading& part = reading.parts[k];
    part.kinetic_energy = mover.momentum_square() / 2;
    part.kinetic_temperature = mover.kinetic / double(recipe.freedom());
    part.xi = recipe.scheme.adaptive ? state_.xi[k] : NAN;
    const bool free = mover.tiling().none();
    part.residual = free ? NAN : mover.tiling().residual(mover.part);
    part.tangency = free ? NAN : mover.tiling().tangency(mover.part);
    part.fallbacks = state_.fallbacks[k];
    if (!recipe.scheme.has_momentum || recipe.scheme.unit_speed)
      part.kinetic_energy = part.kinetic_temperature = part.tangency = NAN;
    if (recipe.temperature.rests() && mover.part.T == 0) reading.log_weight = -INFINITY;  // a draw from no law
  }
  for (const auto& companion : companions_) companion.acts->read(*this, reading);
}

template <class Real>
void Chain<Real>::diverged() const {
  std::size_t worst = 0;
  for (std::size_t k = movers_.size(); k-- > 0;)
    for (const Real x : movers_[k].part.q)
      if (!std::isfinite(x)) worst = k;
  const PartRecipe& part = movers_[worst].recipe();
  throw Error(
      "U is {} at step {} of walker {}; part \"{}\" (scheme {}, step {}, temperature {}) has left the region where it "
      "is finite: try a smaller step, more friction or a prior",
      state_.energy, state_.steps, walker(), part.name, part.scheme.text, movers_[worst].step, movers_[worst].part.T);
}

template class Chain<float>;
template class Chain<double>;

}  // namespace kelvin
