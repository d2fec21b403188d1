// SPDX-License-Identifier: Apache-2.0
// Letter N: its law against quadrature, what must break it, and what it says of its paths.
#include "kelvin/chain/companions/no_u_turn.h"

#include "kelvin/core/toml.h"
#include "tests/allocations.h"
#include "tests/support.h"

namespace kelvin {
namespace {

Choice with(const std::string& toml) {
  Value v = parse_toml("it = " + toml, "test");
  Choice c;
  assign(c, std::get<Value::Group>(v.is).at("it"), "toy");
  return c;
}

// ---- the sampler by itself, on U = q^4/4 in one dimension with steps so long that H changes by as much as T

// What the class would do if it looked for turns only at the top: paths are then drawn from that could not have come
// about from all of their points.
struct Careless final : NoUTurn<double> {
  using NoUTurn::NoUTurn;
  bool goes_on(const Tree&, const Tree&) const override { return true; }
};

// Weights off by two, seen from outside: choices between halves fall on the newer one twice as often as they should.
struct Hasty final : Noise<double> {
  double uniform(const Stream& s) const override {
    return s.place == 0 ? kelvin::uniform(s, 0) : 0.5 * kelvin::uniform(s, 0);
  }
};

struct Oscillator {
  std::array<double, 1> q{0.5}, p{0}, g{0.125};
  double energy = 1.0 / 64, h;
  PathSpace<double> space;
  explicit Oscillator(double step) : h(step) {
    space = {q,
             p,
             g,
             &energy,
             [this](int direction) {
               p[0] -= direction * h / 2 * g[0];
               q[0] += direction * h * p[0];
               g[0] = q[0] * q[0] * q[0], energy = q[0] * g[0] / 4;
               p[0] -= direction * h / 2 * g[0];
             },
             [this] { return energy + p[0] * p[0] / 2; },
             [](std::span<const double> a, std::span<const double> b) { return a[0] * b[0]; }};
  }
};

struct Law {
  Estimate square, fourth, depth;
};
Law law_of(NoUTurn<double>& sampler, const Noise<double>& noise, double h, int transitions) {
  Oscillator at(h);
  std::vector<double> square, fourth, depth;
  for (int n = 0; n < transitions; ++n) {
    std::array<double, 1> z{};
    noise.normals({stream_key(5, "momenta"), 0, std::uint64_t(n), 0}, 0, z);
    at.p = z;
    depth.push_back(sampler.travel(at.space, 1, noise, {stream_key(5, "path"), 0, std::uint64_t(n), 0}).depth);
    square.push_back(at.q[0] * at.q[0]);
    fourth.push_back(square.back() * square.back());
  }
  return {estimate(square), estimate(fourth), estimate(depth)};
}

constexpr double exact_square = 0.675978;  // 2 Gamma(3/4) / Gamma(1/4); <q^4> = 1

TEST(NoUTurn, LeavesTheLawAsItIsWhateverTheStep) {
  for (const double h : {0.3, 0.8, 1.3}) {
    NoUTurn<double> sampler(1, 10);
    const Law law = law_of(sampler, Noise<double>(), h, 200000);
    EXPECT_LT(std::abs(law.square.deviation(exact_square)), 4)
        << h << ": " << law.square.mean << "+-" << law.square.error;
    EXPECT_LT(std::abs(law.fourth.deviation(1)), 4) << h << ": " << law.fourth.mean;
    EXPECT_LT(law.square.error, 0.006) << "too few to tell";
  }
}

TEST(NoUTurn, WrongWeightsAndTurnsThatAreOverlookedShow) {
  Careless careless(1, 10);
  const Law overlooked = law_of(careless, Noise<double>(), 0.3, 200000);
  EXPECT_GT(std::abs(overlooked.square.deviation(exact_square)), 8) << overlooked.square.mean;
  NoUTurn<double> sampler(1, 10);
  const Law hasty = law_of(sampler, Hasty(), 1.3, 200000);
  EXPECT_GT(std::abs(hasty.square.deviation(exact_square)), 8) << hasty.square.mean;
}

// ---- as a letter

TEST(NoUTurn, SamplesToysAtAnyTemperature) {
  struct Case {
    const char* toy;
    double step, T;
    int draws;
  };
  for (const Case& c :
       {Case{"{ name = 'gaussian', stiffness = [1.0, 100.0], mean = [1.0, -2.0] }", 0.15, 1, 20000},
        Case{"{ name = 'gaussian', covariance = [2.0, 0.6, 0.6, 0.5] }", 0.5, 0.01, 20000},
        Case{"{ name = 'double_well' }", 0.3, 0.9, 40000}, Case{"{ name = 'banana', a = 2.0, b = 0.3 }", 0.5, 1, 20000},
        Case{"{ name = 'ring' }", 0.3, 0.5, 20000}}) {
    Walker<double> w(with(c.toy), moving("nuts", c.step, 1, c.T), 2);
    const Moments exact = exact_moments(with(c.toy), c.T);
    std::vector<std::vector<double>> first(exact.mean.size()), second(exact.mean.size());
    for (int n = 0; n < c.draws; ++n) {
      w.chain.step();
      const auto q = w.chain.q();
      for (std::size_t i = 0; i < q.size(); ++i) {
        first[i].push_back(q[i]);
        second[i].push_back((q[i] - exact.mean[i]) * (q[i] - exact.mean[i]));
      }
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      const Estimate m = estimate(first[i]), v = estimate(second[i]);
      EXPECT_LT(std::abs(m.deviation(exact.mean[i])), 4) << c.toy << " " << i << ": " << m.mean << "+-" << m.error;
      EXPECT_LT(std::abs(v.deviation(exact.variance[i])), 4) << c.toy << " " << i << ": " << v.mean << "+-" << v.error;
      EXPECT_LT(v.error, 0.06 * exact.variance[i]) << c.toy << ": too few to tell";
    }
  }
}

TEST(NoUTurn, PartsMayHaveTheirOwnStepsAndMasses) {
  const auto toy = make_toy<double>(with("{ name = 'gaussian', stiffness = [1.0, 4.0, 0.25] }"));
  PartSettings part = moving("nuts", 0.7);
  part.mass = number(3);
  const Recipe recipe = make_recipe({{"all", part}}, {"q[1]=0.5"}, toy->blocks(), {});
  const Noise<double> noise;
  Chain<double> chain(toy->clone(), recipe, Batches({}, 0, 3, 0), noise, 3, 0);
  chain.start(std::vector<double>(3, 0.0));
  std::vector<double> square;
  for (int n = 0; n < 20000; ++n) {
    chain.step();
    square.push_back((chain.q()[0] * chain.q()[0] + chain.q()[2] * chain.q()[2] / 4) / 2);
    ASSERT_EQ(chain.q()[1], 0.5) << "frozen";
  }
  EXPECT_LT(std::abs(estimate(square).deviation(1)), 4) << estimate(square).mean;
}

TEST(NoUTurn, SaysHowFarItWent) {
  Walker<double> w(gaussian({1}), moving("nuts", 0.1));
  double acceptance = 0;
  for (int n = 0; n < 1000; ++n) {
    const auto before = w.chain.evaluations();
    w.chain.step_and_read();
    const Reading& r = w.chain.reading();
    EXPECT_EQ(w.chain.evaluations() - before, r.leaps + (n == 0 ? 1 : 0))
        << "one gradient a leap, the first point's once";
    EXPECT_GE(r.leaps + 1, std::uint64_t(1) << r.depth);
    EXPECT_LT(r.leaps, std::uint64_t(2) << r.depth);
    EXPECT_FALSE(r.diverging);
    acceptance += r.statistic / 1000;
  }
  // half a turn takes pi / 0.1 = 31 steps: paths double four or five times
  EXPECT_NEAR(w.chain.reading().depth, 4.5, 1.5);
  EXPECT_GT(acceptance, 0.99);
  EXPECT_NEAR(w.chain.reading().acceptance, acceptance, 1e-12);
}

// In many equal directions |q| = |p| and q.p = 0 nearly, so ends a phase f apart have p.(sum of p) in proportion to
// sin f: a path ends when it has doubled beyond half a turn. Of steps of 0.206, 15 are within half a turn, 16
// beyond, 31 beyond a whole one: there only a half with the first point of the other sees it.
TEST(NoUTurn, PathsEndAfterHalfATurn) {
  for (const auto& [h, leaps] : {std::pair{0.09, 63u}, {0.206, 31u}}) {
    Walker<double> w(with("{ name = 'gaussian', stiffness = [1.0], dimension = 20000 }"), moving("nuts", h));
    std::vector<double> typical(20000);
    Noise<double>().normals({stream_key(1, "typical"), 0, 0, 0}, 0, typical);
    w.chain.start(typical);
    for (int n = 0; n < 5; ++n) {
      w.chain.step_and_read();
      EXPECT_EQ(w.chain.reading().leaps, leaps) << h;
    }
  }
}

TEST(NoUTurn, ASteepWallIsADivergence) {
  Walker<double> w(with("{ name = 'funnel', scale = 3.0, dimension = 10 }"), moving("nuts", 1.0), 4);
  int diverged = 0;
  for (int n = 0; n < 500; ++n) {
    w.chain.step_and_read();
    diverged += w.chain.reading().diverging;
    for (const double q : w.chain.q()) ASSERT_TRUE(std::isfinite(q));
  }
  EXPECT_GT(diverged, 5);
}

TEST(NoUTurn, GoesOnBitForBitAndNeverAllocates) {
  Walker<float> a(with("{ name = 'banana' }"), moving("nuts", 0.3)),
      b(with("{ name = 'banana' }"), moving("nuts", 0.3));
  for (int n = 0; n < 20; ++n) a.chain.step();
  b.chain.restore(a.chain.state());
  const std::size_t before = allocations;
  for (int n = 0; n < 50; ++n) a.chain.step(), b.chain.step_and_read();
  EXPECT_EQ(allocations, before);
  a.chain.step_and_read(), b.chain.step_and_read();
  EXPECT_TRUE(std::ranges::equal(a.chain.q(), b.chain.q()));
  EXPECT_EQ(a.chain.reading().acceptance, b.chain.reading().acceptance);
  EXPECT_EQ(a.chain.reading().energy, b.chain.reading().energy);
}

TEST(NoUTurn, MistakesAreNamed) {
  EXPECT_THROW(parse_scheme("R{N}"), Error);
  const auto refused = [](const Choice& toy, const BatchSettings& batch, double T) {
    const auto u = make_toy<double>(toy);
    const Noise<double> noise;
    Chain<double>(u->clone(), recipe_for(*u, moving("nuts", 0.1, 1, T)), Batches(batch, u->rows(), 1, 0), noise, 1, 0);
  };
  BatchSettings one;
  one.size.text = "1";
  EXPECT_THROW(refused(Choice("noisy"), one, 1), Error);
  EXPECT_THROW(refused(gaussian({1}), {}, 0), Error);
}

TEST(NoUTurn, MayBeginInALaterPhase) {
  const auto U = make_toy<double>(gaussian({1, 4}));
  Recipe recipe = recipe_for(*U, moving("BAOAB", 0.2));
  recipe.later.push_back(recipe_for(*U, moving("RN", 0.2)));
  recipe.later.front().begins = 10;
  const Noise<double> noise;
  Chain<double> chain(U->clone(), recipe, Batches({}, 0, 1, 0), noise, 1, 0);
  chain.start(std::vector<double>(2, 1));
  for (int n = 0; n < 10; ++n) chain.step_and_read();
  EXPECT_EQ(chain.reading().leaps, 0u);
  for (int n = 0; n < 10; ++n) chain.step_and_read();
  EXPECT_GT(chain.reading().leaps, 0u);
}

}  // namespace
}  // namespace kelvin
