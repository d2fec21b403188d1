// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/coordinates.h"

#include <algorithm>
#include <vector>

#include "kelvin/numeric/linear.h"

namespace kelvin {
namespace {

template <class Real>
class Diagonal final : public Coordinates<Real> {
 public:
  explicit Diagonal(std::size_t size) : factor_(size, 1) {}
  void to_position(std::span<const Real> x, std::span<Real> q) override {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = Real(factor_[i]) * x[i];
  }
  void to_coordinates(std::span<Real> q) override {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] /= Real(factor_[i]);
  }
  void pull_back(std::span<Real> g) override {
    for (std::size_t i = 0; i < g.size(); ++i) g[i] *= Real(factor_[i]);
  }
  std::span<const double> factor() const override { return factor_; }
  void use(std::span<const double> factor) override { std::ranges::copy(factor, factor_.begin()); }
  std::unique_ptr<Coordinates<Real>> clone() const override { return std::make_unique<Diagonal>(*this); }

 private:
  std::vector<double> factor_;
};

template <class Real>
class LowerTriangle final : public Coordinates<Real> {
 public:
  explicit LowerTriangle(std::size_t n) : n_(n), factor_(n * n, 0) {
    for (std::size_t i = 0; i < n; ++i) factor_[i * n + i] = 1;
  }
  void to_position(std::span<const Real> x, std::span<Real> q) override {
    for (std::size_t i = 0; i < n_; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j <= i; ++j) sum += factor_[j * n_ + i] * double(x[j]);
      q[i] = Real(sum);
    }
    std::copy(x.begin() + long(n_), x.end(), q.begin() + long(n_));
  }
  void to_coordinates(std::span<Real> q) override {
    std::vector<double> v(q.begin(), q.begin() + long(n_));
    solve_lower(factor_, v);
    for (std::size_t i = 0; i < n_; ++i) q[i] = Real(v[i]);
  }
  // Entry j of L' g needs g[j] and what lies below, so it may be put where g[j] was.
  void pull_back(std::span<Real> g) override {
    for (std::size_t j = 0; j < n_; ++j) {
      double sum = 0;
      for (std::size_t i = j; i < n_; ++i) sum += factor_[j * n_ + i] * double(g[i]);
      g[j] = Real(sum);
    }
  }
  std::span<const double> factor() const override { return factor_; }
  void use(std::span<const double> factor) override { std::ranges::copy(factor, factor_.begin()); }
  std::unique_ptr<Coordinates<Real>> clone() const override { return std::make_unique<LowerTriangle>(*this); }

 private:
  std::size_t n_;
  std::vector<double> factor_;  // column by column
};

}  // namespace

template <class Real>
std::unique_ptr<Coordinates<Real>> scaled_coordinates(std::size_t size, std::size_t dense) {
  if (dense) return std::make_unique<LowerTriangle<Real>>(dense);
  return std::make_unique<Diagonal<Real>>(size);
}

template std::unique_ptr<Coordinates<float>> scaled_coordinates(std::size_t, std::size_t);
template std::unique_ptr<Coordinates<double>> scaled_coordinates(std::size_t, std::size_t);

}  // namespace kelvin
