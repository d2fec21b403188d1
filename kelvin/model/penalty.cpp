// SPDX-License-Identifier: Apache-2.0
#include "kelvin/model/penalty.h"

#include <Eigen/Dense>
#include <cmath>

#include "kelvin/model/decorated.h"

namespace kelvin {
namespace {

// strength |q|
template <class Real>
double absolute(const Block&, std::span<const Real> q, double strength, std::span<Real> g) {
  double sum = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    sum += std::abs(double(q[i]));
    g[i] += Real(strength * double((q[i] > 0) - (q[i] < 0)));
  }
  return strength * sum;
}

// strength q^2 / 2
template <class Real>
double square(const Block&, std::span<const Real> q, double strength, std::span<Real> g) {
  double sum = 0;
  const Real c = Real(strength);
  for (std::size_t i = 0; i < q.size(); ++i) {
    sum += double(q[i]) * double(q[i]);
    g[i] += c * q[i];
  }
  return strength * sum / 2;
}

// strength |Q^T Q - 1|^2, Q the matrix or its transpose, whichever has fewer columns than rows. Its gradient is
// 4 strength Q (Q^T Q - 1). Biases are left alone.
template <class Real>
double orthogonal(const Block& block, std::span<const Real> q, double strength, std::span<Real> g) {
  if (block.vector) return 0;
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows = Eigen::Index(block.rows), columns = Eigen::Index(block.columns);
  const Eigen::Map<const Matrix> W(q.data(), rows, columns);
  Eigen::Map<Matrix> slope(g.data(), rows, columns);
  const bool tall = rows >= columns;
  Matrix off = tall ? Matrix(W.transpose() * W) : Matrix(W * W.transpose());
  off.diagonal().array() -= Real(1);
  if (tall) slope += Real(4 * strength) * (W * off);
  else slope += Real(4 * strength) * (off * W);
  return strength * off.template cast<double>().squaredNorm();
}

constexpr Parameter numbers[] = {{"strength", "", "factor of the energy"}};
constexpr Penalty table[] = {
    {"l1", numbers, absolute<float>, absolute<double>, "strength |q|"},
    {"l2", numbers, square<float>, square<double>, "strength q^2 / 2: weight decay"},
    {"orthogonal", numbers, orthogonal<float>, orthogonal<double>,
     "strength |Q^T Q - 1|^2 of each matrix, Q having the longer side as rows; biases are left alone"},
};

template <class Real>
class WithPenalties final : public Decorated<Real> {
 public:
  WithPenalties(std::unique_ptr<Potential<Real>> inner, const std::vector<BlockPenalty>& given)
      : Decorated<Real>(std::move(inner)) {
    for (const BlockPenalty& p : given) {
      const Penalty& row = row_named(p.penalty.name, penalties(), "penalty", p.penalty.where);
      const double strength = p.penalty.completed(row.parameters, "penalty").number("strength");
      if (!(strength >= 0) || !std::isfinite(strength))
        throw Error("penalty \"{}\": strength is {:g}; it must be at least 0", row.name, strength);
      this->changed_.push_back(block_named(p.block, this->blocks()));
      held_.push_back({&row, strength});
    }
  }

  double operator()(std::span<const Real> q, Batch rows, std::span<Real> g) override {
    double u = (*this->inner_)(q, rows, g);
    if (this->piece_ == 1) return u;  // they go with the priors, piece 2
    for (std::size_t k = 0; k < held_.size(); ++k) {
      const Block& block = this->changed_[k];
      Penalty::Add<Real> add;
      if constexpr (std::is_same_v<Real, float>) add = held_[k].row->add_float;
      else add = held_[k].row->add_double;
      u += add(block, q.subspan(block.offset, block.size()), held_[k].strength, g.subspan(block.offset, block.size()));
    }
    return u;
  }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<WithPenalties>(*this); }

 private:
  struct Held {
    const Penalty* row;
    double strength;
  };
  std::vector<Held> held_;  // of each changed block
};

}  // namespace

std::span<const Penalty> penalties() { return table; }

template <class Real>
std::unique_ptr<Potential<Real>> with_penalties(std::unique_ptr<Potential<Real>> inner,
                                                const std::vector<BlockPenalty>& given) {
  return std::make_unique<WithPenalties<Real>>(std::move(inner), given);
}

template std::unique_ptr<Potential<float>> with_penalties(std::unique_ptr<Potential<float>>,
                                                          const std::vector<BlockPenalty>&);
template std::unique_ptr<Potential<double>> with_penalties(std::unique_ptr<Potential<double>>,
                                                           const std::vector<BlockPenalty>&);

}  // namespace kelvin
