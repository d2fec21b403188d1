// SPDX-License-Identifier: Apache-2.0
// A g(q) = 0 of one's own, given by its values and its Jacobian J: Newton's iteration, in double.
#include <Eigen/Dense>
#include <cmath>

#include "kelvin/dynamics/constraint.h"

namespace kelvin {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

template <class Real>
class Own final : public Manifold<Real> {
 public:
  explicit Own(const BlockConstraint& h) : own_(h.own), block_(h.block), part_(h.part) {
    const auto m = Eigen::Index(own_->count), n = Eigen::Index(h.size());
    for (Matrix* J : {&J_, &J0_}) J->resize(m, n);
    for (Vector* v : {&q_, &from_, &p_, &began_}) v->resize(n);
    for (Vector* v : {&g_, &step_, &multiplier_}) v->resize(m);
    square_.resize(m, m);
    solver_ = Eigen::PartialPivLU<Matrix>(m);
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
    report.irreversible += !(arrived && move(-time) && (q_ - began_).cwiseAbs().maxCoeff() <= 1e3 * tolerance_);
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
      slope(q_, J_);
      q_.noalias() -= J_.transpose() * solved(J_);
    }
    if (!(values() <= tolerance_))
      throw Error("the constraint on block \"{}\" cannot be met near where it starts: g is {:.3g}; start it elsewhere",
                  block_, g_.cwiseAbs().maxCoeff());
    write(q_, x.q);
    return found;
  }
  double residual(const ManifoldPoint<Real>& x) const override {
    Vector q(Eigen::Index(x.q.size())), g(Eigen::Index(own_->count));
    read(x.q, q);
    own_->values(std::span(q.data(), x.q.size()), std::span(g.data(), own_->count));
    return g.cwiseAbs().maxCoeff();
  }
  double tangency(const ManifoldPoint<Real>& x) const override {
    Vector q(Eigen::Index(x.q.size())), p = q;
    Matrix J(Eigen::Index(own_->count), q.size());
    read(x.q, q);
    read(x.p, p);
    slope(q, J);
    return (J * p).cwiseAbs().maxCoeff();
  }

 private:
  static void read(std::span<const Real> from, Vector& to) { std::copy(from.begin(), from.end(), to.data()); }
  static void write(const Vector& from, std::span<Real> to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = Real(from[Eigen::Index(i)]);
  }
  double values() {
    own_->values(std::span<const double>(q_.data(), std::size_t(q_.size())), std::span(g_.data(), own_->count));
    return g_.cwiseAbs().maxCoeff();
  }
  void slope(const Vector& q, Matrix& J) const {
    own_->jacobian(std::span<const double>(q.data(), std::size_t(q.size())),
                   std::span(J.data(), std::size_t(J.size())));
  }
  // (J(q) J_0^T)^-1 g
  const Vector& solved(const Matrix& J0) {
    square_.noalias() = J_ * J0.transpose();
    solver_.compute(square_);
    return step_ = solver_.solve(g_);
  }

  // From from_ along p_, to q_.
  bool move(double time) {
    q_ = from_ + time * p_;
    if (!solve()) return false;
    p_.noalias() -= J0_.transpose() * multiplier_ / time;
    make_tangent();
    return true;
  }

  // q_ - J_0^T l on the manifold, J_0 at from_
  bool solve() {
    slope(from_, J0_);
    multiplier_.setZero();
    double worst = values();
    for (int k = 0; k < own_->most && worst > tolerance_; ++k) {
      slope(q_, J_);
      multiplier_ += solved(J0_);
      q_.noalias() -= J0_.transpose() * step_;
      worst = values();
    }
    return worst <= tolerance_;
  }
  [[noreturn]] void give_up() {
    throw Error(
        "part \"{}\": after {} Newton iterations the constraint on block \"{}\" is still off by {:.3g}; reduce "
        "part.{}.step",
        part_, own_->most, block_, g_.cwiseAbs().maxCoeff(), part_);
  }

  // p_ - J^T (J J^T)^-1 J p_ at q_
  void make_tangent() {
    slope(q_, J_);
    g_.noalias() = J_ * p_;
    p_.noalias() -= J_.transpose() * solved(J_);
  }

  std::shared_ptr<const OwnConstraint> own_;
  std::string block_, part_;
  double tolerance_ = 0;
  Matrix J_, J0_, square_;
  Vector q_, from_, p_, began_, g_, step_, multiplier_;
  Eigen::PartialPivLU<Matrix> solver_;
};

}  // namespace

template <class Real>
std::unique_ptr<Manifold<Real>> make_own(const BlockConstraint& held) {
  return std::make_unique<Own<Real>>(held);
}

template std::unique_ptr<Manifold<float>> make_own(const BlockConstraint&);
template std::unique_ptr<Manifold<double>> make_own(const BlockConstraint&);

}  // namespace kelvin
