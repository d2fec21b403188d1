// SPDX-License-Identifier: Apache-2.0
// A law with one more variable, alpha, that scales the energy down: W = g(alpha) U + T (V(alpha) + wall). In forms that
// heat the bath instead, U stays as it is, and what acts on alpha is reported separately. Draws with |alpha| <= delta
// have the requested distribution, whatever V is.
#pragma once
#include "kelvin/energy/law.h"
#include "kelvin/energy/tempering.h"

namespace kelvin {

// "tempering.alpha", which no network sees and no run stores among its blocks.
Block tempering_block(std::size_t offset);

template <class Real>
class Tempered final : public Law<Real> {
 public:
  Tempered(const TemperingSettings&, double temperature);

  double operator()(double U, std::span<const Real> q, std::span<Real> g) override;
  double log_weight(std::span<const Real> q) const override;
  // Without the bias: U where g = 1.
  AskedFor asked_for(double energy, std::span<const Real> q) const override {
    return {form_->heats ? energy : energy - bias(double(q[at_]))};
  }
  bool of_likelihood() const override { return of_likelihood_; }
  const Block* own_block() const override { return &block_; }
  void place(std::size_t offset) override { at_ = offset; }
  Tempered* tempered() override { return this; }
  std::unique_ptr<Law<Real>> clone() const override { return std::make_unique<Tempered>(*this); }

  void learn(bool now) { learns_ = now; }
  std::span<double> learnt() override { return learnt_; }
  // dW/dalpha where what g multiplies is `energy`; this is seen by the bias if it learns.
  double slope(double alpha, double energy);
  double temperature(double alpha) const { return temperature_ / ground_.ramp.value(alpha); }
  // Of the force that minibatches leave on the entries of a part, or on alpha, the last: its variance, as far as baths
  // are to leave room for it.
  bool corrects() const { return corrects_; }
  double force_noise(double alpha, std::size_t part) const;

 private:
  double bias(double alpha) const;  // T (V + wall)

  Block block_;
  const TemperingForm* form_;
  const TemperingBias* bias_;
  BiasGround ground_;
  double temperature_, wall_ = 0;  // wall_: its force
  std::vector<double> learnt_;
  std::size_t at_ = 0;  // of alpha in q
  bool learns_ = false, corrects_, of_likelihood_;
  double noise_;
  std::vector<double> gradient_noise_;
};

}  // namespace kelvin
