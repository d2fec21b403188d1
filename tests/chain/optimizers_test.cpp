// SPDX-License-Identifier: Apache-2.0
// Optimizers are letters: against PyTorch's trajectories (torch_reference.py), against formulas, beside other parts.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "kelvin/energy/penalty.h"
#include "tests/coupled.h"
#include "tests/files.h"
#include "tests/finite_difference.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using Vec = std::vector<double>;

const Vec start{0.3, -0.5, 0.2, -0.4, 0.1, 0.6};

// One part of both blocks; weight decay as a run would have it.
struct Trained {
  Noise<double> noise;
  Chain<double> chain;
  explicit Trained(const PartSettings& part, bool decay_in_energy = true)
      : chain(energy(decay_in_energy ? part.weight_decay : 0), make_recipe({{"all", part}}, {}, Coupled().blocks(), {}),
              Batches({}, 0, 1, 0), noise, 1, 0) {
    chain.start(start);
  }
  static Energy<double> energy(double decay) {
    const Choice l2 = Choice::number_of("l2", "strength", decay);
    return with_terms(std::make_unique<Coupled>(), {}, {{"layer1.weight", l2}, {"layer2.weight", l2}});
  }
};

PartSettings learning(const std::string& scheme, double rate) { return moving(scheme, rate, 1, 0); }

TEST(Optimizers, FollowPyTorchsTrajectories) {
  std::map<std::string, PartSettings> cases = {
      {"sgd", learning("sgd", 0.05)},        {"momentum", learning("heavy_ball", 0.05)},
      {"dampening", learning("h", 0.05)},    {"nesterov", learning("nesterov", 0.05)},
      {"adam", learning("adam", 0.05)},      {"adam_decay", learning("adam", 0.05)},
      {"adamw", learning("adamw", 0.05)},    {"rmsprop", learning("rmsprop", 0.05)},
      {"adagrad", learning("adagrad", 0.1)},
  };
  cases["dampening"].momentum = 0.8, cases["dampening"].dampening = 0.3;
  for (const char* decayed : {"dampening", "nesterov", "adam_decay", "adamw", "rmsprop"})
    cases[decayed].weight_decay = 0.1;
  cases["adam_decay"].beta1 = 0.8, cases["adam_decay"].beta2 = 0.95, cases["adam_decay"].floor = 1e-3;
  cases["rmsprop"].beta2 = 0.99;
  cases["adagrad"].floor = 1e-10;

  std::map<std::string, std::unique_ptr<Trained>> chains;
  for (const auto& [name, part] : cases) chains[name] = std::make_unique<Trained>(part, name != "adamw");
  std::ifstream file(std::string(KELVIN_SOURCE_DIR) + "/tests/torch_reference.csv");
  std::string line;
  std::getline(file, line);
  int lines = 0;
  for (; std::getline(file, line); ++lines) {
    std::stringstream fields(line);
    std::string name, field;
    std::getline(fields, name, ',');
    std::getline(fields, field, ',');
    ASSERT_TRUE(chains.contains(name)) << name;
    Chain<double>& chain = chains[name]->chain;
    while (chain.steps() < std::stoul(field)) chain.step();
    for (const double q : chain.q()) {
      std::getline(fields, field, ',');
      ASSERT_NEAR(q, std::stod(field), 1e-12) << line;
    }
  }
  EXPECT_EQ(lines, 45);
}

// The heavy ball follows PyTorch's momentum (above), OBA at temperature 0 the heavy ball: momentum e^(-friction step),
// a rate of step^2.
TEST(Optimizers, ObaIsPyTorchsMomentum) {
  const double step = std::sqrt(0.05);
  Trained ball(learning("heavy_ball", 0.05)), word(moving("OBA", step, -std::log(0.9) / step, 0));
  Trained other(moving("OBA", 0.05, -std::log(0.9) / 0.05, 0));  // a rate of step
  double apart = 0;
  for (int n = 0; n < 50; ++n) {
    ball.chain.step(), word.chain.step(), other.chain.step();
    for (std::size_t i = 0; i < 6; ++i) {
      ASSERT_NEAR(word.chain.q()[i], ball.chain.q()[i], 1e-13) << n;
      apart = std::max(apart, std::abs(other.chain.q()[i] - ball.chain.q()[i]));
    }
  }
  EXPECT_GT(apart, 0.1);
}

double norm(const double* x) { return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

TEST(Optimizers, LarsFollowsItsFormula) {
  PartSettings part = learning("lars", 0.05);
  part.weight_decay = 0.1, part.trust = 0.3;
  Trained run(part, false);
  Vec q = start, g(6), u(6, 0.0);
  Coupled U;
  for (int n = 0; n < 50; ++n) {
    run.chain.step();
    evaluated(U, q, {}, g);
    for (std::size_t b = 0; b < 6; b += 3) {
      const double t = 0.3 * norm(&q[b]) / (norm(&g[b]) + 0.1 * norm(&q[b]));
      for (std::size_t i = b; i < b + 3; ++i) u[i] = 0.9 * u[i] + t * (g[i] + 0.1 * q[i]), q[i] -= 0.05 * u[i];
    }
    for (std::size_t i = 0; i < 6; ++i) ASSERT_NEAR(run.chain.q()[i], q[i], 1e-13) << n;
  }
}

TEST(Optimizers, LambFollowsItsFormula) {
  PartSettings part = learning("lamb", 0.05);
  part.weight_decay = 0.1;
  Trained run(part, false);
  Vec q = start, g(6), m(6, 0.0), v(6, 0.0), r(6);
  Coupled U;
  for (int n = 1; n <= 50; ++n) {
    run.chain.step();
    evaluated(U, q, {}, g);
    for (std::size_t i = 0; i < 6; ++i) {
      m[i] = 0.9 * m[i] + 0.1 * g[i], v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
      r[i] = m[i] / (1 - std::pow(0.9, n)) / (std::sqrt(v[i] / (1 - std::pow(0.999, n))) + 1e-8) + 0.1 * q[i];
    }
    for (std::size_t b = 0; b < 6; b += 3) {
      const double rate = 0.05 * norm(&q[b]) / norm(&r[b]);
      for (std::size_t i = b; i < b + 3; ++i) q[i] -= rate * r[i];
    }
    for (std::size_t i = 0; i < 6; ++i) ASSERT_NEAR(run.chain.q()[i], q[i], 1e-12) << n;
  }
}

TEST(Optimizers, BarzilaiBorweinSolvesALinearProblem) {
  Walker<double> w(gaussian({1, 7, 30}), learning("barzilai_borwein", 0.01));
  w.chain.place(Vec{1, 1, 1}, Vec{0, 0, 0});
  for (int n = 0; n < 60; ++n) w.chain.step();  // gradient descent at its best rate 2/31 would leave 0.94^60 = 0.02
  for (const double q : w.chain.q()) EXPECT_NEAR(q, 0, 1e-9);
  for (int n = 0; n < 2000; ++n) w.chain.step();  // where nothing changes any more it stands still
  for (const double q : w.chain.q()) EXPECT_NEAR(q, 0, 1e-9);
}

TEST(Optimizers, StandBesideThermodynamicParts) {
  auto hidden = moving("BAOAB", 0.1, 1, 0), output = learning("m.", 0.05);
  hidden.blocks = {"layer1.*"}, output.blocks = {"layer2.*"};
  const Coupled U;
  const Noise<double> noise;
  Chain<double> chain(U.clone(), make_recipe({{"hidden", hidden}, {"output", output}}, {}, U.blocks(), {}),
                      Batches({}, 0, 1, 0), noise, 1, 0);
  chain.start(start);
  for (int n = 0; n < 2000; ++n) chain.step();
  Vec g(6);
  Coupled potential;
  evaluated(potential, chain.q(), {}, g);
  for (const double x : g) EXPECT_NEAR(x, 0, 1e-3);
  EXPECT_EQ(chain.state().memory.size(), 2 * size) << "only the part that needs it remembers";
}

TEST(Optimizers, GoOnBitForBitFromAState) {
  for (const NamedScheme& row : schemes()) {
    if (!parse_scheme(row.text).memory) continue;
    Trained a(learning(std::string(row.text), 0.05)), b(learning(std::string(row.text), 0.05));
    for (int n = 0; n < 7; ++n) a.chain.step();
    b.chain.restore(a.chain.state());
    for (int n = 0; n < 7; ++n) a.chain.step(), b.chain.step();
    EXPECT_TRUE(std::ranges::equal(a.chain.q(), b.chain.q())) << row.name;
  }
}

TEST(Optimizers, MistakesAreNamed) {
  EXPECT_THAT(error_of([] { parse_scheme("mh"); }), HasSubstr("both keep a memory"));
  PartSettings part = learning("adam", 0.1);
  part.beta2 = 1;
  EXPECT_THAT(error_of([&] { Trained t(part); }), HasSubstr("beta2 must be at least 0 and below 1, not 1"));
  BatchSettings batch;
  batch.size.text = "2";
  EXPECT_THAT(error_of([&] {
                const Noise<double> noise;
                Chain<double>(std::make_unique<Coupled>(),
                              make_recipe({{"all", learning("t", 0.1)}}, {}, Coupled().blocks(), {}),
                              Batches(batch, 10, 1, 0), noise, 1, 0);
              }),
              HasSubstr("every row"));
}

TEST(Penalties, GradientsAreRight) {
  for (const Penalty& row : penalties()) {
    struct Matrix : Potential<double> {
      std::vector<Block> list{{.name = "tall", .shape = {4, 2}},
                              {.name = "flat", .shape = {2, 3}, .offset = 8},
                              {.name = "bias", .shape = {2}, .offset = 14}};
      const std::vector<Block>& blocks() const override { return list; }
      double operator()(Weights<const double>, const Evaluation&, Weights<double> g) override {
        for (std::size_t b = 0; b < list.size(); ++b) std::fill_n(g[b], list[b].size(), 0.0);
        return 0;
      }
      std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Matrix>(*this); }
    };
    Choice choice = Choice::number_of(std::string(row.name), "strength", 0.7);
    if (row.parameters.size() > 1) choice.values["radius"] = 0.5;  // among the entries of the point
    Energy<double> u =
        with_terms(std::make_unique<Matrix>(), {}, {{"tall", choice}, {"flat", choice}, {"bias", choice}});
    SCOPED_TRACE(row.name);
    expect_gradient_matches(u, some_point(16, 0.8));
  }
}

TEST(Penalties, AnOrthogonalMatrixCostsNothing) {
  for (const Block& block : {Block{.name = "w", .shape = {3, 2}}, Block{.name = "w", .shape = {2, 3}}}) {
    const Vec q = block.rows() == 3 ? Vec{0.6, 0, 0.8, 0, 0, 1} : Vec{0.6, 0.8, 0, 0, 0, 1};
    Vec g(6, 0.0);
    const auto& row = row_named("orthogonal", penalties(), "penalty");
    EXPECT_NEAR(row.add_double(block, q, {3, 0}, g), 0, 1e-15);
    for (const double x : g) EXPECT_NEAR(x, 0, 1e-15);
  }
}

// g^2 / eps^2 with strength 1 / eps^2: 0 where the constraint of that name holds, and by hand a little off it.
TEST(Penalties, ASoftConstraintCostsTheSquareOfWhatItHolds) {
  const Block block{.name = "w", .shape = {2, 2}};
  const auto energy = [&](const char* name, const Vec& q, double radius) {
    Vec g(4, 0.0);
    return row_named(name, penalties(), "penalty").add_double(block, q, {3, radius}, g);
  };
  EXPECT_NEAR(energy("norm", {0.6, 0.8, -1, 0}, 1), 0, 1e-15);
  EXPECT_NEAR(energy("norm", {0.6, 0.8, 1, 1}, 1), 3, 1e-12) << "the second row has |w|^2 - 1 = 1";
  EXPECT_EQ(energy("box", {0.6, -0.8, 1, -1}, 1), 0) << "nothing lies beyond";
  EXPECT_NEAR(energy("box", {0.6, -1.5, 1, 2}, 1), 3 * (0.25 + 1), 1e-12);
  Vec g(2, 0.0);
  for (const Penalty& row : penalties())
    if (row.parameters.size() > 1) {
      EXPECT_EQ(row.add_double(Block{.name = "b", .shape = {2}}, Vec{3, -3}, {3, 1}, g), 0);
    }
  EXPECT_EQ(g, Vec(2, 0.0)) << "biases are left alone";
}

TEST(Penalties, NumbersBelowZeroAreRefused) {
  Choice choice = Choice::number_of("box", "strength", 1);
  choice.values["radius"] = -0.5;
  EXPECT_THAT(error_of([&] {
                with_terms(std::make_unique<Coupled>(), {}, {{"layer1.weight", choice}});
              }),
              HasSubstr("radius is -0.5; it must be at least 0"));
}

}  // namespace
}  // namespace kelvin
