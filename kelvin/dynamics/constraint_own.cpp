// SPDX-License-Identifier: Apache-2.0
// A g(q) = 0 of one's own, given by its values and its Jacobian J: Newton's iteration, in double.
#include <cmath>

#include "kelvin/dynamics/constraint.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {
namespace {

template <class Real>
class Own final : public Manifold<Real> {
 public:
  explicit Own(const BlockConstraint& h) : own_(h.own), block_(h.block), part_(h.part) {
    const std::size_t m = own_->count, n = h.size();
    for (Numbers* J : {&J_, &J0_}) J->resize(m * n);
    for (Numbers* v : {&q_, &from_, &p_}) v->resize(n);
    g_.resize(m);
    tolerance_ = sizeof(Real) == 4 ? std::max(1e-6, own_->tolerance) : own_->tolerance;
  }

  // q' = q + (h/m) (p - J^T l) with g(q') = 0, p' = p - J^T l made tangent at q' (RATTLE without a force)
  // Inside braces what cannot be done, or undone, is rejected.
  void drift(const ManifoldPoint<Real>& x, double time, ProjectionReport& report) override {
    read(x.q, from_);
    read(x.p, p_);
    if (report.retrace) began_ = from_;
    const bool arrived = move(time);
    if (!arrived && !report.retrace) give_up();
    write(q_, x.q);
    write(p_, x.p);
    if (!report.retrace) return;
    from_ = q_;
    report.irreversible += !(arrived && move(-time) && largest_size(less(rows(q_), began_)) <= 1e3 * tolerance_);
  }
  void project(const ManifoldPoint<Real>& x, std::span<const Real> from, ProjectionReport&) override {
    read(x.q, q_);
    read(from, from_);
    if (!solve()) give_up();
    write(q_, x.q);
  }
  void tangent(const ManifoldPoint<Real>& x) override {
    read(x.q, q_);
    read(x.p, p_);
    make_tangent();
    write(p_, x.p);
  }
  Settled settle(const ManifoldPoint<Real>& x) override {
    Settled found;
    read(x.q, q_);
    found.moved = values() > 1e-6;
    for (int k = 0; k < own_->most && values() > tolerance_; ++k) {
      own_->jacobian(q_, J_);
      take_off(q_, pull(J_, solved(J_)));
    }
    if (!(values() <= tolerance_))
      throw Error("the constraint on block \"{}\" cannot be met near where it starts: g is {:.3g}; start it elsewhere",
                  block_, largest_size(g_));
    write(q_, x.q);
    return found;
  }
  double residual(const ManifoldPoint<Real>& x) const override {
    Numbers q(x.q.size()), g(own_->count);
    read(x.q, q);
    own_->values(q, g);
    return largest_size(g);
  }
  double tangency(const ManifoldPoint<Real>& x) const override {
    Numbers q(x.q.size()), p(x.q.size()), J(own_->count * x.q.size());
    read(x.q, q);
    read(x.p, p);
    own_->jacobian(q, J);
    return largest_size(product(rows(J), p));
  }

 private:
  using Numbers = std::vector<double>;
  static void read(std::span<const Real> from, Numbers& to) { std::copy(from.begin(), from.end(), to.begin()); }
  static void write(const Numbers& from, std::span<Real> to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = Real(from[i]);
  }
  RowsView rows(const Numbers& numbers) const { return {numbers, q_.size()}; }
  double values() {
    own_->values(q_, g_);
    return largest_size(g_);
  }
  Numbers solved(const Numbers& J0) const { return solve_product(rows(J_), rows(J0), g_); }  // (J(q) J_0^T)^-1 g
  Numbers pull(const Numbers& J, const Numbers& l) const {                                   // J^T l
    Numbers out(q_.size());
    add_turned_product(rows(J), l, out);
    return out;
  }
  static void take_off(Numbers& from, const Numbers& x) {
    for (std::size_t i = 0; i < x.size(); ++i) from[i] -= x[i];
  }

  // From from_ along p_, to q_.
  bool move(double time) {
    for (std::size_t i = 0; i < q_.size(); ++i) q_[i] = from_[i] + time * p_[i];
    if (!solve()) return false;
    Numbers kick = pull(J0_, multiplier_);
    for (double& x : kick) x /= time;
    take_off(p_, kick);
    make_tangent();
    return true;
  }

  // q_ - J_0^T l on the manifold, J_0 at from_
  bool solve() {
    own_->jacobian(from_, J0_);
    multiplier_.assign(g_.size(), 0);
    double worst = values();
    for (int k = 0; k < own_->most && worst > tolerance_; ++k) {
      own_->jacobian(q_, J_);
      const Numbers step = solved(J0_);
      for (std::size_t i = 0; i < step.size(); ++i) multiplier_[i] += step[i];
      take_off(q_, pull(J0_, step));
      worst = values();
    }
    return worst <= tolerance_;
  }
  [[noreturn]] void give_up() {
    throw Error(
        "part \"{}\": after {} Newton iterations the constraint on block \"{}\" is still off by {:.3g}; reduce "
        "part.{}.step",
        part_, own_->most, block_, largest_size(g_), part_);
  }

  // p_ - J^T (J J^T)^-1 J p_ at q_
  void make_tangent() {
    own_->jacobian(q_, J_);
    g_ = product(rows(J_), p_);
    take_off(p_, pull(J_, solved(J_)));
  }

  std::shared_ptr<const OwnConstraint> own_;
  std::string block_, part_;
  double tolerance_ = 0;
  Numbers J_, J0_;  // row by row: one for each equation
  Numbers q_, from_, p_, began_, g_, multiplier_;
};

}  // namespace

template <class Real>
std::unique_ptr<Manifold<Real>> make_own(const BlockConstraint& held) {
  return std::make_unique<Own<Real>>(held);
}

template std::unique_ptr<Manifold<float>> make_own(const BlockConstraint&);
template std::unique_ptr<Manifold<double>> make_own(const BlockConstraint&);

}  // namespace kelvin
