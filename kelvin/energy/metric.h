// SPDX-License-Identifier: Apache-2.0
// LowRankMetric x with q = B x, in which a chain may move: with B B' near the covariance of q, slow directions are
// short ones. B is symmetric, of low rank, and made from points; it is never written out.
#pragma once
#include "kelvin/core/pages.h"
#include "kelvin/numeric/sums.h"
#include "kelvin/energy/decorated.h"

namespace kelvin {

struct MetricSpan {
  std::size_t offset, size;  // entries of q
};

// How points are kept. Any points make a right metric, and every step reads them all.
template <class Real>
using Coarsened = decltype(coarse(Real()));

// Points D about their mean, and their products D'D over each of some stretches of q.
template <class Real>
struct PointCloud {
  std::vector<LargeArray<Coarsened<Real>>> points;
  std::vector<MetricSpan> stretches;
  std::vector<std::vector<double>> products;  // row by row
};
template <class Real>
PointCloud<Real> cloud_of(const std::vector<LargeArray<Real>>& points, std::vector<MetricSpan>);

// On each stretch B = (I + c X X')^1/2 with c = blending / n, X the n points that count, about their own mean. With
// X'X = E diag(k) E':   B = I + X E diag(c / (1 + sqrt(1 + c k))) E' X',
// B^-1 = I - X E diag(c / (sqrt(1 + c k) (1 + sqrt(1 + c k)))) E' X',   log det B = sum of log(1 + c k) / 2.
template <class Real>
class LowRankMetric {
 public:
  LowRankMetric(std::shared_ptr<const PointCloud<Real>>, const std::vector<std::size_t>& counting, double blending);
  void apply(std::span<Real> v) { add(v, stretching_); }  // v = B v
  void undo(std::span<Real> v) { add(v, shrinking_); }    // v = B^-1 v
  double log_determinant() const { return log_determinant_; }
  const std::vector<MetricSpan>& stretches() const { return cloud_->stretches; }

 private:
  void add(std::span<Real> v, const std::vector<std::vector<double>>& inner);

  std::shared_ptr<const PointCloud<Real>> cloud_;
  std::vector<const Coarsened<Real>*> points_;               // of each stretch, those that count, where it begins
  std::vector<std::vector<double>> stretching_, shrinking_;  // of each stretch, between X and X'; symmetric
  std::vector<double> along_, weights_;
  double log_determinant_ = 0;
};

// U(B x), whose gradient is B' g.
template <class Real>
class Metrised final : public Decorated<Real> {
 public:
  Metrised(std::unique_ptr<Potential<Real>>, std::vector<Block> arranged);
  Metrised(const Metrised&);
  void use(std::unique_ptr<LowRankMetric<Real>>);
  std::span<const Real> position(std::span<const Real> x);   // q = B x
  void coordinates(std::span<Real> q) { metric_->undo(q); }  // x = B^-1 q
  void want(std::span<const char>) override;
  double operator()(std::span<const Real> x, Batch rows, std::span<Real> g) override;
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<Metrised>(*this); }

 private:
  std::unique_ptr<LowRankMetric<Real>> metric_;
  std::vector<Block> arranged_;
  std::vector<char> wanted_;
  LargeArray<Real> q_;
};

}  // namespace kelvin
