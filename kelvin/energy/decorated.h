// SPDX-License-Identifier: Apache-2.0
// A potential that changes another one: priors, penalties, masks. What it does not say itself is what the inner one
// says.
#pragma once
#include "kelvin/energy/potential.h"
#include "kelvin/function/block.h"

namespace kelvin {

template <class Real>
class Decorated : public Potential<Real> {
 public:
  std::vector<Block> blocks() const override { return inner_->blocks(); }
  void arrange(std::span<const Block> given) override {
    inner_->arrange(given);
    const auto blocks = inner_->blocks();
    for (Block& b : changed_) b = block_named(b.name, blocks);
  }
  void want(std::span<const char> blocks) override { inner_->want(blocks); }
  void prepare(const Evaluation& next) override {
    piece_ = next.piece;
    inner_->prepare(next);
  }
  int pieces() const override { return inner_->pieces(); }
  bool noisy() const override { return inner_->noisy(); }
  std::span<Real> memory() override { return inner_->memory(); }
  bool weighs() const override { return inner_->weighs(); }
  double log_weight(std::span<const Real> q) const override { return inner_->log_weight(q); }
  AskedFor asked_for(double energy, std::span<const Real> q) const override { return inner_->asked_for(energy, q); }
  Tempered<Real>* tempered() override { return inner_->tempered(); }
  std::size_t rows() const override { return inner_->rows(); }

 protected:
  explicit Decorated(std::unique_ptr<Potential<Real>> inner) : inner_(std::move(inner)) {}
  Decorated(const Decorated& other) : inner_(other.inner_->clone()), changed_(other.changed_), piece_(other.piece_) {}

  std::unique_ptr<Potential<Real>> inner_;
  std::vector<Block> changed_;  // the blocks it changes, where they lie now
  int piece_ = 0;               // of U, that the next evaluation is of
};

}  // namespace kelvin
