// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/unit_speed.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kelvin/chain/chain.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {

double EnergyAveraging::learn(double x, double pace) {
  constexpr double keep = 149.0 / 151, trust = 9, smallest = 1e-8;
  if (!std::isfinite(x)) return most = 0.8 * pace;
  x += smallest;
  const double off = std::log(x) / trust, share = std::exp(-off * off / 2);
  sum = keep * sum + share * x / std::pow(pace, 6);
  weight = keep * weight + share;
  return std::min(most, std::pow(sum / weight, -1.0 / 6));
}

void LengthFinder::resize(std::size_t n) {
  for (auto* list : {&mean_, &squares_, &batch_, &batch_mean_, &batch_squares_}) list->assign(n, 0);
}

void LengthFinder::forget() {
  points_ = batches_ = 0;
  resize(mean_.size());
}

template <class Real>
double LengthFinder::watch(std::uint64_t step, std::span<const Real> x, double way) {
  constexpr std::uint64_t batches = 16;
  const std::uint64_t spread_from = warmup_ * 2 / 5, spread_to = warmup_ * 3 / 5;
  const std::uint64_t each = (warmup_ - settled()) / batches;
  const bool spreads = step > spread_from && step <= spread_to;
  if (!spreads && (step <= settled() || each == 0)) return 0;
  ++points_;
  const bool ends_batch = !spreads && std::uint64_t(points_) % each == 0;
  if (ends_batch) ++batches_;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const double before = double(x[i]) - mean_[i];
    mean_[i] += before / points_;
    squares_[i] += before * (double(x[i]) - mean_[i]);
    batch_[i] += double(x[i]);
    if (!ends_batch) continue;
    const double value = batch_[i] / double(each), apart = value - batch_mean_[i];
    batch_mean_[i] += apart / batches_;
    batch_squares_[i] += apart * (value - batch_mean_[i]);
    batch_[i] = 0;
  }
  double length = 0;
  if (step == spread_to) {
    length = std::sqrt(std::accumulate(squares_.begin(), squares_.end(), 0.0) / (points_ - 1));
    forget();
  } else if (step == warmup_ && batches_ > 1) {
    double time = 0, counted = 0;  // steps over which positions stay correlated, mean over those that move
    for (std::size_t i = 0; i < mean_.size(); ++i)
      if (squares_[i] > 0)
        time += double(each) * (batch_squares_[i] / (batches_ - 1)) / (squares_[i] / (points_ - 1)), ++counted;
    if (counted > 0) length = 0.4 * way * time / counted;
  }
  return length;
}

template double LengthFinder::watch(std::uint64_t, std::span<const float>, double);
template double LengthFinder::watch(std::uint64_t, std::span<const double>, double);

// ---- the chain's side

// The energy error of a step is that between the gradients at its two ends.
template <class Real>
void Chain<Real>::watch_energy() {
  if (starts_still_) evaluate(1);
  energy_before_ = U_, work_ = 0;
  movers_.front().part.work = &work_;  // here, since a chain may have been moved
  if (!tuner_ || !tuner_->by_energy() || !tuner_->learns_at(steps_ + 1)) return;
  flush();
  old_q_ = q_, old_p_ = p_, old_g_ = g_, old_energy_ = U_;
  proposing_ = true;  // a step that blows up is taken back
}

template <class Real>
void Chain<Real>::read_energy_error() {
  const bool known = starts_still_ && !stale_ && !proposes_;
  reading_.energy_error = known ? (U_ - energy_before_) / movers_.front().part.T + work_ : NAN;
}

template <class Real>
void Chain<Real>::learn_by_energy() {
  const Mover& mover = movers_.front();
  const PartRecipe& part = recipe_.parts.front();
  if (tuner_->by_energy()) {
    proposing_ = false;
    const double error = reading_.energy_error;
    if (!std::isfinite(error)) q_ = old_q_, p_ = old_p_, g_ = old_g_, U_ = old_energy_, stale_ = false;
    tuner_->erred(steps_, error * error / double(part.freedom()));
  }
  if (tuner_->finds_length())
    tuner_->strayed<Real>(steps_, q_, {mover.step, part.friction.at(double(steps_ - recipe_.begins))});
}

#define KELVIN_MEMBERS(Real)                      \
  template void Chain<Real>::watch_energy();      \
  template void Chain<Real>::read_energy_error(); \
  template void Chain<Real>::learn_by_energy();
KELVIN_MEMBERS(float)
KELVIN_MEMBERS(double)
#undef KELVIN_MEMBERS

}  // namespace kelvin
