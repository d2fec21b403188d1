// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/scaled.h"

#include <Eigen/Dense>

namespace kelvin {
namespace {

Eigen::Map<const Eigen::MatrixXd> matrix(const std::vector<double>& factor, std::size_t n) {
  return {factor.data(), Eigen::Index(n), Eigen::Index(n)};
}

}  // namespace

template <class Real>
Scaled<Real>::Scaled(std::unique_ptr<Potential<Real>> inner, std::size_t size, std::size_t dense)
    : Decorated<Real>(std::move(inner)), dense_(dense), factor_(dense ? dense * dense : size, dense ? 0 : 1), q_(size) {
  for (std::size_t i = 0; i < dense; ++i) factor_[i * dense + i] = 1;
}

template <class Real>
void Scaled<Real>::use(std::span<const double> factor) {
  std::copy(factor.begin(), factor.end(), factor_.begin());
}

template <class Real>
std::span<const Real> Scaled<Real>::position(std::span<const Real> x) {
  if (dense_ == 0) {
    for (std::size_t i = 0; i < q_.size(); ++i) q_[i] = Real(factor_[i]) * x[i];
    return q_;
  }
  for (std::size_t i = 0; i < dense_; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) sum += factor_[j * dense_ + i] * double(x[j]);
    q_[i] = Real(sum);
  }
  std::copy(x.begin() + long(dense_), x.end(), q_.begin() + long(dense_));
  return q_;
}

template <class Real>
void Scaled<Real>::coordinates(std::span<const Real> q, std::span<Real> x) const {
  std::copy(q.begin(), q.end(), x.begin());
  if (dense_ == 0) {
    for (std::size_t i = 0; i < q.size(); ++i) x[i] /= Real(factor_[i]);
    return;
  }
  Eigen::VectorXd v(dense_);
  for (std::size_t i = 0; i < dense_; ++i) v[Eigen::Index(i)] = double(q[i]);
  matrix(factor_, dense_).template triangularView<Eigen::Lower>().solveInPlace(v);
  for (std::size_t i = 0; i < dense_; ++i) x[i] = Real(v[Eigen::Index(i)]);
}

template <class Real>
double Scaled<Real>::operator()(std::span<const Real> x, Batch rows, std::span<Real> g) {
  const double u = (*this->inner_)(position(x), rows, g);
  if (dense_ == 0) {
    for (std::size_t i = 0; i < g.size(); ++i) g[i] *= Real(factor_[i]);
    return u;
  }
  // L' g: entry j needs g[j] and what lies below, so it may be put where g[j] was.
  for (std::size_t j = 0; j < dense_; ++j) {
    double sum = 0;
    for (std::size_t i = j; i < dense_; ++i) sum += factor_[j * dense_ + i] * double(g[i]);
    g[j] = Real(sum);
  }
  return u;
}

template class Scaled<float>;
template class Scaled<double>;

}  // namespace kelvin
