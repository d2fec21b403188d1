// SPDX-License-Identifier: Apache-2.0
// Boundaries of networks whose weights, and so whose boundaries, are known.
#include "kelvin/analysis/predictive/boundary.h"

#include <cmath>

#include "kelvin/analysis/predictive/class_map.h"
#include "kelvin/data/generators.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

// One draw of a network with given weights: entries that are frozen at a value, and a bias that hardly moves.
struct Known : Desk {
  void run(const std::string& name, const std::string& data, const std::string& model, const std::string& rest = "") {
    write(name + ".toml", "steps = 1\n" + rest + "[data]\n" + data + "\n[model]\n" + model +
                              "\n[part.all]\nstep = 1e-12\nscheme = \"S\"\nstart = -1.0\n");
    const Outcome made = kelvin("train " + name + ".toml -q -o " + name);
    ASSERT_EQ(made.code, 0) << made.error;
  }
  Json boundary(const std::string& arguments) {
    const Outcome found = kelvin("boundary --json " + arguments);
    EXPECT_EQ(found.code, 0) << found.error;
    return Json::parse(found.out);
  }
};

Json table(const Json& finding) { return finding.at("tables").at(0).at("rows"); }

Json figure(const Json& finding, const std::string& name) {
  for (const Json& f : finding.at("figures"))
    if (f.at("name") == name) return f;
  throw Error("no figure {}", name);
}

std::vector<Json> curves(const Json& f, const std::string& name) {
  std::vector<Json> out;
  for (const Json& c : f.at("curves"))
    if (c.at("name") == name) out.push_back(c);
  return out;
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

constexpr const char* circles = "generator = { name = \"circles\", rows = 20 }";
constexpr const char* linear = "layers = [2, 1]\nloss = \"binary_cross_entropy\"\n";

// The log odds are x1^2 + x2^2 - 1.
TEST(Boundary, OfANetworkThatIsACircleHasTheCurvatureOfTheCircle) {
  Known desk;
  desk.run("circle", std::string(circles) + "\nderived = [\"x1^2\", \"x2^2\"]",
           "layers = [4, 1]\nloss = \"binary_cross_entropy\"\nfreeze = [\"layer1.weight[0,0]=0\", "
           "\"layer1.weight[0,1]=0\", \"layer1.weight[0,2]=1\", \"layer1.weight[0,3]=1\"]");
  const Json found = desk.boundary("circle --extent=-2,2,-2,2 --grid 401");
  const Json row = table(found).at(0);
  EXPECT_EQ(row.at("pieces"), 1);
  EXPECT_NEAR(row.at("length"), 2 * M_PI, 0.01);
  EXPECT_NEAR(row.at("mean_curvature"), 1, 0.01);
  EXPECT_NEAR(row.at("by_level_set"), 1, 0.01);
  EXPECT_EQ(curves(figure(found, "regions"), "boundary").size(), 1u);
  // Log odds log(0.3 / 0.7) belong to the radius sqrt(1 - 0.847).
  const Json other = desk.boundary("circle --extent=-2,2,-2,2 --grid 401 --level 0.3");
  EXPECT_NEAR(table(other).at(0).at("length"), 2 * M_PI * std::sqrt(1 + std::log(0.3 / 0.7)), 0.01);
  EXPECT_EQ(desk.boundary("circle --extent=2,3,2,3").at("words").at(0),
            "There is no boundary: the average over 1 draw puts the whole extent into one class.");
}

// The log odds are 3 u + 3 v - 1 in standardised inputs u, v.
TEST(Boundary, IsInTheOriginalUnitsOfTheInputs) {
  Known desk;
  desk.run("line", std::string(circles) + "\nstandardise = \"inputs\"",
           std::string(linear) + "freeze = [\"layer1.weight=3\"]");
  const Json found = desk.boundary("line --grid 101");
  const Json units = Json::parse(desk.read("line/run.json")).at("inputs").at("units");
  const double m1 = units.at("mean").at(0), m2 = units.at("mean").at(1), s1 = units.at("scale").at(0),
               s2 = units.at("scale").at(1);
  EXPECT_GT(s1, 1.5) << "or the test would not see units";
  const auto odds = [&](double x, double y) { return 3 * (x - m1) / s1 + 3 * (y - m2) / s2 - 1; };
  const auto lines = curves(figure(found, "regions"), "boundary");
  ASSERT_EQ(lines.size(), 1u);
  for (std::size_t k = 0; k < lines[0].at("x").size(); ++k)
    EXPECT_NEAR(odds(lines[0]["x"][k], lines[0]["y"][k]), 0, 1e-4);  // 32-bit numbers
  EXPECT_LT(table(found).at(0).at("largest"), 0.01);

  // |gradient of p| = p (1 - p) |gradient of the log odds|, along both axes.
  const Json& sections = figure(found, "cross_sections").at("curves");
  ASSERT_EQ(sections.size(), 2u);
  for (std::size_t line = 0; line < 2; ++line)
    for (std::size_t k = 0; k < sections[line].at("x").size(); ++k) {
      const double at = sections[line]["x"][k], p = logistic(line ? odds(0, at) : odds(at, 0));
      EXPECT_NEAR(sections[line]["y"][k], p * (1 - p) * std::hypot(3 / s1, 3 / s2), 2e-3);  // second order in a cell
    }

  // Rows are drawn where they are, and the true circle of the generator over them.
  for (const char* name : {"0", "1"})
    for (const Json& c : curves(figure(found, "regions"), name))
      for (std::size_t k = 0; k < c.at("x").size(); ++k) {
        const double r = std::hypot(c["x"][k].as<double>(), c["y"][k].as<double>());
        EXPECT_TRUE(name[0] == '1' ? r <= 2.5 + 1e-6 : r >= 3.5 - 1e-6 && r <= 5 + 1e-6) << r;
      }
  EXPECT_EQ(curves(figure(found, "regions"), "true boundary").size(), 1u);
  EXPECT_NEAR(table(found).back().at("mean_curvature"), 1 / 3.0, 0.01) << "radius 0.6 x 5";
}

TEST(Boundary, ThreeClassesHaveRegions) {
  Known desk;
  desk.write("three.csv", "x,y,c\n1,0,a\n-1,0,b\n0,2,c\n");
  desk.run("three", "file = \"three.csv\"",
           "layers = [2, 3]\nloss = \"softmax_cross_entropy\"\nfreeze = [\"layer1.weight[0,0]=1\", "
           "\"layer1.weight[0,1]=0\", \"layer1.weight[1,0]=-1\", \"layer1.weight[1,1]=0\", \"layer1.weight[2,0]=0\", "
           "\"layer1.weight[2,1]=1\"]");
  const Json found = desk.boundary("three --grid 50 --extent=-1,1,-1,1");
  const Json& map = figure(found, "regions").at("map");
  EXPECT_EQ(map.at("classes"), (Value::List{"a", "b", "c"}));
  EXPECT_EQ(map.at("style"), "classes");
  for (std::size_t j = 0; j < 50; ++j)
    for (std::size_t i = 0; i < 50; ++i) {
      const double x = map["x"][i], y = map["y"][j];
      if (std::abs(y - std::abs(x)) < 1e-6) continue;  // a tie
      EXPECT_EQ(map["z"][j * 50 + i], y > std::abs(x) ? 2 : x > 0 ? 0 : 1) << x << " " << y;
    }
}

// Two walkers with different weights: all numbers by hand.
TEST(Boundary, AveragesProbabilitiesAndMeasuresDisagreement) {
  Known desk;
  desk.write("two.toml", "steps = 3\nevery = 1\nwalkers = 2\n[data]\n" + std::string(circles) + "\n[model]\n" + linear +
                             "[part.all]\nstep = 0.5\ntemperature = 1\nstart = { name = \"gaussian\" }\n");
  const Outcome made = desk.kelvin("sample two.toml -q -o two --set precision=double");
  ASSERT_EQ(made.code, 0) << made.error;
  const Samples samples = open_samples(desk.path("two"));
  const PlanePoints points{{0.3, -1.2}, {0.7, 2}};
  with_stored_run(
      samples, [](std::string_view) {},
      [&](const auto& run) {
        for (const char* which : {"last", "1", "mean"}) {
          const ClassMap map = class_map(run, points, {which, 200}, [](double) {});
          for (std::size_t i = 0; i < 2; ++i) {
            double mean = 0, entropy = 0, count = 0;
            for (std::size_t w = 0; w < 2; ++w)
              for (std::size_t draw = 0; draw < 3; ++draw) {
                if ((which[0] == 'l' && draw != 2) || (which[0] == '1' && draw != 1)) continue;
                const auto weight = samples.block("layer1.weight", w), bias = samples.block("layer1.bias", w);
                const double p =
                    logistic(weight[2 * draw] * points.x[i] + weight[2 * draw + 1] * points.y[i] + bias[draw]);
                mean += p, entropy -= p * std::log(p) + (1 - p) * std::log(1 - p), ++count;
              }
            mean /= count, entropy /= count;
            EXPECT_NEAR(map.mean[i], mean, 1e-12) << which;
            EXPECT_NEAR(map.information[i], -mean * std::log(mean) - (1 - mean) * std::log(1 - mean) - entropy, 1e-12);
            EXPECT_EQ(map.draws, count);
          }
        }
      });
}

TEST(Boundary, SeveralRunsAreAveraged) {
  Known desk;
  for (const char* name : {"a", "b"})
    desk.run(name, circles, linear, std::string("seed = ") + (name[0] == 'a' ? "1\n" : "2\n"));
  const Json found = desk.boundary("a b --grid 50 --extent=-2,2,-2,2");
  const Json rows = table(found);
  ASSERT_EQ(rows.size(), 4u);
  const double a = rows[0].at("length"), b = rows[1].at("length");
  EXPECT_NEAR(rows[2].at("length"), (a + b) / 2, 1e-12);
  EXPECT_NEAR(rows[3].at("length"), std::abs(a - b) / 2, 1e-12) << "the standard error of two numbers";
  for (const char* name : {"a", "b"})
    EXPECT_TRUE(std::filesystem::exists(desk.path(std::string(name) + "/analysis/boundary.json")));
}

TEST(Boundary, RefusesInOneSentence) {
  Known desk;
  desk.run("numbers", "generator = { name = \"linear\", rows = 5 }", "layers = [2, 1]");
  desk.run("wide", "generator = { name = \"linear\", rows = 5, dimension = 3 }", "layers = [3, 1]");
  desk.run("good", circles, linear);
  desk.write("toy.toml", "steps = 10\nmodel = { toy = \"quartic\" }\n[part.all]\ntemperature = 1\n");
  desk.kelvin("sample toy.toml -q -o toy");
  const auto refusal = [&](const std::string& arguments) {
    const Outcome o = desk.kelvin("boundary -q " + arguments);
    EXPECT_EQ(o.code, 1) << arguments;
    EXPECT_EQ(std::count(o.error.begin(), o.error.end(), '\n'), 1) << o.error;
    return o.error;
  };
  EXPECT_THAT(refusal("numbers"), testing::HasSubstr("needs classes"));
  EXPECT_THAT(refusal("wide"), testing::HasSubstr("3 inputs"));
  EXPECT_THAT(refusal("toy"), testing::HasSubstr("toy \"quartic\""));
  EXPECT_THAT(refusal("nowhere"), testing::HasSubstr("not a run"));
  EXPECT_THAT(refusal("good --draws first"), testing::HasSubstr("mean, last or the number"));
  EXPECT_THAT(refusal("good --draws 1"), testing::HasSubstr("0 to 0"));
  EXPECT_THAT(refusal("good --extent=1,1,0,1"), testing::HasSubstr("empty"));
  EXPECT_THAT(refusal("good --extent=0,nan,0,1"), testing::HasSubstr("empty"));
  EXPECT_THAT(refusal("good --level 1.5"), testing::HasSubstr("no probability"));
  EXPECT_THAT(refusal("good --grid 2"), testing::HasSubstr("10 to 5000"));
  EXPECT_FALSE(std::filesystem::exists(desk.path("good/analysis")));
}

// Points without noise lie on the arms; the boundary is as far from both.
TEST(Boundary, KnownPathsOfTheSpiralAreItsArmsAndTheLineBetween) {
  const auto paths = known_paths(Choice("spiral"));
  ASSERT_EQ(paths.size(), 3u);
  const Path& middle = paths[2];
  EXPECT_TRUE(middle.between);
  for (std::size_t k = 0; k < middle.x.size(); k += 100) {
    const double r = std::hypot(middle.x[k], middle.y[k]), turn = std::atan2(middle.y[k], middle.x[k]) - M_PI * r;
    EXPECT_NEAR(r * std::cos(turn), 0, 1e-9) << "a quarter turn from both arms, which are at 0 and pi";
  }
  // Radius a t and angle 2 pi b t: the curvature at the centre is 2 x 2 pi b / a.
  const Piece even = evenly_spaced({middle.x, middle.y, false}, 0.01);
  EXPECT_NEAR(bend_of({even}, nullptr).largest, 2 * M_PI, 0.02 * 2 * M_PI);
  EXPECT_TRUE(known_paths(Choice("gap")).empty());
}

}  // namespace
}  // namespace kelvin
