// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/switched.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kelvin {
namespace {

template <class Real>
class Switched final : public Law<Real> {
 public:
  explicit Switched(const Switching& how) : how_(how), shares_(how.nodes), memory_(2 * how.nodes + 4, Real(0)) {
    for (std::size_t k = 0; k < how_.nodes; ++k)
      g_.push_back(std::pow(how_.highest, -double(k) / double(how_.nodes - 1)));
  }
  bool splits() const override { return false; }
  std::span<Real> memory() override { return memory_; }
  double log_weight(std::span<const Real>) const override { return std::log(shares_[0] * double(how_.nodes)); }
  AskedFor asked_for(double, std::span<const Real>) const override { return {energy_, 1 / slope_}; }

  double operator()(double U, std::span<const Real>, std::span<Real> g) override {
    energy_ = U;
    if (begun() == Real(0)) begin();
    const double W = weigh();
    slope_ = 0;
    for (std::size_t k = 0; k < how_.nodes; ++k) slope_ += shares_[k] * g_[k];
    for (Real& x : g) x *= Real(slope_);
    if (double(evaluations()) < double(how_.learning)) learn();
    return W;
  }
  std::unique_ptr<Law<Real>> clone() const override { return std::make_unique<Switched>(*this); }

 private:
  // memory_: log Z_k (with U counted from `origin`, so that they stay small), sums of this look, and four numbers
  std::span<Real> log_z() { return std::span(memory_).first(how_.nodes); }
  std::span<Real> sums() { return std::span(memory_).subspan(how_.nodes, how_.nodes); }
  Real& begun() { return memory_[2 * how_.nodes]; }
  Real& origin() { return memory_[2 * how_.nodes + 1]; }
  Real& evaluations() { return memory_[2 * how_.nodes + 2]; }
  Real& looked() { return memory_[2 * how_.nodes + 3]; }

  void begin() { begun() = 1, origin() = Real(energy_); }

  // The share of each term in the sum; returns W.
  double weigh() {
    const double u = (energy_ - double(origin())) / how_.temperature;
    double highest = -INFINITY, sum = 0;
    for (std::size_t k = 0; k < how_.nodes; ++k) {
      shares_[k] = -g_[k] * u - double(log_z()[k]);
      highest = std::max(highest, shares_[k]);
    }
    for (double& x : shares_) sum += x = std::exp(x - highest);
    for (double& x : shares_) x /= sum;
    return -how_.temperature * (highest + std::log(sum / double(how_.nodes)));
  }

  // Looks of a tenth of what has gone before, at least 100 evaluations; after each half of what it says.
  void learn() {
    constexpr double rarest = 1e-30;
    ++evaluations();
    ++looked();
    for (std::size_t k = 0; k < how_.nodes; ++k) sums()[k] += Real(shares_[k] * double(how_.nodes));
    const bool last = double(evaluations()) >= double(how_.learning);
    if (!last && double(looked()) < std::max(100.0, double(evaluations()) / 10)) return;
    for (std::size_t k = 0; k < how_.nodes; ++k)
      log_z()[k] += Real(std::log(std::max(rarest, double(sums()[k]) / double(looked()))) / 2);
    for (std::size_t k = how_.nodes; k-- > 0;) log_z()[k] -= log_z()[0];
    std::fill(sums().begin(), sums().end(), Real(0));
    looked() = 0;
  }

  Switching how_;
  std::vector<double> g_, shares_;
  std::vector<Real> memory_;
  double energy_ = 0, slope_ = 1;  // of the last evaluation
};

}  // namespace

template <class Real>
std::unique_ptr<Law<Real>> switching_law(const Switching& how) {
  return std::make_unique<Switched<Real>>(how);
}

template std::unique_ptr<Law<float>> switching_law(const Switching&);
template std::unique_ptr<Law<double>> switching_law(const Switching&);

}  // namespace kelvin
