// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/constraint.h"

#include <algorithm>
#include <cmath>

#include "kelvin/dynamics/constraint_loops.h"
#include "kelvin/dynamics/recipe.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

void fail(const Choice& choice, std::string_view parameter, std::string_view wanted, const std::string& given) {
  throw Error("{}{}constraint \"{}\": {} must be {}, not {}", choice.where, choice.where.empty() ? "" : ": ",
              choice.name, parameter, wanted, given);
}

void check_radius(const Choice& choice, const std::string& whose) {
  constexpr double least = 1e-12, most = 1e12;  // whose squares floats can hold
  const double r = choice.number(whose);
  if (!(r >= least && r <= most)) fail(choice, whose, "greater than 0 (1e-12 to 1e12)", fmt::format("{:g}", r));
}

// Whether q returns along the manifold's normal where it was rather than where it arrives.
bool is_oblique(const Choice& c) { return c.has("projection") && c.text("projection") == "oblique"; }

// y - l x on the sphere |q| = r that x lies on: |y|^2 - 2 l x.y + l^2 r^2 = r^2, the root near 0; nan if there is none.
double oblique_multiplier(double yy, double xy, double r) {
  return (xy - std::sqrt(xy * xy - r * r * (yy - r * r))) / (r * r);
}

// q^2 + s^2 = r^2 for every entry q and its slack s, so that |q| <= r.
template <class Real>
class Circle final : public Manifold<Real> {
 public:
  explicit Circle(const BlockConstraint& h) : r_(h.numbers.number("radius")), oblique_(is_oblique(h.numbers)) {}
  void drift(const ManifoldPoint<Real>& x, double time, ProjectionReport&) override {
    KELVIN_RETURN_BEST(circle_drift(planes(x), r_, time));
  }
  void project(const ManifoldPoint<Real>& x, std::span<const Real> from, ProjectionReport& report) override {
    for (std::size_t i = 0; oblique_ && i < x.q.size(); ++i) {
      const double q = double(x.q[i]), s = double(x.slack_q[i]);
      const double q0 = double(from[i]), s0 = double(from[x.q.size() + i]);
      const double l = oblique_multiplier(q * q + s * s, q * q0 + s * s0, r_);
      if (std::isnan(l)) ++report.fallbacks;
      else x.q[i] = Real(q - l * q0), x.slack_q[i] = Real(s - l * s0);
    }
    KELVIN_RETURN_BEST(circle_project(planes(x), r_));
  }
  void tangent(const ManifoldPoint<Real>& x) override { KELVIN_RETURN_BEST(circle_tangent(planes(x), r_)); }
  Settled settle(const ManifoldPoint<Real>& x) override {
    Settled found;
    for (std::size_t i = 0; i < x.q.size(); ++i) {
      const Real inside = std::clamp(x.q[i], Real(-r_), Real(r_));
      found.moved += inside != x.q[i];
      x.q[i] = inside;
      x.slack_q[i] = Real(std::sqrt(std::max(0.0, r_ * r_ - double(inside) * double(inside))));
      found.stuck += x.slack_q[i] == 0;
    }
    return found;
  }
  double residual(const ManifoldPoint<Real>& x) const override {
    double worst = 0;
    for (std::size_t i = 0; i < x.q.size(); ++i)
      worst = larger(worst, std::abs(std::pow(double(x.q[i]) / r_, 2) + std::pow(double(x.slack_q[i]) / r_, 2) - 1));
    return worst;
  }
  double tangency(const ManifoldPoint<Real>& x) const override {
    double worst = 0;
    for (std::size_t i = 0; i < x.q.size(); ++i)
      worst = larger(worst, std::abs(double(x.q[i]) * double(x.p[i]) + double(x.slack_q[i]) * double(x.slack_p[i])));
    return worst / r_;
  }

 private:
  static Planes<Real> planes(const ManifoldPoint<Real>& x) {
    return {x.q.size(), x.q.data(), x.slack_q.data(), x.p.data(), x.slack_p.data()};
  }
  double r_;
  bool oblique_;
};

// |w|^2 = r^2 for every row w, or for every row with its slack, so that |row| <= r.
template <class Real>
class Sphere final : public Manifold<Real> {
 public:
  explicit Sphere(const BlockConstraint& h)
      : r_(h.numbers.number("radius")), oblique_(is_oblique(h.numbers)), columns_(h.columns) {}

  // w' = c w + (s r/|p|) p, p' = c p - (s |p|/r) w with c, s = cos, sin of |p| h/(m r): the great circle through w
  // along p. First the rounding of earlier steps is undone, w by a factor a and p by b w.
  void drift(const ManifoldPoint<Real>& x, double time, ProjectionReport&) override {
    each_row(x, [&](std::size_t, Row w, Row p) {
      const double ww = square(w, w), wp = square(w, p), a = r_ / std::sqrt(ww), b = wp / ww;
      const double speed = std::sqrt(std::max(0.0, square(p, p) - b * wp));
      if (speed == 0) return;
      const double angle = speed * time / r_, c = std::cos(angle), s = std::sin(angle), far = s * r_ / speed;
      change(w, p, {c * a - far * b, far, -c * b - s * speed / r_ * a, c});
    });
  }
  void project(const ManifoldPoint<Real>& x, std::span<const Real> from, ProjectionReport& report) override {
    const std::size_t slacks = x.q.size();
    each_row(x, [&](std::size_t k, Row w, Row) {
      if (oblique_) {
        const auto old = from.subspan(k * columns_, columns_);
        double xy = dot<Real>(w.entries, old);
        if (w.slack) xy += double(*w.slack) * double(from[slacks + k]);
        const double l = oblique_multiplier(square(w, w), xy, r_);
        if (std::isnan(l)) ++report.fallbacks;
        else {
          for (std::size_t i = 0; i < columns_; ++i) w.entries[i] -= Real(l) * old[i];
          if (w.slack) *w.slack -= Real(l) * from[slacks + k];
        }
      }
      const double scale = r_ / std::sqrt(square(w, w));
      for (Real& e : w.entries) e *= Real(scale);
      if (w.slack) *w.slack *= Real(scale);
    });
  }
  void tangent(const ManifoldPoint<Real>& x) override {
    each_row(x, [&](std::size_t, Row w, Row p) { change(w, p, {1, 0, -square(w, p) / square(w, w), 1}); });
  }
  Settled settle(const ManifoldPoint<Real>& x) override {
    Settled found;
    each_row(x, [&](std::size_t, Row w, Row) {
      const double norm = std::sqrt(dot<Real>(w.entries, w.entries)), off = std::abs(norm / r_ - 1);
      if (norm > r_ || !w.slack) {
        found.moved += off > 1e-6;
        if (norm == 0) w.entries[0] = Real(r_);
        else
          for (Real& e : w.entries) e *= Real(r_ / norm);
      }
      if (!w.slack) return;
      *w.slack = Real(std::sqrt(std::max(0.0, r_ * r_ - norm * norm)));
      found.stuck += *w.slack == 0;
    });
    return found;
  }
  double residual(const ManifoldPoint<Real>& x) const override {
    double worst = 0;
    each_row(x, [&](std::size_t, Row w, Row) { worst = larger(worst, std::abs(square(w, w) / (r_ * r_) - 1)); });
    return worst;
  }
  double tangency(const ManifoldPoint<Real>& x) const override {
    double worst = 0;
    each_row(x, [&](std::size_t, Row w, Row p) { worst = larger(worst, std::abs(square(w, p)) / r_); });
    return worst;
  }

 private:
  struct Row {
    std::span<Real> entries;
    Real* slack;
  };
  template <class F>
  void each_row(const ManifoldPoint<Real>& x, F&& f) const {
    for (std::size_t k = 0; k * columns_ < x.q.size(); ++k) {
      const bool slack = !x.slack_q.empty(), moving = !x.p.empty();  // an initial point has no p yet
      f(k, Row{x.q.subspan(k * columns_, columns_), slack ? &x.slack_q[k] : nullptr},
        moving ? Row{x.p.subspan(k * columns_, columns_), slack ? &x.slack_p[k] : nullptr} : Row{});
    }
  }
  static double square(const Row& a, const Row& b) {
    return dot<Real>(a.entries, b.entries) + (a.slack ? double(*a.slack) * double(*b.slack) : 0);
  }
  static void change(const Row& w, const Row& p, std::initializer_list<double> k) {
    const auto apply = [&](std::size_t n, Real* q, Real* v) { KELVIN_RETURN_BEST(combine(n, k.begin(), q, v)); };
    apply(w.entries.size(), w.entries.data(), p.entries.data());
    if (w.slack) apply(1, w.slack, p.slack);
  }
  double r_;
  bool oblique_;
  std::size_t columns_;
};

// |q| <= r, from which both q and p are reflected: no equation, so that nothing is lost of the tangent space.
template <class Real>
class Box final : public Manifold<Real> {
 public:
  explicit Box(const BlockConstraint& h) : r_(Real(h.numbers.number("radius"))) {}
  void drift(const ManifoldPoint<Real>& x, double time, ProjectionReport&) override {
    for (std::size_t i = 0; i < x.q.size(); ++i) {
      x.q[i] += Real(time) * x.p[i];
      if (reflect(x.q[i])) x.p[i] = -x.p[i];
    }
  }
  // What a descent brings to a wall stays there; reflected, it would never come to rest.
  void project(const ManifoldPoint<Real>& x, std::span<const Real>, ProjectionReport& report) override {
    for (Real& q : x.q)
      if (report.descends) q = std::clamp(q, -r_, r_);
      else reflect(q);
  }
  void tangent(const ManifoldPoint<Real>&) override {}
  Settled settle(const ManifoldPoint<Real>& x) override {
    Settled found;
    for (Real& q : x.q) found.moved += std::abs(q) > r_, q = std::clamp(q, -r_, r_);
    return found;
  }
  double residual(const ManifoldPoint<Real>& x) const override {
    double worst = 0;
    for (const Real q : x.q) worst = larger(worst, double(std::abs(q) / r_ - 1));
    return worst;
  }
  double tangency(const ManifoldPoint<Real>&) const override { return 0; }

 private:
  // A line folded at -r and r; true after an odd number of folds.
  bool reflect(Real& q) const {
    if (!(std::abs(q) > r_)) return false;
    const Real folds = std::floor((q + r_) / (2 * r_));
    const bool odd = std::fmod(folds, Real(2)) != 0;
    q = std::clamp(odd ? -(q - 2 * r_ * folds) : q - 2 * r_ * folds, -r_, r_);
    return odd;
  }
  Real r_;
};

constexpr Parameter radius{
    "radius", "",
    "radius, above 0; or a table { \"layer1.*\" = 0.05, \"*\" = 0.1 }, of which the longest pattern counts"};
constexpr Parameter biases{"biases", "false", "true: biases too, each block of them as one row"};
constexpr Parameter projection{
    "projection", "\"orthogonal\"",
    "how S and optimizers return: \"orthogonal\", to the nearest point, or \"oblique\", along "
    "the normal of the last one"};
constexpr Parameter round_parameters[] = {radius, biases, projection};
constexpr Parameter box_parameters[] = {radius, biases};
constexpr Parameter orthogonal_parameters[] = {
    {"projection", "\"oblique\"",
     "how S and optimizers return: \"oblique\", along the normal of the last point, or \"orthogonal\", to the nearest "
     "one"},
    biases,
    {"tolerance", "0.0", "largest entry of Q^T Q - 1 that is left; 0 is 1e-13 in double and 1e-6 in float"},
    {"most", "100", "iterations before the nearest orthogonal matrix is taken instead"}};

std::size_t one(std::size_t, std::size_t) { return 1; }
std::size_t none(std::size_t, std::size_t) { return 0; }
std::size_t symmetric(std::size_t rows, std::size_t columns) {
  const std::size_t s = std::min(rows, columns);
  return s * (s + 1) / 2;
}

template <template <class> class M, class Real>
std::unique_ptr<Manifold<Real>> make(const BlockConstraint& h) {
  return std::make_unique<M<Real>>(h);
}

constexpr Constraint all_constraints[] = {
    {"circle", round_parameters, Unit::entry, true, one, make<Circle, float>, make<Circle, double>, "",
     "each weight w has a slack s with w^2 + s^2 = radius^2, so |w| <= radius; exact rotations"},
    {"sphere", round_parameters, Unit::row, true, one, make<Sphere, float>, make<Sphere, double>, "",
     "each row w of a matrix has a slack s with |w|^2 + s^2 = radius^2, so |w| <= radius; exact great circles"},
    {"norm", round_parameters, Unit::row, false, one, make<Sphere, float>, make<Sphere, double>, "",
     "each row of a matrix has length radius; exact great circles"},
    {"orthogonal", orthogonal_parameters, Unit::block, false, symmetric, make_orthogonal<float>,
     make_orthogonal<double>, "orthogonal",
     "Q^T Q = 1, Q being the matrix or, if it is wide, its transpose; by quasi-Newton iterations"},
    {"box", box_parameters, Unit::entry, false, none, make<Box, float>, make<Box, double>, "",
     "|w| <= radius by reflection"},
};

}  // namespace

std::span<const Constraint> constraints() { return all_constraints; }

Unit BlockConstraint::unit() const { return row ? row->unit : Unit::block; }

std::size_t BlockConstraint::units() const { return unit() == Unit::entry ? size() : unit() == Unit::row ? rows : 1; }

std::size_t BlockConstraint::removed() const { return own ? own->count : units() * row->equations(rows, columns); }

BlockConstraint constraint_chosen(const Choice& choice, const std::string& part) {
  BlockConstraint held;
  if (choice.name == "constant")
    throw Error(
        "{}: a constraint is a name with its numbers, such as {{ name = \"circle\", radius = 1.0 }}, not a number",
        choice.where);
  held.row = &row_named(choice.name, constraints(), "constraint", choice.where);
  held.numbers = choice.completed(held.row->parameters, "constraint");
  held.part = part;
  for (const Parameter& p : held.row->parameters) {
    const std::string name(p.name);
    if (p.name == radius.name) {
      const auto given = held.numbers.values.find(name);
      if (given == held.numbers.values.end() || !given->second.group()) check_radius(held.numbers, name);
      else
        for (const auto& [pattern, r] : std::get<Value::Group>(given->second.is))
          check_radius(Choice(held.numbers.name, {{pattern, r}}), pattern);
    }
    if (p.name == projection.name)
      if (const auto how = held.numbers.text(name); how != "oblique" && how != "orthogonal")
        fail(held.numbers, name, "\"orthogonal\" or \"oblique\"", fmt::format("\"{}\"", how));
    const auto number = [&] { return held.numbers.number(name); };
    if (p.name == "tolerance" && number() != 0 && !(number() >= 1e-15 && number() < 1))
      fail(held.numbers, name, "0, or at least 1e-15 and below 1", fmt::format("{:g}", number()));
    if (p.name == "most" && !(number() >= 1 && number() <= 1e6 && number() == std::floor(number())))
      fail(held.numbers, name, "a whole number from 1 to 1000000", fmt::format("{:g}", number()));
  }
  return held;
}

BlockConstraint constraint_on(BlockConstraint held, const std::string& block) {
  const auto at = held.numbers.values.find(std::string(radius.name));
  if (at == held.numbers.values.end() || !at->second.group()) return held;
  std::pair<std::string, Value> best;
  for (const auto& [pattern, r] : std::get<Value::Group>(at->second.is))
    if (matches(pattern, block) && pattern.size() >= best.first.size()) best = {pattern, r};
  if (best.first.empty())
    throw Error("{}: constraint \"{}\": no radius is given for block \"{}\"; add one, \"*\" = ... for all others",
                at->second.where, held.numbers.name, block);
  at->second = best.second;
  return held;
}

bool holds(const BlockConstraint& held, const Block& block) {
  bool biases_too = false;
  assign(biases_too, held.numbers.values.at("biases"), "biases");
  return biases_too || block.is_matrix();
}

template <class Real>
std::unique_ptr<Manifold<Real>> make_manifold(const BlockConstraint& held) {
  if (held.own) return make_own<Real>(held);
  if constexpr (std::is_same_v<Real, float>) return held.row->make_float(held);
  else return held.row->make_double(held);
}

template std::unique_ptr<Manifold<float>> make_manifold(const BlockConstraint&);
template std::unique_ptr<Manifold<double>> make_manifold(const BlockConstraint&);

}  // namespace kelvin
