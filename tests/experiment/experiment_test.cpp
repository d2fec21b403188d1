// SPDX-License-Identifier: Apache-2.0
#include "kelvin/experiment/experiment.h"

#include <cmath>

#include "kelvin/core/toml.h"
#include "kelvin/experiment/measure.h"
#include "kelvin/experiment/outcome.h"
#include "kelvin/experiment/slope.h"
#include "kelvin/io/problem.h"
#include "tests/files.h"
#include "tests/json.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string text = R"(
title = "test"
seeds = 3
curve = 4
at = [10, 40]
measures = ["train.loss", "test.accuracy", "near_zero", "largest_weight", "distance", "barrier"]
histograms = ["layer1.weight"]
[run]
steps = 40
[run.data]
generator = { name = "spiral", rows = 40, test = 20 }
[run.model]
layers = [2, 6, 1]
loss = "binary_cross_entropy"
[arm.descent]
run = { part.all = { scheme = "S", step = 0.1 } }
published = { "train.loss" = [0.7, 0.5] }
[arm.warm]
run = { part.all = { scheme = "BAOAB", step = 0.1 } }
grid = { "part.all.temperature" = [0.0, 0.1], "part.all.friction" = [1, 10] }
[claim.number]
says = "the loss is positive"
measure = "train.loss"
more = "descent"
than = "0"
)";

Experiment experiment(const std::string& more = "") { return read_experiment(parse_toml(text + more, "test"), "test"); }

TEST(Experiment, ArmsAreRunAtEveryPlaceOfTheirGrid) {
  const Experiment e = experiment();
  ASSERT_EQ(e.cells.size(), 5u);
  EXPECT_EQ(e.cells[0].name, "descent");
  EXPECT_EQ(e.cells[4].name, "warm part.all.friction=10 part.all.temperature=0.1");
  EXPECT_EQ(e.cells[4].settings.part.at("all").temperature.number("value"), 0.1);
  EXPECT_EQ(e.cells[4].settings.part.at("all").friction.number("value"), 10);
  EXPECT_EQ(e.cells[4].settings.model.layers.sizes(), (std::vector<long>{2, 6, 1})) << "what is common stays";
  EXPECT_EQ(e.steps, (std::vector<long>{10, 20, 30, 40}));
  EXPECT_EQ(e.label(e.cells[4]), "warm, friction 10, temperature 0.1");
}

TEST(Experiment, AGridOfListsIsCalledByTheirLengths) {
  const Experiment e = experiment(
      "[arm.deep]\nlabel = \"deep\"\ngrid = { \"model.layers\" = [[2, 6, 1], [2, 5, 4, 1]] }\n"
      "published = { \"train.loss\" = [0.1, 0.2, 0.3, 0.4] }\n");
  ASSERT_EQ(e.cells.size(), 7u);
  EXPECT_EQ(e.cells[0].name, "deep model.layers=3");
  EXPECT_EQ(e.cells[1].name, "deep model.layers=4");
  EXPECT_EQ(e.cells[1].settings.model.layers.sizes(), (std::vector<long>{2, 5, 4, 1}));
  EXPECT_EQ(e.label(e.cells[1]), "deep, layers 4");
  const Finding finding = conclude(e, {perform(e, 0, 1), perform(e, 1, 1)});
  const std::vector<std::pair<std::string, double>> expected = {
      {"deep, layers 3", 0.1}, {"deep, layers 3", 0.2}, {"deep, layers 4", 0.3}, {"deep, layers 4", 0.4}};
  std::vector<std::pair<std::string, double>> found;
  for (const auto& row : finding.tables[1].table.rows)
    if (row[2].second == "train.loss" && row[9].second.number())
      found.emplace_back(row[0].second.text(), *row[9].second.number());
  EXPECT_EQ(found, expected) << "published numbers: the steps of `at` at the first place, then at the next";
}

// The same network, data, start and steps, taken by hand.
TEST(Experiment, AnOutcomeIsWhatTheRunItselfGives) {
  const Experiment e = experiment();
  const Outcome outcome = perform(e, 0, 2);
  ASSERT_EQ(outcome.stopped, "");
  RunSettings settings = e.cells[0].settings;
  settings.seed = 2;
  const auto problem = make_problem<float>(settings, [](std::string_view) {});
  const Noise<float> noise;
  auto chain = problem.chain(0, noise);
  const auto start = problem.starting_point(0, {});
  chain.start(start);
  for (int k = 0; k < 40; ++k) chain.step();
  const auto q = chain.q();
  EXPECT_EQ(outcome.values[0][3], problem.train->score(q, {}).loss);
  EXPECT_EQ(outcome.values[1][3], problem.test->score(q, {}).accuracy);
  double largest = 0, moved = 0, from = 0;
  for (const Block& b : problem.recipe.blocks)
    if (b.name.ends_with("weight"))
      for (std::size_t i = b.offset; i < b.offset + b.size(); ++i) largest = std::max(largest, double(std::abs(q[i])));
  for (std::size_t i = 0; i < q.size(); ++i)
    moved += std::pow(double(q[i]) - double(start[i]), 2), from += std::pow(double(start[i]), 2);
  EXPECT_EQ(outcome.values[3][3], largest);
  EXPECT_EQ(outcome.values[4][3], std::sqrt(moved / from));
  EXPECT_TRUE(std::isnan(outcome.values[5][1])) << "a costly measure is taken at the tabled steps only";
  EXPECT_TRUE(std::isfinite(outcome.values[5][3]));
  long counted = 0;
  for (const long c : outcome.counts[1]) counted += c;
  EXPECT_EQ(counted, 12) << "each entry of a 6 x 2 block is counted once";
}

TEST(Experiment, AnOutcomeComesBackUnlessSettingsChanged) {
  const Experiment e = experiment();
  const Outcome outcome = perform(e, 4, 1);
  const auto line = as_value(e, outcome);
  const auto back = read_outcome(e, line);
  ASSERT_TRUE(back);
  EXPECT_EQ(as_value(e, *back), line);
  EXPECT_EQ(back->cell, 4u);
  Experiment changed = e;
  changed.cells[4].settings.steps = 39;
  EXPECT_FALSE(read_outcome(changed, line));
  EXPECT_TRUE(read_outcome(changed, as_value(e, perform(e, 0, 1)))) << "other cells are not touched";
}

TEST(Experiment, ARunThatDivergesIsCountedNotAveraged) {
  Experiment e = read_experiment(
      parse_toml(text + "[arm.wild]\nrun = { part.all = { scheme = \"S\", step = 1e30 } }\n", "test"), "test");
  std::vector<Outcome> outcomes;
  for (std::size_t c = 0; c < e.cells.size(); ++c) outcomes.push_back(perform(e, c, 1));
  EXPECT_NE(outcomes.back().stopped, "");
  const Finding finding = conclude(e, outcomes);
  const auto& row = finding.tables[1].table.rows.back();
  EXPECT_EQ(row[0].second, "wild");
  EXPECT_EQ(row.back().first, "diverged");
  EXPECT_EQ(row.back().second, 1);
}

TEST(Experiment, EstimatesCarryTheirStandardErrors) {
  const std::vector<double> x = {1, 2, 3, 6};
  const auto of = [&](std::string_view name) { return row_named(name, statistics(), "statistic").of(x); };
  EXPECT_DOUBLE_EQ(of("mean").value, 3);
  EXPECT_DOUBLE_EQ(of("mean").error, std::sqrt(14.0 / 3 / 4));
  EXPECT_DOUBLE_EQ(of("sd").value, std::sqrt(14.0 / 3));
  EXPECT_DOUBLE_EQ(of("sd").error, std::sqrt(14.0 / 3 / 6));
  const std::vector<double> signs = {1, -2, 3, -6};
  EXPECT_DOUBLE_EQ(row_named("size", statistics(), "statistic").of(signs).value, 3);
  EXPECT_EQ(of("least").value, 1);
  EXPECT_EQ(of("most").value, 6);
  EXPECT_EQ(verdict(2.1, 1), "reproduced");
  EXPECT_EQ(verdict(1.9, 1), "weaker");
  EXPECT_EQ(verdict(-0.1, 1), "not reproduced");
  EXPECT_EQ(verdict(NAN, 1), "not measured");
}

// Along the line from 0 to 1 this loss rises by exactly 1 from its least value.
TEST(Experiment, TheBarrierIsTheLargestRiseAlongTheLine) {
  const std::vector<double> start = {0}, end = {1};
  Snapshot s{{}, end, start, {}, nullptr, [](std::span<const double> q) {
               return q[0] < 0.5 ? -2 * q[0] : q[0] < 0.8 ? -1 + (q[0] - 0.5) / 0.3 : -1.5;
             }};
  EXPECT_NEAR(row_named("barrier", measures(), "measure").of(s), 1 - 0.02 / 0.3, 1e-9) << "up to the grid of 1/50";
}

// Verlet's map has the trace 2 - h^2; OBABO's variance is 1/(1 - h^2/4).
TEST(Experiment, StepsOnAQuadraticUAreMeasuredWithoutSampling) {
  const Experiment e = read_experiment(parse_toml(R"(
measures = ["growth", "variance_error"]
[run]
steps = 1
model.toy = { name = "gaussian", stiffness = 1.0 }
[arm.verlet]
run = { part.all = { scheme = "BAB", temperature = 1.0 } }
grid = { "part.all.step" = { from = 1.9, to = 2.1, count = 3 } }
[arm.obabo]
run = { part.all = { scheme = "OBABO", step = 0.5, temperature = 2.0 } }
[arm.quartic]
run = { model.toy = "quartic", part.all = { scheme = "BAB", step = 0.5 } }
)",
                                                  "test"),
                                       "test");
  ASSERT_EQ(e.cells.size(), 5u);
  EXPECT_EQ(e.cells[4].name, "verlet part.all.step=2.1") << "arms in the order of their names";
  EXPECT_NEAR(perform(e, 2, 1).values[0][0], 1, 1e-12);
  const double half = 2.1 * 2.1 / 2 - 1;
  EXPECT_NEAR(perform(e, 4, 1).values[0][0], half + std::sqrt(half * half - 1), 1e-9);
  EXPECT_TRUE(std::isnan(perform(e, 2, 1).values[1][0])) << "nothing settles without a bath";
  EXPECT_NEAR(perform(e, 0, 1).values[1][0], 1 / (1 - 0.0625) - 1, 1e-12);
  EXPECT_THAT(perform(e, 1, 1).stopped, HasSubstr("no quadratic U"));
}

TEST(Experiment, AClassifierIsMappedByItsProbabilities) {
  const Experiment e = read_experiment(parse_toml("classifier = 20\n" + text, "test"), "test");
  const Outcome outcome = perform(e, 0, 1);
  ASSERT_EQ(outcome.map.size(), 400u);
  EXPECT_GE(*std::ranges::min_element(outcome.map), 0);
  EXPECT_LE(*std::ranges::max_element(outcome.map), 1);
  RunSettings settings = e.cells[0].settings;
  const auto problem = make_problem<float>(settings, [](std::string_view) {});
  double apart = 0;  // the sums of probabilities over the rows of each class, at the nearest points of the map
  const auto nearest = [&](double x, const std::vector<double>& line) {
    return std::size_t(std::ranges::min_element(line, {}, [&](double y) { return std::abs(x - y); }) - line.begin());
  };
  for (std::size_t i = 0; i < problem.data.train.rows; ++i) {
    const double p = outcome.map[nearest(problem.data.train.inputs[2 * i + 1], outcome.map_y) * 20 +
                                 nearest(problem.data.train.inputs[2 * i], outcome.map_x)];
    apart += (problem.data.train.targets[i] > 0.5 ? 1 : -1) * p;
  }
  EXPECT_GT(apart, 0) << "the second class is likelier where its rows are";
  EXPECT_TRUE(perform(e, 0, 2).map.empty()) << "only the first seed's";
}

TEST(Experiment, AGridOfTwoAxesHasATableOfMeans) {
  const Experiment e = experiment();
  std::vector<Outcome> outcomes;
  for (std::size_t c = 0; c < e.cells.size(); ++c)
    for (long seed = 1; seed <= 2; ++seed) outcomes.push_back(perform(e, c, seed));
  const Finding finding = conclude(e, outcomes);
  ASSERT_EQ(finding.tables.size(), 2 + e.settings.measures.size()) << "claims, numbers, one for each measure";
  for (const auto& row : finding.tables[1].table.rows) EXPECT_EQ(row[0].second, "descent");
  const Table& means = finding.tables[2].table;
  ASSERT_EQ(means.rows.size(), 2u);
  ASSERT_EQ(means.rows[1].size(), 3u);
  EXPECT_EQ(means.rows[1][0], (std::pair<std::string, Table::Cell>("friction", 10.0)));
  EXPECT_EQ(means.rows[1][2].first, "temperature 0.1");
  const double mean = (outcomes[8].values[0].back() + outcomes[9].values[0].back()) / 2;
  EXPECT_NEAR(means.rows[1][2].second.number().value(), mean, 1e-3 * mean) << "four digits";
}

TEST(Experiment, AClaimMayCompareTwoStepsOfARun) {
  const Experiment e = experiment(
      "[claim.falls]\nsays = \"the loss falls\"\nmeasure = \"train.loss\"\nmore = \"descent\"\nthan = \"descent\"\n"
      "at = 10\nthan_at = 40\n");
  std::vector<Outcome> outcomes;
  for (long seed = 1; seed <= 3; ++seed) outcomes.push_back(perform(e, 0, seed));
  std::vector<double> falls;
  for (const Outcome& o : outcomes) falls.push_back(o.values[0][0] - o.values[0][3]);
  const auto [difference, error] = row_named("mean", statistics(), "statistic").of(falls);
  const Finding finding = conclude(e, outcomes);
  const auto& row = finding.tables[0].table.rows[0];
  EXPECT_EQ(row[4].first, "difference");
  EXPECT_NEAR(row[4].second.number().value(), difference, 1e-3 * std::abs(difference));
  EXPECT_EQ(row[5].first, "error");
  EXPECT_NEAR(row[5].second.number().value(), error, 1e-3 * error) << "that of the differences, seed by seed";
  EXPECT_EQ(row[6].second, 3) << "runs";
}

// U = 2 q^2 at T = 2: the law of BAOAB has <p.p> = T (1 - a h^2/4) at the ends of steps, here 0.75 T, and <q.g> = T.
const std::string averaged = R"(
curve = 2
measures = ["kinetic_error", "virial_error"]
[run]
warmup = 500
steps = 20000
model.toy = { name = "gaussian", stiffness = 4.0 }
[arm.langevin]
run = { part.all = { scheme = "BAOAB", step = 0.5, friction = 1.0, temperature = 2.0 } }
[arm.overdamped]
run = { part.all = { scheme = "S", step = 0.05, temperature = 2.0 } }
)";

TEST(Experiment, AveragesAreTakenOverAllStepsAfterTheWarmUp) {
  const Experiment e = read_experiment(parse_toml(averaged, "test"), "test");
  EXPECT_EQ(e.steps, (std::vector<long>{10250, 20500}));
  std::vector<double> kinetic, virial, other;
  for (long seed = 1; seed <= 10; ++seed) {
    const Outcome o = perform(e, 0, seed);
    kinetic.push_back(o.values[0].back()), virial.push_back(o.values[1].back());
    other.push_back(perform(e, 1, seed).values[1].back());
  }
  const MeanOf k = mean_of(kinetic), v = mean_of(virial), s = mean_of(other);
  EXPECT_NEAR(k.value, -0.25, 4 * k.error);
  EXPECT_GT(std::abs(k.value + 0.2), 4 * k.error) << "half-step values, or those of another step, would be seen";
  EXPECT_NEAR(v.value, 0, 4 * v.error);
  EXPECT_NEAR(s.value, 1 / (1 - 0.1) - 1, 4 * s.error) << "Euler-Maruyama: 1/(1 - a h/2)";
  EXPECT_TRUE(std::isnan(perform(e, 1, 1).values[0].back())) << "no momentum, no kinetic energy";
}

TEST(Experiment, AnAverageIsTheMeanOfEachStepsReading) {
  const Experiment e = read_experiment(parse_toml(averaged, "test"), "test");
  const Outcome outcome = perform(e, 0, 3);
  RunSettings settings = e.cells[0].settings;
  settings.seed = 3;
  const auto problem = make_problem<double>(settings, [](std::string_view) {});
  const Noise<double> noise;
  auto chain = problem.chain(0, noise);
  chain.start(problem.starting_point(0, {}));
  for (int k = 0; k < 500; ++k) chain.step();
  double kinetic = 0, virial = 0;
  for (int k = 500; k < 10250; ++k) {
    chain.step_and_read();
    kinetic += chain.reading().parts[0].kinetic_energy, virial += chain.reading().parts[0].virial;
  }
  EXPECT_NEAR(outcome.values[0][0], kinetic / 9750 - 1, 1e-12) << "n T/2 is 1";
  EXPECT_NEAR(outcome.values[1][0], virial / 9750 - 1, 1e-12);
}

TEST(Experiment, APowerIsFittedThroughWhatIsClearlySeen) {
  std::vector<SlopePoint> points;
  for (const double x : {0.1, 0.2, 0.4}) points.push_back({x, {-3 * x * x, 0.1 * 3 * x * x}});
  const MeanOf exact = slope_of(points);
  EXPECT_NEAR(exact.value, 2, 1e-12);
  EXPECT_NEAR(exact.error, 0.1 / std::sqrt(2 * std::log(2.0) * std::log(2.0)), 1e-12);
  points.push_back({0.05, {1, 0.6}});
  EXPECT_EQ(slope_of(points).value, exact.value) << "within two errors of zero: left out";
  points.back() = {0.05, {1, 0.4}};
  EXPECT_LT(slope_of(points).value, 1.9) << "a point that is clearly off the law counts";
  points.back() = {0.05, {0.03, 0.0149}};
  EXPECT_NEAR(slope_of(points).value, 2, 0.15) << "but by its error: five times weaker than the others";
  EXPECT_GT(std::abs(slope_of(points).value - 2), 1e-3);
  points.resize(2);
  EXPECT_TRUE(std::isnan(slope_of(points).value));
}

// Errors of -h^2/4 with a spread over two runs: the claims see the power 2.
TEST(Experiment, AClaimMayBeAboutAPowerOfTheStep) {
  const Experiment e = read_experiment(parse_toml(R"(
curve = 0
measures = ["kinetic_error"]
[run]
steps = 1
model.toy = { name = "gaussian", stiffness = 1.0 }
[arm.langevin]
run = { part.all = { scheme = "BAOAB", temperature = 1.0 } }
grid = { "part.all.step" = [0.1, 0.2, 0.4] }
[claim.second]
says = "second order"
measure = "kinetic_error"
more = "langevin*"
than = "1.5"
along = "part.all.step"
[claim.third]
says = "third order"
measure = "kinetic_error"
more = "langevin*"
than = "2.5"
along = "part.all.step"
)",
                                                  "test"),
                                       "test");
  std::vector<Outcome> outcomes;
  for (std::size_t c = 0; c < e.cells.size(); ++c)
    for (const long seed : {1, 2}) {
      const double h = e.cells[c].place[0];
      outcomes.push_back({c, seed, {}, {{-h * h / 4 * (seed == 1 ? 1.01 : 0.99)}}, {}, {}, {}, {}});
    }
  const Finding finding = conclude(e, outcomes);
  const auto& rows = finding.tables[0].table.rows;
  EXPECT_EQ(rows[0][1].second, "power of part.all.step in the mean of kinetic_error");
  EXPECT_NEAR(rows[0][2].second.number().value(), 2, 1e-9);
  EXPECT_EQ(rows[0][6].second, 6) << "runs";
  EXPECT_EQ(rows[0].back().second, "reproduced");
  EXPECT_EQ(rows[1].back().second, "not reproduced");
}

TEST(Experiment, MistakesAreNamed) {
  const auto refusal = [](const std::string& more) { return error_of([&] { experiment(more); }); };
  EXPECT_THAT(refusal("[arm.x]\nrun = { part.all = { stp = 1 } }\n"), HasSubstr("did you mean \"step\"?"));
  EXPECT_THAT(refusal("[claim.x]\nmeasure = \"test.loss\"\n"), HasSubstr("which `measures` does not list"));
  EXPECT_THAT(refusal("[arm.x]\nrun = { steps = 41 }\n"), HasSubstr("same number of steps"));
  EXPECT_THAT(refusal("[claim.x]\nmeasure = \"train.loss\"\nmore = \"descend\"\nthan = \"0\"\n"),
              HasSubstr("neither a number nor one of the arms, such as \"descent\""));
  EXPECT_THAT(refusal("[arm.x]\ngrid = { \"part.all.step\" = { from = 1, to = 2, count = 1 } }\n"),
              HasSubstr("count must be at least 2"));
  EXPECT_THAT(refusal("[arm.x]\ngrid = { \"model.layers\" = [[2, 6, 1], [2, 7, 1]] }\n"),
              HasSubstr("lists of one length; they must differ"));
  EXPECT_THAT(
      refusal("[claim.x]\nmeasure = \"train.loss\"\nmore = \"warm*\"\nthan = \"0\"\nalong = \"part.all.friction\"\n"),
      HasSubstr("at least 3 values of it in a grid, not 2"));
  EXPECT_THAT(error_of([] { read_experiment(parse_toml("title = \"x\"", "test"), "x"); }), HasSubstr("[arm.NAME]"));
}

// A disc of radius 0.5: every point of its boundary bends by 2. Points where a contour crosses a grid lie unevenly,
// which makes single curvatures too small, so that the mean is below 2, never above by more than the grid's own error.
TEST(Experiment, TheBoundaryOfADiscBendsByOneOverItsRadius) {
  Snapshot s;
  s.classifier = [](std::size_t side) {
    Map map{std::vector<double>(side), std::vector<double>(side), std::vector<double>(side * side), "heat", {}, ""};
    for (std::size_t i = 0; i < side; ++i) map.x[i] = map.y[i] = 2 * double(i) / double(side - 1) - 1;
    for (std::size_t j = 0; j < side; ++j)
      for (std::size_t i = 0; i < side; ++i)
        map.z[j * side + i] = 0.5 + (0.25 - map.x[i] * map.x[i] - map.y[j] * map.y[j]) / 4;
    return map;
  };
  const auto measured = [&](const char* name) { return row_named(name, measures(), "measure").of(s); };
  EXPECT_NEAR(measured("curvature.median"), 2, 0.4);
  EXPECT_LE(measured("curvature.median"), measured("curvature.p99"));
  EXPECT_LE(measured("curvature.p99"), measured("curvature.most"));
  EXPECT_GT(measured("curvature.mean"), 0);
  EXPECT_NEAR(s.curvatures.size(), 2 * 1000, 100) << "a circle of half the square's width crosses 4 x 500 grid lines";
}

}  // namespace
}  // namespace kelvin
