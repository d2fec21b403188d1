// SPDX-License-Identifier: Apache-2.0
// Without noise a constrained part comes to rest at the minimum on its manifold, whatever descends; it starts on it
// wherever it was put; and what the run file says of it is what happens.
#include <gmock/gmock.h>

#include <complex>
#include <numbers>

#include "kelvin/chain/tiles.h"
#include "kelvin/core/toml.h"
#include "kelvin/dynamics/preset.h"
#include "kelvin/run/settings.h"
#include "tests/manifold.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

// A slope whose entries differ in size: what scales every entry by itself must not change where it ends.
const std::vector<double> uneven = {3, 1, 0.2, -0.5, 0.1, 2};

double energy(HeldWalker<double>& w) {
  double U = 0;
  const auto q = w.block("W0");
  for (std::size_t i = 0; i < q.size(); ++i) U -= uneven[i] * q[i];
  return U;
}

// U = -slope.w is least, -r |slope|, where w points along the slope; for two orthonormal columns (or rows) that is
// minus the sum of the slope's singular values, for boxes minus r times the sum of its entries' sizes. Near there U
// rises with the square of the distance: steps of 0.002 that go on at full length leave 1e-4.
TEST(ConstrainedDescent, EndsAtTheMinimumOnTheManifold) {
  const auto least = [](const std::string& name, std::size_t rows) {
    double row[2] = {}, sum = 0, all = 0, det = 0;
    for (std::size_t i = 0; i < 6; ++i) row[i / 3] += uneven[i] * uneven[i], sum += std::abs(uneven[i]);
    all = row[0] + row[1];
    if (name == "box") return -sum;
    if (name == "norm" || name == "sphere") return -std::sqrt(row[0]) - std::sqrt(row[1]);
    for (std::size_t i = 0; i < 3; ++i) {  // the sum of singular values: squares add up to |A|^2, their product to det
      const std::size_t j = (i + 1) % 3;
      const double minor = rows == 2 ? uneven[i] * uneven[3 + j] - uneven[j] * uneven[3 + i]
                                     : uneven[2 * i] * uneven[2 * j + 1] - uneven[2 * j] * uneven[2 * i + 1];
      det += minor * minor;
    }
    return -std::sqrt(all + 2 * std::sqrt(det));
  };
  for (const char* name : {"norm", "sphere", "orthogonal", "box"})
    for (const char* scheme : {"S", "adam", "adamw", "rmsprop", "adagrad", "lamb", "lars", "heavy_ball", "nesterov"}) {
      for (const std::size_t rows : {2u, 3u}) {
        if (rows == 3 && std::string(name) != "orthogonal") continue;
        auto part = held(moving(scheme, 0.002, 1, 0), constraint(name, std::string(name) == "orthogonal" ? 0 : 1));
        if (std::string(scheme) == "adagrad") part.step = number(0.2);
        HeldWalker<double> w(Linear<double>(1, rows, 6 / rows, uneven), part);
        for (int n = 0; n < 20000; ++n) w.chain.step();
        EXPECT_NEAR(energy(w), least(name, rows), 1e-3) << name << " " << scheme << " " << rows;
      }
    }
}

TEST(ConstrainedStart, FindsAPointOfTheManifoldFromAnywhere) {
  const Noise<double> noise;
  for (const auto& on : {constraint("circle", 0.5), constraint("sphere", 0.5), constraint("norm", 0.5),
                         constraint("orthogonal"), constraint("box", 0.5)})
    for (const auto& [rows, columns] : {std::pair{std::size_t(4), std::size_t(4)}, {5, 3}, {3, 5}, {1, 4}})
      for (const char* where : {"zero", "equal", "one row", "far"}) {
        BlockConstraint how = constraint_chosen(on, "all");
        how.block = "W", how.rows = rows, how.columns = columns;
        if (how.row->has_slack) how.slack_count = how.units();
        std::vector<double> q(how.size() + how.slack_count), p(q.size());
        const std::string_view place(where);
        for (std::size_t i = 0; i < how.size(); ++i)
          q[i] = place == "zero"      ? 0
                 : place == "equal"   ? 0.7
                 : place == "one row" ? double(i < columns)
                                      : 1e3 + double(i * i);
        const auto here = ManifoldPoint<double>{std::span(q).first(how.size()), std::span(p).first(how.size()),
                                                std::span(q).subspan(how.size()), std::span(p).subspan(how.size())};
        const auto manifold = make_manifold<double>(how);
        manifold->settle(here);
        EXPECT_LT(manifold->residual(here), 1e-12) << on.name << " " << where << " " << rows << " x " << columns;
        noise.normals({4, 0, 0, 0}, 0, p);
        manifold->tangent(here);
        EXPECT_LT(manifold->tangency(here), 1e-12) << on.name << " " << where;
        for (double& x : q) x = NAN;
        EXPECT_TRUE(std::isnan(manifold->residual(here))) << on.name;
        EXPECT_TRUE(on.name == "box" || std::isnan(manifold->tangency(here))) << on.name;
      }
}

TEST(ConstrainedStart, InABoxIsTheNearestPointAndCounted) {
  const Linear<double> U(1, 1, 6);
  const Recipe recipe = recipe_for(U, held(moving("S", 0.1), constraint("box", 0.1)));
  std::vector<double> q(recipe.size), wanted = {0.1, -0.1, 0.1, 0.1, 0.05, -0.1};
  std::ranges::copy(std::vector{0.4, -0.4, 0.8, 0.3, 0.05, -0.15}, q.begin() + long(recipe.blocks[0].offset));
  std::string said;
  settle<double>(recipe, q, [&](std::string_view text) { said += text; });
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(q[recipe.blocks[0].offset + i], wanted[i]);
  EXPECT_THAT(said, HasSubstr("5 of 6 entries"));
}

// Cassini's oval |w - (1,0)| |w + (1,0)| = 1.05^2 has a waist: a long step ends on no point, or on one from which the
// way back ends elsewhere. Rejected, such steps leave the law exp(-U/T) ds as it is; U = -w_0/2, T = 1/2.
TEST(OwnConstraint, InsideBracesIsExactAtAnyStep) {
  constexpr double size = 1.05 * 1.05 * 1.05 * 1.05;
  OwnConstraint oval;
  oval.count = 1;
  oval.values = [](auto q, auto g) {
    const double x = q[0] * q[0], y = q[1] * q[1];
    g[0] = (x + y) * (x + y) - 2 * (x - y) + 1 - size;
  };
  oval.jacobian = [](auto q, auto J) {
    const double square = q[0] * q[0] + q[1] * q[1];
    J[0] = 4 * q[0] * (square - 1), J[1] = 4 * q[1] * (square + 1);
  };
  const auto at = [](double t) {  // in polar coordinates r^2 = cos 2t + sqrt(size - sin^2 2t)
    return std::polar(std::sqrt(std::cos(2 * t) + std::sqrt(size - std::pow(std::sin(2 * t), 2))), t);
  };
  double sum = 0, all = 0;
  constexpr int pieces = 10000;
  for (int k = 0; k < pieces; ++k) {
    const double t = 2 * std::numbers::pi / pieces;
    const double x = at(t * (k + 0.5)).real(), weight = std::exp(x) * std::abs(at(t * (k + 1)) - at(t * k));
    sum += weight * x, all += weight;
  }
  for (const double step : {0.5, 2.0}) {
    const Linear<double> U(1, 1, 2, {0.5, 0});
    Recipe recipe = recipe_for(U, moving("R{(BAB)2}", step, 1, 0.5));
    constrain(recipe, "W0", oval);
    HeldWalker<double> w(new Linear<double>(U), recipe);
    const Estimate z = w.mean(200, 200000, [](std::span<const double> q) { return q[0]; });
    EXPECT_LT(std::abs(z.deviation(sum / all)), 4) << step << ": " << z.mean << " +- " << z.error;
    EXPECT_LT(z.error, 0.02) << step << ": too few to tell";
    EXPECT_LT(w.chain.reading().parts[0].residual, 1e-12);
  }
}

RunSettings settings(const std::string& text) {
  return read_run_settings(
      parse_toml("data = { generator = \"spiral\" }\nmodel.layers = [2, 3, 3, 1]\n" + text, "run.toml"));
}
std::string refusal(const std::string& text) {
  try {
    settings(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(ConstrainedSettings, GiveEveryBlockItsRadius) {
  const Linear<double> U(3, 2, 2);
  const auto with = [](Value::Group radii) {
    return held(moving("S", 0.1), constraint("circle", 0, {{"radius", placed(std::move(radii), "run.toml line 3")}}));
  };
  const Recipe recipe = recipe_for(U, with({{"W0", 0.05}, {"W*", 0.2}, {"*", 7.0}}));
  const auto& on = recipe.parts[0].constraints;
  ASSERT_EQ(on.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(on[k].numbers.number("radius"), k == 0 ? 0.05 : 0.2);
  for (const auto& [radii, says] : {std::pair{Value::Group{{"W0", 0.05}}, "no radius is given for block \"W1\""},
                                    {Value::Group{{"*", -1.0}}, "greater than 0"},
                                    {Value::Group{{"*", std::string("x")}}, "must be a number"}})
    try {
      recipe_for(U, with(radii));
      FAIL() << says;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(says));
    }
}

TEST(ConstrainedSettings, ChangeWhatAPresetMakes) {
  const RunSettings changed =
      settings("preset = \"c_cola_ud\"\npart.rest.constraint.radius = 2.0\npart.rest.step = 0.1");
  ASSERT_EQ(changed.part.size(), 2u);
  EXPECT_EQ(changed.part.at("rest").constraint.name, "circle");
  EXPECT_EQ(changed.part.at("rest").constraint.number("radius"), 2);
  EXPECT_EQ(changed.part.at("rest").step.number("value"), 0.1);
  EXPECT_EQ(changed.part.at("input").constraint.number("radius"), 0.05);
  EXPECT_EQ(changed.part.at("input").step.number("value"), 0.3);
  const RunSettings held = settings("preset = \"o_cola_od\"\npart.hidden.constraint.projection = \"orthogonal\"");
  EXPECT_EQ(held.part.at("hidden").constraint.name, "orthogonal");
  EXPECT_THAT(refusal("preset = { name = \"c_sgd\", temperature = 1e-3 }"),
              HasSubstr("preset \"c_sgd\" says itself what temperature is"));
  EXPECT_THAT(refusal("preset = { name = \"c_cola_ud\", constraint = { name = \"circle\", radius = 1.0 } }"),
              HasSubstr("part.input.constraint or part.rest.constraint"));
  EXPECT_EQ(refusal("preset = { name = \"lol\", temperature = 1e-3 }"), "");  // one of its roles leaves it open
}

TEST(ConstrainedSettings, AreRefusedWhereTheyCannotBeMeant) {
  const auto say = [](const std::string& constraint) {
    return refusal("part.all = { step = 0.1, constraint = " + constraint + " }");
  };
  const Linear<double> U(1, 4, 3);
  const auto refused = [&](const Choice& on) -> std::string {
    try {
      recipe_for(U, held(moving("S", 0.1), on));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refused(Choice::number_of("constant", "value", 1)), HasSubstr("not a number"));
  for (const double r : {0.0, -1.0, double(INFINITY), 1e300, 1e-50})
    EXPECT_THAT(refused(constraint("circle", 0, {{"radius", r}})), HasSubstr("greater than 0"));
  EXPECT_THAT(refused(constraint("circle", 0, {{"radius", double(NAN)}})), HasSubstr("must be a number, not nan"));
  EXPECT_THAT(refused(constraint("orthogonal", 0, {{"most", 1.5}})), HasSubstr("whole number"));
  EXPECT_THAT(refused(constraint("orthogonal", 0, {{"tolerance", 1e-20}})), HasSubstr("at least 1e-15"));
  EXPECT_THAT(say("[\"circle\"]"), HasSubstr("constraint"));
}

}  // namespace
}  // namespace kelvin
