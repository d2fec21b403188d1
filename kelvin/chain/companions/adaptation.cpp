// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/companions/adaptation.h"

#include <algorithm>
#include <cmath>

#include "kelvin/chain/companion.h"
#include "kelvin/chain/companions/refuge.h"
#include "kelvin/chain/stiffness.h"
#include "kelvin/numeric/linear.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {

namespace {
constexpr double no_bound = 1e300;
constexpr double stiffest = 1;  // h^2 times the largest curvature; the limit of stability is 4
}  // namespace

// Paces are tried from ten times the guess downwards: large steps are the cheaper mistake.
void DualAveraging::restart(double pace) { *this = {.centre = std::log(10 * pace), .log_pace = std::log(pace)}; }

void DualAveraging::learn(double statistic, double wanted) {
  constexpr double regularisation = 0.05, decay = 0.75, early = 10;
  ++count;
  const double share = 1 / (count + early);
  shortfall = (1 - share) * shortfall + share * (wanted - std::min(1.0, statistic));
  log_pace = centre - shortfall * std::sqrt(count) / regularisation;
  const double weight = std::pow(count, -decay);
  mean = (1 - weight) * mean + weight * log_pace;
}

Windows windows_of(std::uint64_t warmup) {
  std::uint64_t first = 75, last = 50, window = 25;
  if (first + window + last > warmup) {
    first = warmup * 15 / 100;
    last = warmup / 10;
    window = warmup - first - last;
  }
  const std::uint64_t settles = warmup - last;
  Windows out{first, {}};
  for (std::uint64_t at = first + window; at < settles;) {
    out.ends.push_back(at);
    window *= 2;
    at += window;
    if (at + 2 * window > settles) break;
  }
  out.ends.push_back(settles);
  return out;
}

Adaptation::Adaptation(const Recipe& recipe)
    : tuning_(recipe.tuning),
      proposes_(recipe.parts.front().scheme.proposes),
      unit_speed_(recipe.parts.front().scheme.unit_speed),
      dense_(tuning_.rescaling().shape == MassShape::dense),
      windows_(windows_of(unit_speed_ && !proposes_ ? tuning_.warmup * 2 / 5 : tuning_.warmup)),
      temperature_(recipe.size, 0.0),
      length_(tuning_.warmup) {
  averaging_.restart(1);
  if (finds_length()) length_.resize(recipe.size);
  if (tuning_.rescaling().shape == MassShape::none) return;
  for (const PartRecipe& part : recipe.parts) {
    const double T = part.temperature.at(0);
    if (T <= 0)
      throw Error("part \"{}\" has temperature 0, where nothing spreads; use adapt.metric = \"unit\"", part.name);
    std::fill_n(temperature_.begin() + long(part.offset), part.size, T);
    for (const std::uint32_t i : part.frozen) temperature_[part.offset + i] = 0;
  }
  if (dense_) {
    constexpr std::size_t most = 5000;
    const std::size_t size = recipe.parts.front().size;
    if (recipe.parts.size() > 1)
      throw Error("adapt.metric = \"dense\" mixes all coordinates and needs one part, not {}; use \"diagonal\"",
                  recipe.parts.size());
    if (size > most)
      throw Error("adapt.metric = \"dense\" keeps {} x {} numbers; above {} use \"diagonal\"", size, size, most);
    temperature_.resize(size);
  }
  mean_.assign(temperature_.size(), 0);
  squares_.assign(dense_ ? mean_.size() * mean_.size() : mean_.size(), 0);
}

void Adaptation::begin_again(double pace) {
  pace_ = pace;
  averaging_.restart(pace);
}

void Adaptation::accepted(std::uint64_t step, double statistic) {
  averaging_.learn(statistic, tuning_.adapt.acceptance);
  pace_ = std::exp(step == tuning_.warmup ? averaging_.mean : averaging_.log_pace);
}

// Temperatures disagree in proportion to h^2, so h is scaled by the root. Kinetic heat of h s / (2 gamma T) is what
// gradient noise of variance s leaves: then gamma is scaled. The first half of a window is for settling.
bool Adaptation::agreed(std::uint64_t step, const Temperatures& now) {
  const auto next = std::lower_bound(windows_.ends.begin(), windows_.ends.end(), step);
  if (next == windows_.ends.end()) return false;
  const std::uint64_t begin = next == windows_.ends.begin() ? 0 : *(next - 1);
  if (2 * (step - begin) <= *next - begin) return false;
  kinetic_ += now.kinetic;
  half_kick_ += now.half_kick;
  ++agreements_;
  if (step != *next) return false;
  const double apart = half_kick_ / agreements_, most = tuning_.adapt.disagreement;
  const double heat = (kinetic_ - half_kick_) / agreements_ - 1;  // the last half kick's own noise does not count
  if (tuning_.adapt.step) {
    pace_ *= std::isfinite(apart) ? std::clamp(std::sqrt(most / apart), 0.25, 2.0) : 0.25;
    pace_ = std::min(pace_, most_);
  }
  if (step != windows_.ends.back()) most_ = no_bound;
  if (tuning_.adapt.friction && heat > most) friction_ *= std::min(2.0, heat / most);
  kinetic_ = half_kick_ = agreements_ = 0;
  return true;
}

bool Adaptation::looks_at(std::uint64_t step) const {
  constexpr std::uint64_t looks = 4, apart = 25;  // steps that are worth one
  const auto next = std::lower_bound(windows_.ends.begin(), windows_.ends.end(), step);
  const std::uint64_t begin = next == windows_.ends.begin() ? 0 : *(next - 1);
  const std::uint64_t end = next == windows_.ends.end() ? tuning_.warmup : *next;
  return (step - begin) % std::max(apart, (end - begin) / looks) == 0;
}

void Adaptation::stand(double stiffness) {
  most_ = std::min(most_, pace_ * std::sqrt(stiffest / stiffness));
  pace_ = std::min(pace_, most_);
}

void Adaptation::jumped() {
  most_ = std::min(most_, pace_ / 2);
  pace_ = most_;
  kinetic_ = half_kick_ = agreements_ = 0;
}

void Adaptation::erred(std::uint64_t step, double square) {
  if (step <= length_.settled() || !std::isfinite(square))
    pace_ = by_error_.learn(square / tuning_.adapt.energy_variance, pace_);
}

template <class Real>
void Adaptation::strayed(std::uint64_t step, std::span<const Real> x, const Straying& now) {
  if (const double length = length_.watch(step, x, now.step); length > 0) friction_ = 1 / (length * now.friction);
}

template void Adaptation::strayed(std::uint64_t, std::span<const float>, const Straying&);
template void Adaptation::strayed(std::uint64_t, std::span<const double>, const Straying&);

template <class Real>
bool Adaptation::watch(std::uint64_t step, std::span<const Real> q) {
  if (mean_.empty() || step <= windows_.begins || step > windows_.ends.back()) return false;
  ++points_;
  const std::size_t n = mean_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double before = double(q[i]) - mean_[i];
    mean_[i] += before / points_;
    if (!dense_) squares_[i] += before * (double(q[i]) - mean_[i]);
    else
      for (std::size_t j = 0; j <= i; ++j) squares_[j * n + i] += before * (double(q[j]) - mean_[j]);
  }
  return std::find(windows_.ends.begin(), windows_.ends.end(), step) != windows_.ends.end();
}

template bool Adaptation::watch(std::uint64_t, std::span<const float>);
template bool Adaptation::watch(std::uint64_t, std::span<const double>);

// Variance over T, drawn a little towards 1e-3: a few points know little.
std::vector<double> Adaptation::factor() {
  constexpr double prior = 5, small = 1e-3;
  const std::size_t n = mean_.size();
  const double share = points_ / (points_ + prior), more = small * (1 - share);
  std::vector<double> out(squares_.size());
  if (!dense_) {
    for (std::size_t i = 0; i < n; ++i) {
      const double T = temperature_[i];
      out[i] = T > 0 ? std::sqrt(share * squares_[i] / (points_ - 1) / T + more) : 1;
    }
  } else {
    std::vector<double>& C = out;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j; i < n; ++i) {
        C[j * n + i] = i == j ? 1 : 0;
        if (temperature_[i] > 0 && temperature_[j] > 0)
          C[j * n + i] = share * squares_[j * n + i] / (points_ - 1) / temperature_[i] + (i == j ? more : 0);
      }
    out = Cholesky(C).lower();
  }
  most_ = no_bound;  // paces of other coordinates
  points_ = 0;
  std::fill(mean_.begin(), mean_.end(), 0);
  std::fill(squares_.begin(), squares_.end(), 0);
  return out;
}

void Adaptation::fields(Archive& field) {
  field("pace", pace_);
  field("friction", friction_);
  field("most", most_);
  field("averaging", averaging_);
  field("kinetic", kinetic_);
  field("half_kick", half_kick_);
  field("agreements", agreements_);
  field("by_error", by_error_);
  field("points", points_);
  field("mean", mean_);
  field("squares", squares_);
  const std::string prefix = field.prefix;
  field.prefix += "length.";
  length_.fields(field);
  field.prefix = prefix;
}

// ---- the chain's side

namespace {

template <class Real>
class WarmUp final : public Companion<Real> {
 public:
  static bool needed(const Chain<Real>& chain) { return chain.recipe().tuning.learns(); }
  explicit WarmUp(Chain<Real>& chain) : tuner_(checked(chain.recipe())) {
    const MassShape shape = chain.recipe().tuning.rescaling().shape;
    if (shape == MassShape::none) return;
    const Recipe& recipe = chain.recipe();
    const std::size_t dense = shape == MassShape::dense ? recipe.parts.front().size : 0;
    chain.energy().coordinates = scaled_coordinates<Real>(recipe.size, dense);
  }

  void start(Chain<Real>& chain) override {
    if (tuner_.by_acceptance()) guess_pace(chain);
    if (!returns(chain)) return;
    chain.evaluate(0);
    stay_stable(chain, careful);
    refuge_.begin(chain);
  }
  void moved(Chain<Real>& chain) override {
    if (!returns(chain)) return;
    chain.evaluate(0);
    refuge_.begin(chain);
  }
  void before(Chain<Real>& chain) override {
    chain.step_record().may_diverge = returns(chain);
    if (!tuner_.by_energy() || !tuner_.learns_at(chain.steps() + 1)) return;
    before_.take(chain.now());
    chain.step_record().may_diverge = true;  // a step that blows up is taken back
  }
  void after(Chain<Real>& chain) override {
    if (returns(chain)) {
      if (refuge_.lost(chain)) return put_back(chain);
      refuge_.watch(chain);
    }
    if (!tuner_.learns_at(chain.steps())) return;
    learn(chain);
    tell(chain);
  }
  void fields(Archive& field) override {
    tuner_.fields(field);
    const std::string prefix = field.prefix;
    field.prefix += "refuge.";
    refuge_.fields(field);
    field.prefix = prefix;
  }

 private:
  static const Recipe& checked(const Recipe& recipe) {
    const Tuning& tuning = recipe.tuning;
    const PartRecipe& first = recipe.parts.front();
    const Scheme& scheme = first.scheme;
    const auto [least, most] = first.friction.range();
    if (scheme.unit_speed && tuning.adapt.friction && !(least > 0 && std::isfinite(most)))
      throw Error("adapt.friction scales the friction of \"{}\", which must be above 0 and finite, not from {} to {}",
                  scheme.text, least, most);
    return recipe;
  }

  // Without a Metropolis test nothing else holds back a walker whose step has become too long where it is.
  bool returns(Chain<Real>& chain) const {
    return tuner_.by_temperatures() && chain.recipe().tuning.adapt.step && chain.temperature() > 0;
  }

  // After the warm-up the step changes for this reason only, which the record tells.
  void put_back(Chain<Real>& chain) {
    constexpr double less = 0.8, hopeless = 1e-12;
    ChainState<Real>& state = chain.now();
    const bool learns = tuner_.learns_at(state.steps);
    if (learns) {
      tuner_.jumped();
      tell(chain);
      ++state.put_back;
    } else {
      state.pace *= less;
      ++state.put_back_later;
      chain.step_record().diverging = true;
    }
    refuge_.go_back(chain);
    chain.evaluate(0);  // what is read of this step is of the place returned to
    if (state.pace < hopeless)
      throw Error(
          "the energy of walker {} jumps with any step, however small: it was put back {} times by step {}; U is not "
          "finite or not continuous there: give a prior, or another start",
          chain.walker(), state.put_back + state.put_back_later, state.steps);
  }

  void tell(Chain<Real>& chain) const {
    ChainState<Real>& state = chain.now();
    state.pace = tuner_.pace();
    state.friction = tuner_.friction();
  }

  // The pace is doubled or halved until the acceptance of one leapfrog step with fresh momenta crosses 0.8.
  void guess_pace(Chain<Real>& chain) {
    if (chain.program().scheme().unit_speed)
      return tuner_.begin_again(tuner_.pace());  // a leapfrog is none of its steps
    chain.evaluate(0);
    ChainState<Real>& state = chain.now();
    before_.take(state);
    chain.step_record().may_diverge = true;
    const std::uint64_t key = chain.key("guess");
    const double T = chain.temperature();
    double pace = tuner_.pace();
    int towards = 0;
    for (std::uint16_t tries = 0; tries < 100; ++tries) {
      tuner_.begin_again(pace);
      tell(chain);
      chain.schedule();
      chain.noise().normals({key, chain.walker(), state.steps, tries}, 0, state.p);
      for (Mover<Real>& mover : chain.movers()) {
        for (Real& x : mover.part.p) x *= Real(std::sqrt(mover.part.m * T));
        mover.restore_frozen();
      }
      const double before = chain.hamiltonian();
      leapfrog(chain, 1);
      const double change = chain.hamiltonian() - before;
      before_.give_back_position(state);
      const int direction = change < -T * std::log(0.8) ? 1 : -1;  // nan: the step is too long
      if (towards != 0 && direction != towards) break;
      towards = direction;
      pace *= direction > 0 ? 2 : 0.5;
    }
    state.p = before_.p;
    chain.step_record().may_diverge = false;
    chain.schedule();
  }

  // Temperatures are means over all directions and say nothing of a single stiff one.
  void stay_stable(Chain<Real>& chain, int gradients) {
    tell(chain);
    chain.schedule();
    if (const double now = stiffness(chain, gradients); now > 0 && std::isfinite(now)) tuner_.stand(now);
    tell(chain);
  }

  // Momenta of unit length: the step by its energy error, the friction by how far positions stay correlated.
  void learn_by_energy(Chain<Real>& chain) {
    ChainState<Real>& state = chain.now();
    const PartRecipe& part = chain.recipe().parts.front();
    if (tuner_.by_energy()) {
      chain.step_record().may_diverge = false;
      const double error = chain.step_record().energy_error;
      if (!std::isfinite(error)) {
        before_.give_back_position(state);
        state.p = before_.p;
        state.stale = 0;
      }
      tuner_.erred(state.steps, error * error / double(part.freedom()));
    }
    if (tuner_.finds_length()) {
      const double now = double(chain.program().since_beginning(state.steps));
      tuner_.strayed<Real>(state.steps, state.q, {chain.step_of(0), part.friction.at(now)});
    }
  }

  bool temperatures_agreed(Chain<Real>& chain) {
    Temperatures now;
    double freedom = 0;
    for (const Mover<Real>& mover : chain.movers()) {
      const Part<Real>& part = mover.part;
      now.kinetic += mover.momentum_square() / part.T;
      now.half_kick += part.h * part.h / 4 * dot<Real>(part.g, part.g) / (part.m * part.T);
      freedom += double(mover.recipe().freedom());
    }
    return tuner_.agreed(chain.steps(), {now.kinetic / freedom, now.half_kick / freedom});
  }

  void learn(Chain<Real>& chain) {
    const std::uint64_t steps = chain.now().steps;
    const bool unit_speed = chain.program().scheme().unit_speed;
    if (unit_speed) learn_by_energy(chain);
    bool changed = false;
    const StepRecord& step = chain.step_record();
    if (tuner_.by_acceptance()) tuner_.accepted(steps, step.acceptance / double(step.proposals));
    if (tuner_.by_temperatures()) changed = temperatures_agreed(chain);
    if (!chain.learnt_factor().empty() && tuner_.watch(steps, chain.q())) {
      chain.stand_on(tuner_.factor());
      changed = true;
    }
    if (!chain.recipe().tuning.adapt.step) return;
    if (changed && tuner_.by_acceptance()) guess_pace(chain);
    if (tuner_.by_temperatures() && (changed || tuner_.looks_at(steps))) stay_stable(chain, changed ? careful : quick);
  }

  static constexpr int careful = 12, quick = 6;  // gradients for a look at the curvature

  Adaptation tuner_;
  PhasePoint<Real> before_;
  Refuge<Real> refuge_;
};

}  // namespace

KELVIN_COMPANION_ROW(adaptation, WarmUp, {})

}  // namespace kelvin
