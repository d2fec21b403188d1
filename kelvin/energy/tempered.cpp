// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/tempered.h"

#include <cmath>
#include <limits>

namespace kelvin {

Block tempering_block(std::size_t offset) { return {.name = "tempering.alpha", .role = Role::slack, .offset = offset}; }

template <class Real>
Tempered<Real>::Tempered(const TemperingSettings& s, double temperature)
    : block_(tempering_block(0)),
      form_(&row_named(s.form, tempering_forms(), "form of tempering")),
      bias_(&bias_of(s)),
      ground_(ground_of(s, temperature)),
      temperature_(temperature),
      wall_(wall_force(s)),
      learnt_(bias_->start(ground_)),
      corrects_(s.correct),
      of_likelihood_(!row_named(s.of, tempering_extents(), "extent of tempering").whole),
      noise_(s.noise),
      gradient_noise_(s.gradient_noise) {}

template <class Real>
double Tempered<Real>::log_weight(std::span<const Real> q) const {
  return std::abs(double(q[at_])) <= ground_.ramp.delta ? 0 : -std::numeric_limits<double>::infinity();
}

template <class Real>
double Tempered<Real>::slope(double alpha, double energy) {
  const double U = energy / temperature_, outside = std::abs(alpha) > ground_.ramp.width ? wall_ : 0;
  const double force =
      ground_.ramp.slope(alpha) * U + bias_->slope(ground_, learnt_, alpha) + std::copysign(outside, alpha);
  if (learns_) bias_->learn(ground_, learnt_, alpha, U);
  return temperature_ * force;
}

template <class Real>
double Tempered<Real>::force_noise(double alpha, std::size_t part) const {
  if (!corrects_) return 0;
  if (part >= gradient_noise_.size()) return std::pow(ground_.ramp.slope(alpha) * noise_, 2);
  return gradient_noise_[part] * (form_->heats ? 1 : std::pow(ground_.ramp.value(alpha), 2));
}

template <class Real>
double Tempered<Real>::bias(double alpha) const {
  const double outside = std::max(0.0, std::abs(alpha) - ground_.ramp.width);
  return temperature_ * (bias_->energy(ground_, learnt_, alpha) + wall_ * outside);
}

template <class Real>
double Tempered<Real>::operator()(double U, std::span<const Real> q, std::span<Real> g) {
  if (form_->heats) return U;
  const double alpha = double(q[at_]), down = ground_.ramp.value(alpha);
  if (down != 1)
    for (Real& x : g.first(at_)) x *= Real(down);
  const double W = down * U + bias(alpha);
  g[at_] = Real(slope(alpha, U));
  return W;
}

template class Tempered<float>;
template class Tempered<double>;

}  // namespace kelvin
