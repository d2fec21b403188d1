// SPDX-License-Identifier: Apache-2.0
// What every constraint promises, whatever the scheme: it holds, it is reversible, nothing else changes.
#include "kelvin/dynamics/constraint.h"

#include <gmock/gmock.h>

#include "tests/allocations.h"
#include "tests/manifold.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

struct Case {
  Choice on;
  std::size_t rows, columns;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& [rows, columns] : {std::pair{std::size_t(7), std::size_t(4)}, {4, 7}, {5, 5}}) {
    for (const char* name : {"circle", "sphere", "norm"})
      for (const char* how : {"orthogonal", "oblique"})
        all.push_back({constraint(name, 0.8, {{"projection", std::string(how)}}), rows, columns});
    for (const char* how : {"orthogonal", "oblique"})
      all.push_back({constraint("orthogonal", 0, {{"projection", std::string(how)}}), rows, columns});
    all.push_back({constraint("box", 0.8), rows, columns});
  }
  return all;
}

std::vector<double> slopes(std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = std::sin(double(i));
  return out;
}

template <class Real>
void expect_held(double most) {
  for (const Case& c : cases())
    for (const char* scheme : {"BAOAB", "OBA", "ABO", "OBABO", "S", "BARAB", "BACDEDCAB", "R{BAB}", "adam", "lamb"})
      for (const double T : {0.0, 0.1}) {
        const bool metropolis = scheme[0] == 'R';
        if (metropolis && T == 0) continue;
        const auto s = slopes(c.rows * c.columns);
        HeldWalker<Real> w(Linear<Real>(1, c.rows, c.columns, std::vector<Real>(s.begin(), s.end())),
                           held(moving(scheme, 0.05, 1, T), c.on));
        for (int n = 0; n < 299; ++n) w.chain.step();
        w.chain.step_and_read();
        const PartReading& r = w.chain.reading().parts[0];
        EXPECT_LE(r.residual, most) << c.on.name << " " << c.rows << " " << scheme;
        EXPECT_FALSE(r.tangency > most) << c.on.name << " " << c.rows << " " << scheme;  // nan without momenta
        EXPECT_EQ(r.fallbacks, 0) << c.on.name << " " << scheme;
      }
}
TEST(Constraint, HoldsAtEveryStepOfEverySchemeInDouble) { expect_held<double>(1e-12); }
TEST(Constraint, HoldsAtEveryStepOfEverySchemeInFloat) { expect_held<float>(1e-5); }

// A manifold with a point and a momentum on it.
struct Placed {
  BlockConstraint how;
  std::vector<double> q, p;
  std::unique_ptr<Manifold<double>> on;
  ProjectionReport report;
  explicit Placed(const Case& c) : how(constraint_chosen(c.on, "all")) {
    how.block = "W", how.rows = c.rows, how.columns = c.columns;
    if (how.row->has_slack) how.slack_count = how.units();
    q.resize(how.size() + how.slack_count), p.resize(q.size());
    const Noise<double> noise;
    noise.normals({1, 0, 0, 0}, 0, q), noise.normals({2, 0, 0, 0}, 0, p);
    for (double& x : q) x *= 0.3;
    on = make_manifold<double>(how);
    on->settle(here());
    on->tangent(here());
  }
  ManifoldPoint<double> here() {
    const std::size_t n = how.size();
    return {std::span(q).first(n), std::span(p).first(n), std::span(q).subspan(n), std::span(p).subspan(n)};
  }
};
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}
double square(const std::vector<double>& p) {
  double sum = 0;
  for (const double x : p) sum += x * x;
  return sum;
}

TEST(Constraint, DriftsThereAndBackReturn) {
  for (const Case& c : cases())
    for (const double time : {0.02, 0.1}) {
      Placed x(c);
      const auto q = x.q, p = x.p;
      x.on->drift(x.here(), time, x.report);
      EXPECT_GT(distance(x.q, q), time / 10) << c.on.name;
      for (double& v : x.p) v = -v;
      x.on->drift(x.here(), time, x.report);
      for (double& v : x.p) v = -v;
      EXPECT_LT(distance(x.q, q), 1e-11) << c.on.name;
      EXPECT_LT(distance(x.p, p), 1e-10) << c.on.name;
      EXPECT_EQ(x.report.fallbacks, 0u) << c.on.name;
    }
}

TEST(Constraint, TangentTwiceIsTangentOnceAndShortens) {
  for (const Case& c : cases()) {
    Placed x(c);
    const Noise<double> noise;
    noise.normals({3, 0, 0, 0}, 0, x.p);
    const double before = square(x.p);
    x.on->tangent(x.here());
    const auto once = x.p;
    EXPECT_LE(square(once), before + 1e-12);
    EXPECT_LT(x.on->tangency(x.here()), 2e-13) << c.on.name;  // what Q^T Q = 1 is held to
    x.on->tangent(x.here());
    EXPECT_LT(distance(x.p, once), 2e-13) << c.on.name;
  }
}

// Exact geodesics keep the speed, and many short drifts are one long one.
TEST(Constraint, ExactDriftsKeepTheSpeedAndCompose) {
  for (const char* name : {"circle", "sphere", "norm", "box"}) {
    Placed once({constraint(name, 0.8), 7, 5}), often({constraint(name, 0.8), 7, 5});
    const double speed = square(once.p);
    once.on->drift(once.here(), 40, once.report);
    for (int k = 0; k < 100; ++k) often.on->drift(often.here(), 0.4, often.report);
    EXPECT_NEAR(square(once.p), speed, 1e-12 * speed) << name;
    EXPECT_LT(distance(once.q, often.q), 1e-11) << name;
  }
}

// q' = q cos + s sin, s' = -q sin + s cos, all from the old q and s: in place, s' would use the new q.
TEST(Constraint, CircleDriftIsTheRotation) {
  for (const double time : {1e-4, 0.3, 7.0, 1e3}) {
    Placed x({constraint("circle", 0.8), 1, 37});
    const auto q = x.q, p = x.p;
    x.on->drift(x.here(), time, x.report);
    double in_place = 0;
    for (std::size_t i = 0; i < 37; ++i) {
      const double s = q[37 + i], a = (s * p[i] - q[i] * p[37 + i]) / 0.64 * time;
      EXPECT_NEAR(x.q[i], std::cos(a) * q[i] + std::sin(a) * s, 1e-12 * (1 + time));
      EXPECT_NEAR(x.q[37 + i], std::cos(a) * s - std::sin(a) * q[i], 1e-12 * (1 + time));
      in_place = std::max(in_place, std::abs(x.q[37 + i] - (std::cos(a) * s - std::sin(a) * x.q[i])));
    }
    EXPECT_TRUE(time < 0.1 || in_place > 1e-3);
  }
}

TEST(Constraint, ObliqueReturnsAlongTheOldNormalOrthogonalToTheNearestPoint) {
  const Noise<double> noise;
  for (const Case& c : cases()) {
    if (!c.on.has("projection")) continue;
    Placed x(c), left(c);
    const auto from = x.q;
    std::vector<double> step(x.q.size());
    noise.normals({4, 0, 0, 0}, 0, step);
    for (std::size_t i = 0; i < step.size(); ++i) left.q[i] = x.q[i] += 0.02 * step[i];
    x.on->project(x.here(), from, x.report);
    EXPECT_LT(x.on->residual(x.here()), 1e-12);
    // What was taken away is normal to the manifold at `from` or at the new point: its tangent part vanishes.
    for (std::size_t i = 0; i < step.size(); ++i) left.p[i] = left.q[i] - x.q[i];
    left.q = c.on.text("projection") == "oblique" ? from : x.q;
    const double all = square(left.p);
    left.on->tangent(left.here());
    EXPECT_LT(square(left.p), 1e-20) << c.on.name << c.on.text("projection");
    EXPECT_GT(all, 1e-4);
    EXPECT_LT(all, 0.02 * 0.02 * square(step)) << c.on.name << ": the far side of the manifold is not what is meant";
  }
}

// Far along a tangent no point of a sphere lies on the old normal: the nearest one is taken, and every unit counted.
TEST(Constraint, AnObliqueReturnFromTooFarIsCounted) {
  for (const char* name : {"circle", "sphere", "norm"})
    for (const double far : {1e-3, 1e4}) {
      Placed x({constraint(name, 0.8, {{"projection", std::string("oblique")}}), 7, 4});
      const auto from = x.q;
      for (std::size_t i = 0; i < x.q.size(); ++i) x.q[i] += far * x.p[i];
      x.on->project(x.here(), from, x.report);
      EXPECT_EQ(x.report.fallbacks, far < 1 ? 0 : x.how.units()) << name;
      EXPECT_LT(x.on->residual(x.here()), 1e-12) << name;
    }
}

// A g of one's own, Q^T Q = 1 of a 4 x 2 matrix written out, moves as the row does.
TEST(Constraint, AnOwnOneMovesAsTheRowDoes) {
  OwnConstraint own;
  own.count = 3;
  own.values = [](std::span<const double> q, std::span<double> g) {
    g[0] = g[1] = -1, g[2] = 0;
    for (int k = 0; k < 4; ++k)
      g[0] += q[2 * k] * q[2 * k], g[1] += q[2 * k + 1] * q[2 * k + 1], g[2] += q[2 * k] * q[2 * k + 1];
  };
  own.jacobian = [](std::span<const double> q, std::span<double> J) {
    for (int k = 0; k < 4; ++k) {
      J[2 * k] = 2 * q[2 * k], J[2 * k + 1] = 0;
      J[8 + 2 * k] = 0, J[8 + 2 * k + 1] = 2 * q[2 * k + 1];
      J[16 + 2 * k] = q[2 * k + 1], J[16 + 2 * k + 1] = q[2 * k];
    }
  };
  const Linear<double> U(1, 4, 2, slopes(8));
  for (const char* scheme : {"BAOAB", "S", "lamb"}) {
    const auto part = moving(scheme, 0.1, 1, 0.2);
    HeldWalker<double> row(U, held(part, constraint("orthogonal")));
    Recipe recipe = recipe_for(U, part);
    constrain(recipe, "W0", own);
    EXPECT_EQ(recipe.parts[0].freedom(), 8u);
    HeldWalker<double> mine(new Linear<double>(U), recipe);
    std::vector<double> start(row.chain.q().begin(), row.chain.q().end());
    row.chain.start(start), mine.chain.start(start);
    for (int n = 0; n < 50; ++n) row.chain.step(), mine.chain.step_and_read();
    EXPECT_LT(distance({row.chain.q().begin(), row.chain.q().end()}, {mine.chain.q().begin(), mine.chain.q().end()}),
              1e-9)
        << scheme;
    EXPECT_LT(mine.chain.reading().parts[0].residual, 1e-12);
  }
  Recipe recipe = recipe_for(U, moving("S", 50));
  constrain(recipe, "W0", own);
  HeldWalker<double> fast(new Linear<double>(U), recipe);
  try {
    for (int n = 0; n < 100; ++n) fast.chain.step();
    FAIL() << "steps of 50 were projected";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("reduce part.all.step"));
  }
}

// A gradient that throws the matrix far away defeats the iteration; the nearest orthogonal matrix is taken, and
// counted.
TEST(Constraint, ASpikeIsSurvivedAndCounted) {
  for (const char* scheme : {"S", "BAOAB", "lamb"}) {
    auto part = held(moving(scheme, 0.1, 1, 0.01), constraint("orthogonal"));
    part.trust = 0.1;
    HeldWalker<double> w(Linear<double>(1, 6, 4, slopes(24)), part);
    for (int n = 0; n < 20; ++n) w.chain.step_and_read();
    EXPECT_EQ(w.chain.reading().parts[0].fallbacks, 0) << scheme;
    w.U->spike = 1000;
    w.chain.restore([&] {
      auto s = w.chain.state();
      if (scheme[0] == 'l') w.chain.pace(300);
      return s.stale = 1, s;
    }());
    for (int n = 0; n < 3; ++n) w.chain.step_and_read();
    w.U->spike = 1, w.chain.pace(1);
    const double counted = w.chain.reading().parts[0].fallbacks;
    EXPECT_GT(counted, 0) << scheme;
    EXPECT_LT(w.chain.reading().parts[0].residual, 1e-12) << scheme;
    HeldWalker<double> resumed(Linear<double>(1, 6, 4, slopes(24)), part);
    resumed.chain.restore(w.chain.state());
    resumed.chain.step_and_read();
    EXPECT_GE(resumed.chain.reading().parts[0].fallbacks, counted) << "the count is lost in a checkpoint";
  }
}

TEST(Constraint, RunsResumeBitForBitAndReadingsChangeNothing) {
  for (const Case& c : cases())
    for (const char* scheme : {"BAOAB", "OBABO", "S", "BACDEDCAB", "R{(BAB)2}", "lamb"}) {
      const Linear<double> U(2, c.rows, c.columns, slopes(c.rows * c.columns));
      const auto part = held(moving(scheme, 0.1, 1, 0.1), c.on);
      HeldWalker<double> all(U, part), first(U, part), rest(U, part, 1);
      for (int n = 0; n < 30; ++n) all.chain.step();
      for (int n = 0; n < 13; ++n) first.chain.step_and_read();
      rest.chain.restore(first.chain.state());
      for (int n = 13; n < 30; ++n) rest.chain.step();
      EXPECT_TRUE(std::ranges::equal(all.chain.q(), rest.chain.q())) << c.on.name << " " << scheme;
      EXPECT_TRUE(std::ranges::equal(all.chain.p(), rest.chain.p())) << c.on.name << " " << scheme;
    }
}

TEST(Constraint, BytesDoNotDependOnThreads) {
  for (const auto& on : {constraint("circle", 1), constraint("sphere", 1)}) {
    const auto part = held(moving("BAOAB", 0.1, 1, 0.1), on);
    HeldWalker<float> one(Linear<float>(1, 300, 1000), part), three(Linear<float>(1, 300, 1000), part);
    three.chain.use_threads(3);
    for (int n = 0; n < 3; ++n) one.chain.step(), three.chain.step();
    EXPECT_TRUE(std::ranges::equal(one.chain.q(), three.chain.q())) << on.name;
  }
}

TEST(Constraint, AStepAllocatesNothing) {
  for (const Case& c : cases())
    for (const char* scheme : {"BAOAB", "S", "lamb", "R{BAB}"}) {
      HeldWalker<double> w(Linear<double>(1, c.rows, c.columns), held(moving(scheme, 0.1, 1, 0.1), c.on));
      for (int n = 0; n < 3; ++n) w.chain.step_and_read();
      const std::size_t before = allocations;
      for (int n = 0; n < 20; ++n) w.chain.step_and_read();
      EXPECT_EQ(allocations, before) << c.on.name << " " << scheme;
    }
}

TEST(Constraint, SlackFollowsItsBlockAndStartsPositive) {
  HeldWalker<double> w(Linear<double>(2, 5, 3), held(moving("BAOAB", 0.1), constraint("circle", 0.5)));
  const auto q = w.block("W1"), s = w.block("W1.slack");
  ASSERT_EQ(s.size(), 15u);
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_LE(std::abs(q[i]), 0.5);
    EXPECT_NEAR(s[i], std::sqrt(0.25 - q[i] * q[i]), 1e-15);
  }
  EXPECT_EQ(w.chain.recipe().parts[0].freedom(), 33u);  // 30 weights and 3 free numbers
  HeldWalker<double> rows(Linear<double>(2, 5, 3), held(moving("BAOAB", 0.1), constraint("sphere", 0.5)));
  EXPECT_EQ(rows.block("W0.slack").size(), 5u);
}

TEST(Constraint, StartsOffTheManifoldAreRemarkedAndStuckOnesCounted) {
  const Linear<double> U(1, 2, 2);
  for (const auto& [T, remarks] : {std::pair{0.0, 2u}, {1.0, 1u}}) {
    const Recipe recipe = recipe_for(U, held(moving("S", 0.1, 1, T), constraint("circle", 0.5)));
    std::vector<double> q(recipe.size);
    q[recipe.blocks[0].offset] = -7, q[recipe.blocks[0].offset + 1] = 0.3;
    std::vector<std::string> said;
    settle<double>(recipe, q, [&](std::string_view text) { said.emplace_back(text); });
    EXPECT_EQ(q[recipe.blocks[0].offset], -0.5);
    EXPECT_EQ(q[recipe.blocks[0].offset + 1], 0.3);
    ASSERT_EQ(said.size(), remarks);
    EXPECT_THAT(said[0], HasSubstr("1 of 4 entries"));
    EXPECT_THAT(said.back(), HasSubstr(T == 0 ? "1 of 4 slack coordinates" : "1 of 4 entries"));
  }
}

// An irreversible drift may not be accepted: with steps that the iteration cannot follow, Metropolis refuses them all.
TEST(Constraint, MetropolisRefusesDriftsThatDoNotReturn) {
  HeldWalker<double> w(Linear<double>(1, 3, 3), held(moving("R{BAB}", 30), constraint("orthogonal")));
  const std::vector<double> before(w.block("W0").begin(), w.block("W0").end());
  for (int n = 0; n < 50; ++n) w.chain.step_and_read();
  EXPECT_LT(w.chain.reading().acceptance, 0.1);
  EXPECT_LT(w.chain.reading().parts[0].residual, 1e-12);
}

TEST(Constraint, MisuseIsRefusedInOneSentence) {
  const Linear<double> U(1, 4, 3);
  const auto refusal = [&](PartSettings part, const std::vector<std::string>& freeze = {}) -> std::string {
    try {
      make_recipe({{"all", part}}, freeze, U.blocks(), {});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const auto plain = moving("BAOAB", 0.1);
  EXPECT_THAT(refusal(held(plain, constraint("circel", 1))), HasSubstr("did you mean \"circle\""));
  EXPECT_THAT(refusal(held(plain, constraint("circle"))), HasSubstr("needs radius"));
  EXPECT_THAT(refusal(held(plain, constraint("circle", 0, {{"radius", -1.0}}))), HasSubstr("greater than 0"));
  EXPECT_THAT(refusal(held(plain, constraint("orthogonal", 1))), HasSubstr("no parameter \"radius\""));
  EXPECT_THAT(refusal(held(plain, constraint("sphere", 1, {{"projection", std::string("skew")}}))),
              HasSubstr("\"orthogonal\" or \"oblique\""));
  EXPECT_THAT(refusal(held(moving("UBU", 0.1), constraint("circle", 1))), HasSubstr("use A, B and O"));
  EXPECT_THAT(refusal(held(plain, constraint("circle", 1)), {"W0[0,0]"}), HasSubstr("frozen entries"));
  EXPECT_THAT(refusal(held(plain, constraint("circle", 1)), {"W0"}), HasSubstr("finds no matrix"));
  auto decaying = held(moving("adamw", 0.1), constraint("circle", 1));
  decaying.weight_decay = 0.1;
  EXPECT_THAT(refusal(decaying), HasSubstr("in place of weight_decay"));
  auto biases = held(plain, constraint("norm", 1, {{"biases", true}}));
  EXPECT_EQ(refusal(biases), "");
  const Linear<double> tiny(1, 2, 1);
  EXPECT_THROW(make_recipe({{"all", held(plain, constraint("norm", 1))}}, {"b"}, tiny.blocks(), {}), Error);
}

}  // namespace
}  // namespace kelvin
