// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/metric.h"

#include <algorithm>
#include <cmath>

#include "kelvin/core/error.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {
template <class Real>
PointCloud<Real> cloud_of(const std::vector<LargeArray<Real>>& points, std::vector<MetricSpan> stretches) {
  PointCloud<Real> out{{}, std::move(stretches), {}};
  std::vector<LargeArray<Real>> given = points;
  for (auto& point : given) {
    auto& kept = out.points.emplace_back(point.size());
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = coarse(point[i]), point[i] = whole(kept[i]);
  }
  const std::size_t count = points.size();
  for (const auto& [offset, size] : out.stretches) {
    auto& products = out.products.emplace_back(count * count);
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b <= a; ++b)
        products[a * count + b] = products[b * count + a] =
            dot<Real>(std::span<const Real>(given[a]).subspan(offset, size),
                      std::span<const Real>(given[b]).subspan(offset, size));
  }
  return out;
}

template <class Real>
LowRankMetric<Real>::LowRankMetric(std::shared_ptr<const PointCloud<Real>> cloud,
                                   const std::vector<std::size_t>& counting, double blending)
    : cloud_(std::move(cloud)) {
  for (const auto& [offset, size] : cloud_->stretches)
    for (const std::size_t k : counting) points_.push_back(cloud_->points[k].data() + offset);
  along_.resize(counting.size());
  weights_.resize(counting.size());
  for (const auto& products : cloud_->products) {
    LowRankRoot root = low_rank_root(products, counting, blending / double(counting.size()));
    stretching_.push_back(std::move(root.stretching));
    shrinking_.push_back(std::move(root.shrinking));
    log_determinant_ += root.log_determinant;
  }
}

// v += X (inner (X' v)) on every stretch
template <class Real>
void LowRankMetric<Real>::add(std::span<Real> v, const std::vector<std::vector<double>>& inner) {
  const std::size_t count = along_.size();
  for (std::size_t s = 0; s < cloud_->stretches.size(); ++s) {
    const auto [offset, size] = cloud_->stretches[s];
    const Arrays<Coarsened<Real>> points{points_.data() + s * count, count, size};
    dots(points, v.data() + offset, along_.data());
    small_product(inner[s], along_, weights_);
    add_multiples(points, weights_.data(), v.data() + offset);
  }
}

template <class Real>
void LowRankMetric<Real>::to_position(std::span<const Real> x, std::span<Real> q) {
  std::ranges::copy(x, q.begin());
  apply(q);
}

// B' g needs all of g on every stretch on which some of it is wanted.
template <class Real>
void LowRankMetric<Real>::widen(std::span<const Block> blocks, std::span<char> wanted) const {
  for (const auto& [offset, size] : cloud_->stretches) {
    const auto inside = [&](const Block& b) { return b.offset >= offset && b.offset < offset + size; };
    bool any = false;
    for (std::size_t k = 0; k < blocks.size(); ++k) any |= wanted[k] && inside(blocks[k]);
    for (std::size_t k = 0; k < blocks.size(); ++k) wanted[k] |= char(any && inside(blocks[k]));
  }
}

template struct PointCloud<float>;
template struct PointCloud<double>;
template PointCloud<float> cloud_of(const std::vector<LargeArray<float>>&, std::vector<MetricSpan>);
template PointCloud<double> cloud_of(const std::vector<LargeArray<double>>&, std::vector<MetricSpan>);
template class LowRankMetric<float>;
template class LowRankMetric<double>;

}  // namespace kelvin
