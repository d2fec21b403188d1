// SPDX-License-Identifier: Apache-2.0
// Toys as potentials that a chain can follow.
#include <algorithm>

#include "kelvin/energy/quadratic.h"
#include "kelvin/energy/toys.h"
#include "kelvin/function/block.h"

namespace kelvin {
namespace {

// The gaussian with a diagonal K, in Real and without copies: as fast as memory, whatever the dimension.
template <class Real>
class DiagonalGaussian final : public Potential<Real> {
 public:
  DiagonalGaussian(std::size_t n, const std::vector<double>& stiffness, const std::vector<double>& mean)
      : blocks_{{.name = "q", .shape = {n}}},
        stiffness_(stiffness.begin(), stiffness.end()),
        mean_(mean.begin(), mean.end()) {}
  const std::vector<Block>& blocks() const override { return blocks_; }
  double operator()(Weights<const Real> q, const Evaluation&, Weights<Real> g) override {
    const Wells<Real> wells{stiffness_.data(), mean_.data(), stiffness_.size() > 1, mean_.size() > 1};
    KELVIN_RETURN_BEST(quadratic(blocks_[0].size(), wells, q[0], g[0]));
  }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<DiagonalGaussian>(*this); }

 private:
  std::vector<Block> blocks_;
  std::vector<Real> stiffness_, mean_;
};

template <class Real>
class TwoScales final : public Potential<Real> {
 public:
  explicit TwoScales(const std::vector<double>& stiffness) : stiffness_{stiffness[0], stiffness[1]} {}
  const std::vector<Block>& blocks() const override { return blocks_; }
  int pieces() const override { return 2; }
  double operator()(Weights<const Real> q, const Evaluation& e, Weights<Real> g) override {
    const double k = e.piece == 0 ? stiffness_[0] + stiffness_[1] : stiffness_[e.piece - 1];
    *g[0] = Real(k) * *q[0];
    return double(*g[0]) * double(*q[0]) / 2;
  }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<TwoScales>(*this); }

 private:
  std::vector<Block> blocks_{{.name = "q"}};
  double stiffness_[2];
};

template <class Real>
class ToyPotential final : public Potential<Real> {
 public:
  explicit ToyPotential(ToyEnergy toy)
      : energy_(std::move(toy.energy)),
        pulls_(std::make_shared<const std::vector<double>>(std::move(toy.pulls))),
        q_(toy.dimension),
        g_(toy.dimension) {
    const std::size_t each = toy.dimension / toy.blocks.size();
    for (const std::string& name : toy.blocks)
      blocks_.push_back({.name = name, .shape = {each}, .offset = blocks_.size() * each});
  }
  const std::vector<Block>& blocks() const override { return blocks_; }
  double operator()(Weights<const Real> q, const Evaluation& e, Weights<Real> g) override {
    const std::size_t each = blocks_[0].size();
    for (std::size_t b = 0; b < blocks_.size(); ++b) std::copy_n(q[b], each, q_.begin() + long(b * each));
    const double u = energy_(q_, g_);
    for (const std::uint32_t row : e.rows)
      for (std::size_t i = 0; i < g_.size(); ++i) g_[i] += (*pulls_)[row * g_.size() + i] / double(e.rows.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) std::copy_n(g_.begin() + long(b * each), each, g[b]);
    return u;
  }
  std::size_t rows() const override { return pulls_->size() / g_.size(); }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<ToyPotential>(*this); }

 private:
  std::function<double(std::span<const double>, std::span<double>)> energy_;
  std::vector<Block> blocks_;
  std::shared_ptr<const std::vector<double>> pulls_;  // shared among walkers
  std::vector<double> q_, g_;
};

}  // namespace

template <class Real>
std::unique_ptr<Potential<Real>> make_toy(const Choice& choice) {
  const Toy& toy = toy_named(choice);
  ToyEnergy made = toy.energy(choice.completed(toy.parameters, "toy"));
  if (!made.stiffness.empty())
    return std::make_unique<DiagonalGaussian<Real>>(made.dimension, made.stiffness, made.mean);
  if (!made.pieces.empty()) return std::make_unique<TwoScales<Real>>(made.pieces);
  return std::make_unique<ToyPotential<Real>>(std::move(made));
}

template std::unique_ptr<Potential<float>> make_toy(const Choice&);
template std::unique_ptr<Potential<double>> make_toy(const Choice&);

}  // namespace kelvin
