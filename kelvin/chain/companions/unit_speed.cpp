// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/companions/unit_speed.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kelvin/chain/companion.h"
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

namespace {

// The energy error of a step is that between the gradients at its two ends.
template <class Real>
class UnitSpeed final : public Companion<Real> {
 public:
  static bool needed(const Chain<Real>& chain) {
    return chain.in_some_phase([](const Recipe& recipe) { return recipe.parts.front().scheme.unit_speed; });
  }
  explicit UnitSpeed(Chain<Real>&) {}

  void before(Chain<Real>& chain) override {
    if (!chain.program().scheme().unit_speed) return;
    if (chain.program().starts_still) chain.evaluate(1);
    energy_ = chain.last_energy();
    chain.movers().front().work = 0;
  }
  void after(Chain<Real>& chain) override {
    const Program& program = chain.program();
    if (!program.scheme().unit_speed) return;
    const bool known = program.starts_still && !chain.stale() && !program.scheme().proposes;
    chain.step_record().energy_error =
        known ? (chain.last_energy() - energy_) / chain.temperature() + chain.movers().front().work : NAN;
  }
  void read(Chain<Real>& chain, Reading& reading) const override {
    if (chain.program().scheme().unit_speed) reading.energy_error = chain.step_record().energy_error;
  }

 private:
  double energy_ = 0;  // where the step began
};

}  // namespace

KELVIN_COMPANION_ROW(unit_speed, UnitSpeed, {})

}  // namespace kelvin
