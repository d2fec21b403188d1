// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/adaptation.h"

#include <algorithm>
#include <cmath>

#include "kelvin/numeric/eigen.h"

namespace kelvin {

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
    first = warmup * 15 / 100, last = warmup / 10;
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
  mean_.assign(temperature_.size(), 0), squares_.assign(dense_ ? mean_.size() * mean_.size() : mean_.size(), 0);
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
  kinetic_ += now.kinetic, half_kick_ += now.half_kick, ++agreements_;
  if (step != *next) return false;
  const double apart = half_kick_ / agreements_, most = tuning_.adapt.disagreement;
  const double heat = (kinetic_ - half_kick_) / agreements_ - 1;  // the last half kick's own noise does not count
  if (tuning_.adapt.step) pace_ *= std::isfinite(apart) ? std::clamp(std::sqrt(most / apart), 0.25, 2.0) : 0.25;
  if (tuning_.adapt.friction && heat > most) friction_ *= std::min(2.0, heat / most);
  kinetic_ = half_kick_ = agreements_ = 0;
  return true;
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
    Eigen::MatrixXd C = Eigen::MatrixXd::Identity(Eigen::Index(n), Eigen::Index(n));
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j; i < n; ++i)
        if (temperature_[i] > 0 && temperature_[j] > 0)
          C(Eigen::Index(i), Eigen::Index(j)) =
              share * squares_[j * n + i] / (points_ - 1) / temperature_[i] + (i == j ? more : 0);
    const Eigen::MatrixXd L = C.selfadjointView<Eigen::Lower>().llt().matrixL();
    std::copy(L.data(), L.data() + n * n, out.begin());
  }
  points_ = 0;
  std::fill(mean_.begin(), mean_.end(), 0), std::fill(squares_.begin(), squares_.end(), 0);
  return out;
}

template <class Visit>
void Adaptation::fields(Visit&& field) {
  for (double* x : {&pace_, &friction_, &averaging_.count, &averaging_.shortfall, &averaging_.centre,
                    &averaging_.log_pace, &averaging_.mean, &kinetic_, &half_kick_, &agreements_, &by_error_.sum,
                    &by_error_.weight, &by_error_.most, &points_})
    field(*x);
  length_.fields(field);
  for (auto* list : {&mean_, &squares_})
    for (double& x : *list) field(x);
}

std::vector<double> Adaptation::state() {
  std::vector<double> out;
  fields([&](double& x) { out.push_back(x); });
  return out;
}

void Adaptation::restore(std::span<const double> from) {
  std::size_t at = 0;
  fields([&](double& x) { x = from[at++]; });
}

}  // namespace kelvin
