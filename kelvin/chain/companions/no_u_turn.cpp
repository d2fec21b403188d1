// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/companions/no_u_turn.h"

#include <cmath>

#include "kelvin/chain/companion.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

constexpr double hopeless = 1000;  // rise of H, in units of T, that ends a path

double log_sum(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}

template <class Real>
void add_to(LargeArray<Real>& sum, const LargeArray<Real>& x) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
}

}  // namespace

template <class Real>
NoUTurn<Real>::NoUTurn(std::size_t size, int deepest) : deepest_(deepest), spare_(std::size_t(deepest)) {
  const auto make = [&](Point& point) {
    for (auto* v : {&point.q, &point.p, &point.g}) v->resize(size);
  };
  const auto plant = [&](Tree& tree) {
    for (auto* v : {&tree.near, &tree.far, &tree.sum}) v->resize(size);
    make(tree.drawn);
  };
  for (Point& end : ends_) make(end);
  plant(whole_);
  plant(grown_);
  for (Tree& tree : spare_) plant(tree);
}

template <class Real>
double NoUTurn<Real>::uniform() {
  const double u = noise_->uniform(stream_);
  ++stream_.place;
  return u;
}

template <class Real>
void NoUTurn<Real>::save(Point& to) const {
  std::copy(space_->q.begin(), space_->q.end(), to.q.begin());
  std::copy(space_->p.begin(), space_->p.end(), to.p.begin());
  std::copy(space_->g.begin(), space_->g.end(), to.g.begin());
  to.energy = *space_->energy;
}

template <class Real>
void NoUTurn<Real>::load(const Point& from) const {
  std::copy(from.q.begin(), from.q.end(), space_->q.begin());
  std::copy(from.p.begin(), from.p.end(), space_->p.begin());
  std::copy(from.g.begin(), from.g.end(), space_->g.begin());
  *space_->energy = from.energy;
}

// The ends of a stretch move apart as long as both have a positive product with the sum of its momenta. Asked of the
// whole, and of each half together with the first point of the other.
template <class Real>
bool NoUTurn<Real>::straight(const Tree& first, const Tree& second) const {
  const auto& dot = space_->product;
  const auto together = [&](const auto& end, const auto& sum, const auto& more) {
    return dot(end, sum) + dot(end, more) > 0;
  };
  return together(first.near, first.sum, second.sum) && together(second.far, first.sum, second.sum) &&
         together(first.near, first.sum, second.near) && together(second.near, first.sum, second.near) &&
         together(first.far, second.sum, first.far) && together(second.far, second.sum, first.far);
}

template <class Real>
bool NoUTurn<Real>::leaf(int direction, Tree& out) {
  space_->leap(direction);
  ++so_far_.leaps;
  double change = (space_->hamiltonian() - start_) / T_;
  if (std::isnan(change)) change = INFINITY;
  so_far_.acceptance += std::min(1.0, std::exp(-change));
  so_far_.diverging |= change > hopeless;
  std::copy(space_->p.begin(), space_->p.end(), out.near.begin());
  out.far = out.sum = out.near;
  out.log_weight = -change;
  save(out.drawn);
  return !so_far_.diverging;
}

// 2^level steps onwards from where the space is; false if a part of them turns or diverges: then from some of its
// points this path would not have come about, and none of them may be drawn.
template <class Real>
bool NoUTurn<Real>::build(int level, int direction, Tree& out) {
  if (level == 0) return leaf(direction, out);
  Tree& second = spare_[std::size_t(level)];
  if (!build(level - 1, direction, out) || !build(level - 1, direction, second)) return false;
  const double both = log_sum(out.log_weight, second.log_weight);
  if (std::log(uniform()) < second.log_weight - both) std::swap(out.drawn, second.drawn);
  const bool on = goes_on(out, second);
  add_to(out.sum, second.sum);
  std::swap(out.far, second.far);
  out.log_weight = both;
  return on;
}

template <class Real>
Travelled NoUTurn<Real>::travel(const PathSpace<Real>& space, double T, const Noise<Real>& noise, Stream stream) {
  space_ = &space;
  noise_ = &noise;
  stream_ = stream;
  T_ = T;
  so_far_ = {};
  start_ = space.hamiltonian();
  for (Point& end : ends_) save(end);
  save(whole_.drawn);
  whole_.sum = ends_[0].p;
  whole_.log_weight = 0;
  while (so_far_.depth < deepest_) {
    const bool forwards = uniform() > 0.5;
    load(ends_[forwards]);
    whole_.near = ends_[!forwards].p;
    whole_.far = ends_[forwards].p;
    if (!build(so_far_.depth, forwards ? 1 : -1, grown_)) break;
    save(ends_[forwards]);
    ++so_far_.depth;
    // The newer half is preferred: min(1, ratio of weights) leads further than a draw from both and is as right.
    if (std::log(uniform()) < grown_.log_weight - whole_.log_weight) std::swap(whole_.drawn, grown_.drawn);
    whole_.log_weight = log_sum(whole_.log_weight, grown_.log_weight);
    if (!straight(whole_, grown_)) break;
    add_to(whole_.sum, grown_.sum);
  }
  load(whole_.drawn);
  so_far_.acceptance /= double(so_far_.leaps);
  return so_far_;
}

template class NoUTurn<float>;
template class NoUTurn<double>;

// ---- the chain's side

namespace {

constexpr Letter no_u_turn_letters[] = {
    companion_letter(
        'N', {.proposes = true, .travels = true},
        "no-U-turn: a path of leapfrog steps that doubles until it turns, and one of its points by weight"),
};

const Letter& letter_named(char symbol) {
  return *std::ranges::find_if(letters(), [&](const Letter& l) { return l.symbol == symbol; });
}

template <class Real>
class NoUTurnPath final : public Companion<Real> {
 public:
  static bool needed(const Chain<Real>& chain) {
    return chain.in_some_phase([](const Recipe& recipe) { return recipe.parts.front().scheme.travels; });
  }
  explicit NoUTurnPath(Chain<Real>& chain) : key_(chain.key("path")), sampler_(chain.recipe().size) {}

  void meet(Chain<Real>& chain, const Meeting& meeting) override {
    if (!meeting.move->letter->travels) return;
    way_ = sampler_.travel(path_space(chain), chain.temperature(), chain.noise(),
                           {key_, chain.walker(), chain.steps(), 0});
    chain.step_record().acceptance += way_.acceptance;
    ++chain.step_record().proposals;
    chain.step_record().diverging |= way_.diverging;
    acceptances_ += way_.acceptance;
    ++paths_;
    chain.read_energy();
  }
  void read(Chain<Real>&, Reading& reading) const override {
    if (paths_ == 0) return;
    reading.acceptance = acceptances_ / double(paths_);
    reading.depth = way_.depth;
    reading.leaps = way_.leaps;
  }
  void fields(Archive& field) override {
    field("acceptances", acceptances_);
    field("paths", paths_);
  }

 private:
  static PathSpace<Real> path_space(Chain<Real>& chain) {
    ChainState<Real>& state = chain.now();
    return {.q = state.q,
            .p = state.p,
            .g = state.g,
            .energy = &state.energy,
            .leap = [&chain](int direction) { leapfrog(chain, direction); },
            .hamiltonian = [&chain] { return chain.hamiltonian(); },
            .product =
                [&chain](std::span<const Real> a, std::span<const Real> b) {
                  double sum = 0;
                  for (const Mover<Real>& mover : chain.movers()) {
                    const std::size_t at = mover.recipe().offset, size = mover.recipe().size;
                    sum += dot<Real>(a.subspan(at, size), b.subspan(at, size)) / mover.part.m;
                  }
                  return sum;
                }};
  }

  std::uint64_t key_;
  NoUTurn<Real> sampler_;
  Travelled way_;            // of this step
  double acceptances_ = 0;   // sum over all steps
  std::uint64_t paths_ = 0;  // their number
};

}  // namespace

template <class Real>
void leapfrog(Chain<Real>& chain, int direction) {
  static const Letter &kick = letter_named('B'), &drift = letter_named('A');
  const double share = direction * chain.program().leap_share;
  ChainState<Real>& state = chain.now();
  for (Mover<Real>& mover : chain.movers()) {
    kick.flow(mover.part, share * mover.step / 2, {});
    drift.flow(mover.part, share * mover.step, {});
    mover.restore_frozen();
  }
  const Meeting& last = chain.program().meetings[state.fresh_at];
  state.energy = chain.energy()(state.q, {.rows = chain.batches()(state.evaluations), .wanted = last.wanted}, state.g);
  ++state.evaluations;
  for (Mover<Real>& mover : chain.movers()) {
    kick.flow(mover.part, share * mover.step / 2, {});
    mover.restore_frozen();
  }
}

template void leapfrog(Chain<float>&, int);
template void leapfrog(Chain<double>&, int);

KELVIN_COMPANION_ROW(no_u_turn, NoUTurnPath, no_u_turn_letters)

}  // namespace kelvin
