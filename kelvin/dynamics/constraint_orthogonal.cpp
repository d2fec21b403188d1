// SPDX-License-Identifier: Apache-2.0
// Orthogonality: Q^T Q = 1 with Q (r x s, r >= s) the matrix, or its transpose if it is wide. Nothing is ever
// transposed: the products are.
#include <algorithm>
#include <cmath>

#include "kelvin/core/sums.h"
#include "kelvin/dynamics/constraint.h"
#include "kelvin/dynamics/constraint_loops.h"
#include "kelvin/model/gemm.h"

namespace kelvin {
namespace {

template <class Real>
class Orthogonal final : public Manifold<Real> {
 public:
  explicit Orthogonal(const HeldConstraint& h)
      : rows_(h.rows),
        columns_(h.columns),
        small_(std::min(h.rows, h.columns)),
        tolerance_(h.numbers.number("tolerance")),
        most_(int(h.numbers.number("most"))),
        oblique_(h.numbers.text("projection") == "oblique") {
    if (tolerance_ == 0) tolerance_ = sizeof(Real) == 4 ? 1e-6 : 1e-13;
    for (auto* v : {&from_, &line_, &shift_, &began_, &back_q_, &back_p_}) v->resize(h.size());
    for (auto* v : {&gram_, &multiplier_}) v->resize(small_ * small_);
  }

  // The straight line Q + (h/m) P, back along Q: Q' = Q + (h/m) P - Q L with L symmetric, P' = P - (m/h) Q L made
  // tangent at Q' (RATTLE without a force).
  void drift(const Coordinates<Real>& x, double time, Tally& tally) override {
    if (tally.retrace) std::copy(x.q.begin(), x.q.end(), began_.begin());
    if (!move(x.q, x.p, time)) ++tally.fallbacks, ++tally.irreversible;
    else if (tally.retrace) tally.irreversible += !returns(x, time);
  }

  void project(const Coordinates<Real>& x, std::span<const Real> from, Tally& tally) override {
    std::copy(from.begin(), from.end(), from_.begin());
    std::copy(x.q.begin(), x.q.end(), line_.begin());
    if (oblique_ && solve(x.q)) return;
    tally.fallbacks += oblique_;
    polar(x.q);
  }

  // P - Q (P^T Q + Q^T P)/2
  void tangent(const Coordinates<Real>& x) override { make_tangent(x.q, x.p); }

  Settled settle(const Coordinates<Real>& x) override {
    Settled found;
    if (off(x.q) <= tolerance_) return found;
    found.moved = off(x.q) > 1e-4;
    std::copy(x.q.begin(), x.q.end(), line_.begin());
    polar(x.q);
    return found;
  }

  double residual(const Coordinates<Real>& x) const override { return off(x.q); }
  double tangency(const Coordinates<Real>& x) const override {
    multiply(Real(1), x.q.data(), x.p.data(), gram_.data());
    double worst = 0;
    for (std::size_t i = 0; i < small_; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        worst = std::fmax(worst, std::abs(double(gram_[i * small_ + j]) + double(gram_[j * small_ + i])) / 2);
    return worst;
  }

 private:
  bool tall() const { return rows_ >= columns_; }
  Factor<Real> matrix(const Real* a, bool turned) const { return {a, rows_, columns_, columns_, turned}; }
  Factor<Real> square(const Real* a) const { return {a, small_, small_, small_}; }

  // c = alpha A^T B, both r x s
  void multiply(Real alpha, const Real* a, const Real* b, Real* c) const {
    gemm(alpha, matrix(a, tall()), matrix(b, !tall()), Real(0), c, small_);
  }
  // out = alpha A L + beta out, L symmetric
  void apply(Real alpha, const Real* a, const Real* l, Real beta, Real* out) const {
    if (tall()) gemm(alpha, matrix(a, false), square(l), beta, out, columns_);
    else gemm(alpha, square(l), matrix(a, false), beta, out, columns_);
  }

  // Largest entry of Q^T Q - 1, which is left in gram_.
  double off(std::span<const Real> q) const {
    multiply(Real(1), q.data(), q.data(), gram_.data());
    for (std::size_t i = 0; i < small_; ++i) gram_[i * small_ + i] -= 1;
    KELVIN_RETURN_BEST(largest(gram_.size(), gram_.data()));
  }

  // Q = line - Q_0 L with Q^T Q = 1, Q_0 = from_, by L += E/2, E = Q^T Q - 1: Newton's iteration with Q_0^T Q taken
  // for 1. Leaves Q_0 L in shift_. The next E is E^2/4 - (D^T E + E D)/2 with D = Q_0^T Q - 1, so its norm is at most
  // |E| (|Q - Q_0| + |E|/4): where that is little enough it need not be computed. At the end of its precision an
  // iteration no longer gains anything.
  bool solve(std::span<Real> q) {
    std::fill(multiplier_.begin(), multiplier_.end(), Real(0)), std::fill(shift_.begin(), shift_.end(), Real(0));
    double last = INFINITY;
    for (int k = 0; k < most_; ++k) {
      const double worst = off(q);
      if (worst <= tolerance_ || (worst >= last && worst <= 10 * tolerance_)) return true;
      if (!(worst < 10)) return false;
      last = worst;
      const double next = norm(gram_) * (distance(q) + norm(gram_) / 4);
      for (std::size_t i = 0; i < multiplier_.size(); ++i) multiplier_[i] += gram_[i] / 2;
      apply(Real(1), from_.data(), multiplier_.data(), Real(0), shift_.data());
      for (std::size_t i = 0; i < q.size(); ++i) q[i] = line_[i] - shift_[i];
      if (next <= tolerance_ / 2) return true;
    }
    return false;
  }

  static double norm(const std::vector<Real>& a) { return std::sqrt(dot<Real>(a, a)); }
  double distance(std::span<const Real> q) {
    for (std::size_t i = 0; i < q.size(); ++i) shift_[i] = q[i] - from_[i];
    return norm(shift_);
  }

  // The orthogonal matrix nearest to line_: Q = Q (3 - Q^T Q)/2 (Newton and Schulz), which converges for singular
  // values below sqrt 3. What is not finite stays so.
  void polar(std::span<Real> q) {
    double square = 0;
    for (const Real x : line_) square += double(x) * double(x);
    std::copy(line_.begin(), line_.end(), q.begin());
    if (!std::isfinite(square)) return;
    const double scale = 0.5 < off(q) * double(small_) ? 1 / std::sqrt(square) : 1;
    for (Real& x : q) x *= Real(scale);
    double last = INFINITY;
    constexpr int enough = 200;  // a singular value of 1e-30 has grown to 1 by then
    for (int k = 0; k < enough; ++k) {
      const double worst = off(q);
      if (worst <= tolerance_ || (worst >= last && worst <= 10 * tolerance_)) return;
      last = worst;
      apply(Real(-0.5), q.data(), gram_.data(), Real(0), shift_.data());
      for (std::size_t i = 0; i < q.size(); ++i) q[i] += shift_[i];
    }
  }

  bool move(std::span<Real> q, std::span<Real> p, double time) {
    std::copy(q.begin(), q.end(), from_.begin());
    const Real t = Real(time), per_time = Real(1 / time);
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = line_[i] = from_[i] + t * p[i];
    const bool solved = solve(q);
    if (solved)
      for (std::size_t i = 0; i < q.size(); ++i) p[i] -= per_time * shift_[i];
    else {
      polar(q);
      for (std::size_t i = 0; i < q.size(); ++i) p[i] = per_time * (q[i] - from_[i]);
    }
    make_tangent(q, p);
    return solved;
  }

  // Whether the way back from x, where the drift has arrived, ends where it began.
  bool returns(const Coordinates<Real>& x, double time) {
    std::copy(x.q.begin(), x.q.end(), back_q_.begin()), std::copy(x.p.begin(), x.p.end(), back_p_.begin());
    if (!move(back_q_, back_p_, -time)) return false;
    double worst = 0;
    for (std::size_t i = 0; i < began_.size(); ++i)
      worst = std::fmax(worst, std::abs(double(back_q_[i]) - double(began_[i])));
    return worst <= 1e3 * tolerance_;
  }

  void make_tangent(std::span<const Real> q, std::span<Real> p) {
    multiply(Real(1), q.data(), p.data(), gram_.data());
    for (std::size_t i = 0; i < small_; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        gram_[i * small_ + j] = gram_[j * small_ + i] = (gram_[i * small_ + j] + gram_[j * small_ + i]) / 2;
    apply(Real(-1), q.data(), gram_.data(), Real(1), p.data());
  }

  std::size_t rows_, columns_, small_;
  double tolerance_;
  int most_;
  bool oblique_;
  std::vector<Real> from_, line_, shift_, multiplier_, began_, back_q_, back_p_;
  mutable std::vector<Real> gram_;
};

}  // namespace

template <class Real>
std::unique_ptr<Manifold<Real>> make_orthogonal(const HeldConstraint& held) {
  return std::make_unique<Orthogonal<Real>>(held);
}

template std::unique_ptr<Manifold<float>> make_orthogonal(const HeldConstraint&);
template std::unique_ptr<Manifold<double>> make_orthogonal(const HeldConstraint&);

}  // namespace kelvin
