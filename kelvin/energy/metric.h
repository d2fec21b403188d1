// SPDX-License-Identifier: Apache-2.0
// A low-rank metric: coordinates x with q = B x, B B' near the covariance of some points, so that slow directions
// become short. B is symmetric and is never formed as a matrix.
#pragma once
#include <vector>

#include "kelvin/energy/coordinates.h"
#include "kelvin/numeric/sums.h"

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
class LowRankMetric final : public Coordinates<Real> {
 public:
  LowRankMetric(std::shared_ptr<const PointCloud<Real>>, const std::vector<std::size_t>& counting, double blending);
  void to_position(std::span<const Real> x, std::span<Real> q) override;
  void to_coordinates(std::span<Real> q) override { undo(q); }
  void pull_back(std::span<Real> g) override { apply(g); }
  void widen(std::span<const Block>, std::span<char> wanted) const override;
  std::unique_ptr<Coordinates<Real>> clone() const override { return std::make_unique<LowRankMetric>(*this); }

  void apply(std::span<Real> v) { add(v, stretching_); }  // v = B v
  void undo(std::span<Real> v) { add(v, shrinking_); }    // v = B^-1 v
  double log_determinant() const { return log_determinant_; }

 private:
  void add(std::span<Real> v, const std::vector<std::vector<double>>& inner);

  std::shared_ptr<const PointCloud<Real>> cloud_;
  std::vector<const Coarsened<Real>*> points_;               // of each stretch, those that count, where it begins
  std::vector<std::vector<double>> stretching_, shrinking_;  // of each stretch, between X and X'; symmetric
  std::vector<double> along_, weights_;
  double log_determinant_ = 0;
};

}  // namespace kelvin
