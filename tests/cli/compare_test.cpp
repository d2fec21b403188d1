// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/verdict/compare.h"

#include <cmath>

#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

TEST(Compare, AveragesAndDifferencesHaveTheirErrors) {
  const auto mean = average({{{"loss", 1, 0.1}}, {{"loss", 2, 0.1}}, {{"loss", 6, 0.1}}});
  ASSERT_EQ(mean.size(), 1u);
  EXPECT_DOUBLE_EQ(mean[0].value, 3);
  EXPECT_DOUBLE_EQ(mean[0].error, std::sqrt((4 + 1 + 9) / 2.0 / 3)) << "from the scatter, not from the runs' own";
  EXPECT_TRUE(std::isnan(average({{{"loss", 1, 0.1}}})[0].error)) << "one value has no scatter";
  const auto apart = difference({{"loss", 1, 3}, {"rmse", 1, 1}}, {{"loss", 2, 4}});
  ASSERT_EQ(apart.size(), 1u);
  EXPECT_DOUBLE_EQ(apart[0].value, 1);
  EXPECT_DOUBLE_EQ(apart[0].error, 5);
}

struct Compared : Desk {
  Compared() {
    write(
        "line.toml",
        "steps = 400\nwarmup = 100\nevery = 2\nwalkers = 2\n[data]\ngenerator = { name = \"linear\", rows = 20, test = "
        "10, seed = 3 }\n[model]\nlayers = [2, 1]\nprior = \"gaussian\"\n[part.all]\nstep = 0.2\n");
  }
  void run(const std::string& name, const std::string& more) {
    const Outcome made = kelvin("sample line.toml -q -o " + name + " " + more);
    ASSERT_EQ(made.code, 0) << made.error;
  }
  Json compare(const std::string& runs) {
    const Outcome found = kelvin("compare --json " + runs);
    EXPECT_EQ(found.code, 0) << found.error;
    return Json::parse(found.out);
  }
};

Json rows(const Json& finding, const std::string& title) {
  for (const Json& t : finding.at("tables"))
    if (t.at("title") == title) return t.at("rows");
  throw Error("no table {}", title);
}

Json row(const Json& table, const std::string& key, const std::string& value) {
  for (const Json& r : table)
    if (r.at(key) == value) return r;
  throw Error("no row {}", value);
}

TEST(Compare, CountsAndScoresAreThoseOfTheRuns) {
  Compared desk;
  desk.run("a", "");
  desk.run("b", "--set part.all.step=0.1");
  const Json found = desk.compare("a b");
  const Json& runs = rows(found, "Runs");
  EXPECT_EQ(row(runs, "measure", "steps").at("a"), 500);
  EXPECT_EQ(row(runs, "measure", "draws").at("b"), 400);
  EXPECT_EQ(row(runs, "measure", "gradient evaluations").at("a"), 2 * 501) << "one a step and the first, two walkers";
  const Json last = Json::parse(desk.read("a/run.json")).at("final");
  EXPECT_EQ(row(runs, "measure", "test rmse at the end").at("a"), last.at("test").at("rmse"));
  // With every draw scored the mean is that of all draws; the last of them is the state at the end.
  const Json over = row(runs, "measure", "test rmse over draws");
  EXPECT_GT(over.at("a error"), 0);
  EXPECT_NEAR(over.at("a"), last.at("test").at("rmse"), 0.5);
  const Json apart = row(rows(found, "Runs: difference to a"), "measure", "test rmse over draws");
  EXPECT_DOUBLE_EQ(apart.at("b"), over.at("b").as<double>() - over.at("a").as<double>());
  EXPECT_DOUBLE_EQ(apart.at("b error"), std::hypot(over.at("a error").as<double>(), over.at("b error").as<double>()));

  const Json& settings = rows(found, "Settings that differ");
  ASSERT_EQ(settings.size(), 1u);
  EXPECT_EQ(settings[0], (Value::Group{{"setting", "part.all.step"}, {"a", "0.2"}, {"b", "0.1"}}));
  EXPECT_EQ(found.at("figures").at(0).at("curves").size(), 2u);
  EXPECT_EQ(found.at("figures")[0]["curves"][0].at("x").back(), 500);
  EXPECT_FALSE(std::filesystem::exists(desk.path("a/analysis"))) << "nothing is kept with a run";
}

TEST(Compare, RunsThatDifferInTheSeedOnlyAreAveraged) {
  Compared desk;
  desk.run("a", "--seed 1");
  desk.run("b", "--seed 2");
  desk.run("c", "--seed 1 --set part.all.friction=3");
  const Json found = desk.compare("a b c");
  const Json each = row(rows(found, "Runs"), "measure", "potential"),
             mean = row(rows(found, "Averages over seeds"), "measure", "potential");
  const double a = each.at("a"), b = each.at("b");
  EXPECT_DOUBLE_EQ(mean.at("a b"), (a + b) / 2);
  EXPECT_NEAR(mean.at("a b error"), std::abs(a - b) / 2, 1e-15);
  EXPECT_EQ(mean.at("c"), each.at("c"));
  EXPECT_EQ(mean.at("c error"), each.at("c error")) << "a run alone keeps its own error";
}

TEST(Compare, AToyAndANetworkHaveCostsInCommonAndRefusalsAreOneSentence) {
  Compared desk;
  desk.run("a", "--set store.weights=\"none\"");
  desk.write("toy.toml", "steps = 200\nmodel = { toy = \"quartic\" }\n[part.all]\ntemperature = 1\nscheme = \"hmc\"\n");
  ASSERT_EQ(desk.kelvin("sample toy.toml -q -o toy").code, 0);
  const Json found = desk.compare("a toy -o both.json");
  EXPECT_EQ(Json::parse(desk.read("both.json")), found);
  const double acceptance = row(rows(found, "Runs"), "measure", "acceptance").at("toy");
  EXPECT_TRUE(acceptance > 0.5 && acceptance <= 1) << acceptance;
  EXPECT_TRUE(row(rows(found, "Runs"), "measure", "test loss at the end").at("toy").null());
  for (const std::string runs : {"a", "a a/", "a nowhere", "a line.toml"}) {
    const Outcome o = desk.kelvin("compare -q " + runs + " -o none.json");
    EXPECT_EQ(o.code, 1) << runs;
    EXPECT_EQ(std::count(o.error.begin(), o.error.end(), '\n'), 1) << o.error;
  }
  EXPECT_FALSE(std::filesystem::exists(desk.path("none.json")));
}

}  // namespace
}  // namespace kelvin
