// SPDX-License-Identifier: Apache-2.0
// Tempered runs as a user makes them: what is stored, what analyses see, and how they go on.
#include <cmath>

#include "kelvin/trajectory/samples.h"
#include "tests/json.h"
#include "tests/program.h"
#include "tests/run_contents.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string tempered =
    "steps = 20000\nwarmup = 5000\nevery = 5\nwalkers = 2\nmodel = { toy = { name = \"double_well\" } }\n"
    "part.all = { step = 0.1, temperature = 0.25 }\n[tempering]\nform = \"potential\"\n";

TEST(TemperedRun, AnalysesSeeOnlyTheDrawsAtTheTarget) {
  const Desk desk;
  desk.write("run.toml", tempered);
  const Outcome made = desk.kelvin("sample run.toml -o run");
  ASSERT_EQ(made.code, 0) << made.error;
  EXPECT_THAT(made.error, HasSubstr("a round trip should take"));
  const Samples all = open_samples(desk.path("run"), Which::every), seen = open_samples(desk.path("run"));
  EXPECT_EQ(all.draws, 4000u);
  EXPECT_EQ(all.blocks, std::vector<std::string>{"q"});
  EXPECT_EQ(all.parts, std::vector<std::string>{"all"});
  const auto alpha = all.statistic("alpha", 0);
  std::size_t inside = 0;
  double furthest = 0;
  for (const double a : alpha) inside += std::abs(a) <= 0.4, furthest = std::max(furthest, std::abs(a));
  EXPECT_GT(furthest, 1.3);
  EXPECT_LE(furthest, 1.5);
  EXPECT_EQ(seen.chosen[0].size(), inside);
  const auto potential = seen.statistic("potential", 0), x = seen.block("q", 0);
  for (std::size_t n = 0; n < 50; ++n)
    EXPECT_NEAR(potential[n], 3 * std::pow(x[n] * x[n] - 1, 2) + x[n] / 4, 1e-9) << "U itself, without the bias";

  const Outcome analysed = desk.kelvin("analyse tempering run");
  EXPECT_EQ(analysed.code, 0) << analysed.error;
  EXPECT_THAT(analysed.out, HasSubstr("round trips"));
  EXPECT_TRUE(std::filesystem::exists(desk.path("run/analysis/tempering.npz")));
  EXPECT_EQ(desk.kelvin("diagnose run").code, 0) << desk.read(".err");
  EXPECT_EQ(desk.kelvin("summary run").code, 0) << desk.read(".err");
  EXPECT_EQ(desk.kelvin("report run").code, 0) << desk.read(".err");
  EXPECT_THAT(desk.read("run/report.html"), HasSubstr("Law of alpha"));
}

TEST(TemperedRun, GoesOnWithItsPilotAndItsBiasBitForBit) {
  const Desk desk;
  desk.write("run.toml", tempered);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o whole").code, 0) << desk.read(".err");
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o run --set steps=1000").code, 0) << desk.read(".err");
  const Json record = Json::parse(desk.read("run/run.json"));
  EXPECT_GT(record.at("settings").at("tempering").at("capacity"), 0) << "what the pilot found is there";
  EXPECT_GT(record.at("tempering").at("round_trip_steps"), 0);
  ASSERT_EQ(desk.kelvin("resume run -q --steps 19000").code, 0) << desk.read(".err");
  const Samples a = open_samples(desk.path("whole"), Which::every), b = open_samples(desk.path("run"), Which::every);
  for (const char* name : {"alpha", "potential", "log_weight"}) EXPECT_EQ(a.statistic(name, 1), b.statistic(name, 1));
  EXPECT_EQ(a.block("q", 1), b.block("q", 1));
  EXPECT_EQ(Json::parse(desk.read("whole/run.json")).at("tempering").at("biases"),
            Json::parse(desk.read("run/run.json")).at("tempering").at("biases"));

  const Outcome other = desk.kelvin("sample run.toml -o next --set warmup=0 --set tempering.bias_from=whole");
  ASSERT_EQ(other.code, 0) << other.error;
  EXPECT_THAT(other.error, testing::Not(HasSubstr("pilot"))) << "that comes with the bias";
  EXPECT_EQ(Json::parse(desk.read("whole/run.json")).at("tempering").at("biases"),
            Json::parse(desk.read("next/run.json")).at("tempering").at("biases"));
}

TEST(TemperedRun, MisuseEndsWithOneSentenceAndLeavesNothing) {
  const Desk desk;
  desk.write("run.toml", tempered);
  desk.write("plain.toml",
             "steps = 100\nmodel = { toy = { name = \"double_well\" } }\npart.all = { temperature = 0.5 }\n");
  ASSERT_EQ(desk.kelvin("sample plain.toml -q -o plain").code, 0) << desk.read(".err");
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o whole --set steps=100 --set warmup=100").code, 0) << desk.read(".err");
  const auto refused = [&](const std::string& arguments) {
    const Outcome o = desk.kelvin(arguments + " -o bad -q");
    EXPECT_EQ(o.code, 1) << arguments;
    EXPECT_FALSE(std::filesystem::exists(desk.path("bad")));
    return o.error;
  };
  EXPECT_THAT(refused("sample run.toml --set tempering.bias_from=plain"), HasSubstr("has no bias"));
  EXPECT_THAT(refused("sample run.toml --set tempering.bias_from=nowhere"), HasSubstr("nowhere"));
  EXPECT_THAT(refused("sample run.toml --set tempering.bias_from=whole --set tempering.delta=0.3"),
              HasSubstr("use the same"));
  EXPECT_THAT(refused("sample run.toml --set tempering.strength=2"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(refused("train run.toml --set part.all.temperature=0"), HasSubstr("above 0"));
  EXPECT_EQ(desk.kelvin("analyse tempering plain").code, 1);
  EXPECT_EQ(desk.kelvin("certify run.toml").code, 1);
  EXPECT_THAT(desk.read(".err"), HasSubstr("leave out [tempering]"));
}

}  // namespace
}  // namespace kelvin
