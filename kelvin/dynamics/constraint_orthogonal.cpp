// SPDX-License-Identifier: Apache-2.0
// Orthogonality: Q^T Q = 1 with Q (r x s, r >= s) the matrix, or its transpose if it is wide. Nothing is ever
// transposed: the products are.
#include <algorithm>
#include <cmath>

#include "kelvin/dynamics/constraint.h"
#include "kelvin/dynamics/constraint_loops.h"
#include "kelvin/function/gemm.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {
namespace {

template <class Real>
class Orthogonal final : public Manifold<Real> {
 public:
  explicit Orthogonal(const BlockConstraint& h)
      : rows_(h.rows),
        columns_(h.columns),
        small_(std::min(h.rows, h.columns)),
        tolerance_(h.numbers.number("tolerance")),
        most_(int(h.numbers.number("most"))),
        oblique_(h.numbers.text("projection") == "oblique") {
    if (tolerance_ == 0) tolerance_ = sizeof(Real) == 4 ? 1e-6 : 1e-13;
    for (auto* v : {&from_, &line_, &shift_, &began_, &back_q_, &back_p_}) v->resize(h.size());
    gram_.resize(small_ * small_);
  }

  // The straight line Q + (h/m) P, back along Q: P' = P - (m/h) Q L with L symmetric, Q' = Q + (h/m) P', P' made
  // tangent at Q' (RATTLE without a force).
  void drift(const ManifoldPoint<Real>& x, double time, ProjectionReport& report) override {
    if (report.retrace) std::copy(x.q.begin(), x.q.end(), began_.begin());
    if (!move(x.q, x.p, time)) ++report.fallbacks, ++report.irreversible;
    else if (report.retrace) report.irreversible += !returns(x, time);
  }

  void project(const ManifoldPoint<Real>& x, std::span<const Real> from, ProjectionReport& report) override {
    std::copy(x.q.begin(), x.q.end(), line_.begin());
    if (oblique_ && solve(x.q, from.data(), [&] { apply(Real(-0.5), from.data(), Real(1), x.q.data()); })) return;
    report.fallbacks += oblique_;
    polar(x.q);
  }

  // P - Q (P^T Q + Q^T P)/2
  void tangent(const ManifoldPoint<Real>& x) override { make_tangent(x.q, x.p); }

  Settled settle(const ManifoldPoint<Real>& x) override {
    Settled found;
    const double worst = off(x.q).entry;
    if (worst <= tolerance_) return found;
    found.moved = worst > 1e-4;
    std::copy(x.q.begin(), x.q.end(), line_.begin());
    polar(x.q);
    return found;
  }

  double residual(const ManifoldPoint<Real>& x) const override { return off(x.q).entry; }
  double tangency(const ManifoldPoint<Real>& x) const override {
    take_symmetric(x.q, x.p);
    double worst = 0;
    for (const Real c : gram_) worst = larger(worst, std::abs(double(c)));
    return worst;
  }

 private:
  bool tall() const { return rows_ >= columns_; }
  Factor<Real> matrix(const Real* a, bool turned) const { return {a, rows_, columns_, columns_, turned}; }

  // out = alpha A C + beta out with the symmetric C = gram_
  void apply(Real alpha, const Real* a, Real beta, Real* out) const {
    const Factor<Real> square{gram_.data(), small_, small_, small_};
    if (tall()) gemm(alpha, matrix(a, false), square, beta, out, columns_);
    else gemm(alpha, square, matrix(a, false), beta, out, columns_);
  }

  // E = Q^T Q - 1 in gram_
  Size off(std::span<const Real> q) const {
    gram(matrix(q.data(), tall()), gram_.data(), small_);
    [&] { KELVIN_RETURN_BEST(mirror_upper(small_, gram_.data())); }();
    KELVIN_RETURN_BEST(size_less_one(small_, gram_.data()));
  }

  // (Q^T P + P^T Q)/2 in gram_
  void take_symmetric(std::span<const Real> q, std::span<const Real> p) const {
    gemm(Real(1), matrix(q.data(), tall()), matrix(p.data(), !tall()), Real(0), gram_.data(), small_);
    KELVIN_RETURN_BEST(make_symmetric(small_, gram_.data()));
  }

  // The length of the longest column of Q - Q_0.
  double distance(std::span<const Real> q, const Real* from) const {
    if (tall()) KELVIN_RETURN_BEST(longest_column(rows_, columns_, q.data(), from));
    KELVIN_RETURN_BEST(longest_row(rows_, columns_, q.data(), from));
  }

  // Q = line - Q_0 L with Q^T Q = 1, by L += E/2, E = Q^T Q - 1: Newton's iteration with Q_0^T Q taken for 1; `back`
  // takes Q_0 E/2 from Q. The next E is E^2/4 - (D^T E + E D)/2 with D = Q_0^T Q - 1, so that no entry of it is larger
  // than |E| (|D| + |E|/4), of the longest columns: where that is little enough it need not be computed. At the end of
  // its precision an iteration no longer gains anything.
  template <class Back>
  bool solve(std::span<const Real> q, const Real* from, Back&& back) {
    double last = INFINITY;
    for (int k = 0; k < most_; ++k) {
      const Size E = off(q);
      if (E.entry <= tolerance_ || (E.entry >= last && E.entry <= 10 * tolerance_)) return true;
      if (!(E.entry < 10)) return false;
      last = E.entry;
      const double next = E.row * (distance(q, from) + E.row / 4);
      back();
      if (next <= tolerance_ / 2) return true;
    }
    return false;
  }

  // The orthogonal matrix nearest to line_: Q = Q (3 - Q^T Q)/2 (Newton and Schulz), which converges for singular
  // values below sqrt 3. The next E is -(3 - E) E^2/4. What is not finite stays so.
  void polar(std::span<Real> q) {
    double square = 0;
    for (const Real x : line_) square += double(x) * double(x);
    std::copy(line_.begin(), line_.end(), q.begin());
    if (!std::isfinite(square)) return;
    const double scale = 0.5 < off(q).entry * double(small_) ? 1 / std::sqrt(square) : 1;
    for (Real& x : q) x *= Real(scale);
    double last = INFINITY;
    constexpr int enough = 60;  // a singular value of 1e-10 has grown to 1 by then
    for (int k = 0; k < enough; ++k) {
      const Size E = off(q);
      if (E.entry <= tolerance_ || (E.entry >= last && E.entry <= 10 * tolerance_)) return;
      last = E.entry;
      apply(Real(-0.5), q.data(), Real(0), shift_.data());
      for (std::size_t i = 0; i < q.size(); ++i) q[i] += shift_[i];
      if (E.row * E.row <= tolerance_ / 2) return;
    }
    complete(q);
  }

  // Where line_ lacks rank there is no nearest matrix: its columns, made orthonormal in turn and completed by others.
  void complete(std::span<Real> q) const {
    const std::size_t tall_side = std::max(rows_, columns_);
    const auto place = [&](std::size_t i, std::size_t j) { return tall() ? i * columns_ + j : j * columns_ + i; };
    std::vector<double> columns(q.size());
    for (std::size_t j = 0; j < small_; ++j)
      for (std::size_t i = 0; i < tall_side; ++i) columns[j * tall_side + i] = double(line_[place(i, j)]);
    make_orthonormal(tall_side, small_, columns.data());
    for (std::size_t j = 0; j < small_; ++j)
      for (std::size_t i = 0; i < tall_side; ++i) q[place(i, j)] = Real(columns[j * tall_side + i]);
  }

  bool move(std::span<Real> q, std::span<Real> p, double time) {
    std::copy(q.begin(), q.end(), from_.begin());
    const auto follow = [&] { KELVIN_RETURN_BEST(move_along(q.size(), time, from_.data(), p.data(), q.data())); };
    follow();
    std::copy(q.begin(), q.end(), line_.begin());
    const bool solved =
        solve(q, from_.data(), [&] { apply(Real(-0.5 / time), from_.data(), Real(1), p.data()), follow(); });
    if (!solved) {
      polar(q);
      for (std::size_t i = 0; i < q.size(); ++i) p[i] = Real(1 / time) * (q[i] - from_[i]);
    }
    make_tangent(q, p);
    return solved;
  }

  // Whether the way back from x, where the drift has arrived, ends where it began.
  bool returns(const ManifoldPoint<Real>& x, double time) {
    std::copy(x.q.begin(), x.q.end(), back_q_.begin());
    std::copy(x.p.begin(), x.p.end(), back_p_.begin());
    if (!move(back_q_, back_p_, -time)) return false;
    double worst = 0;
    for (std::size_t i = 0; i < began_.size(); ++i)
      worst = larger(worst, std::abs(double(back_q_[i]) - double(began_[i])));
    return worst <= 1e3 * tolerance_;
  }

  void make_tangent(std::span<const Real> q, std::span<Real> p) {
    take_symmetric(q, p);
    apply(Real(-1), q.data(), Real(1), p.data());
  }

  std::size_t rows_, columns_, small_;
  double tolerance_;
  int most_;
  bool oblique_;
  std::vector<Real> from_, line_, shift_, began_, back_q_, back_p_;
  mutable std::vector<Real> gram_;
};

}  // namespace

template <class Real>
std::unique_ptr<Manifold<Real>> make_orthogonal(const BlockConstraint& held) {
  return std::make_unique<Orthogonal<Real>>(held);
}

template std::unique_ptr<Manifold<float>> make_orthogonal(const BlockConstraint&);
template std::unique_ptr<Manifold<double>> make_orthogonal(const BlockConstraint&);

}  // namespace kelvin
