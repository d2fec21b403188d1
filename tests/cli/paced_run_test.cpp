// SPDX-License-Identifier: Apache-2.0
// Runs with Z, T and cycles as a user makes them: what is stored, what is said of it, how they go on, what is refused.
#include <cmath>

#include "kelvin/trajectory/samples.h"
#include "tests/program.h"
#include "tests/run_contents.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string funnel =
    "steps = 20000\nwarmup = 1000\nevery = 5\nwalkers = 2\nmodel.toy = \"funnel\"\n"
    "part.all = { scheme = \"samadams\", step = 0.2, temperature = 1 }\n";

TEST(PacedRun, StoresStepsAndWeightsAndDiagnoseTellsThem) {
  const Desk desk;
  desk.write("run.toml", funnel);
  const Outcome made = desk.kelvin("sample run.toml -o run -q");
  ASSERT_EQ(made.code, 0) << made.error;
  const Samples all = open_samples(desk.path("run"), Which::every), seen = open_samples(desk.path("run"));
  EXPECT_EQ(all.draws, 4000u);
  EXPECT_LT(seen.draws, all.draws) << "worth fewer";
  const auto w = all.statistic("log_weight", 0), h = all.statistic("step_size", 0);
  double least = 1e9, most = 0;
  for (const double x : h) least = std::min(least, x), most = std::max(most, x);
  EXPECT_GT(least, 0.2 * 0.1);
  EXPECT_LT(most, 0.2 * 10);
  EXPECT_GT(most, 3 * least);
  EXPECT_NE(w[0], w[1]);
  const Outcome judged = desk.kelvin("diagnose run --json");
  EXPECT_THAT(judged.out, HasSubstr("draws carry weights"));
  EXPECT_THAT(judged.out, HasSubstr("steps ran from"));
}

TEST(PacedRun, GoesOnBitForBitAfterBeingStopped) {
  const Desk desk;
  desk.write("run.toml", funnel);
  ASSERT_EQ(desk.kelvin("sample run.toml -o whole -q").code, 0);
  ASSERT_EQ(desk.kelvin("sample run.toml -o part -q --set steps=7000").code, 0);
  const Outcome more = desk.kelvin("resume part --steps 13000 -q");
  ASSERT_EQ(more.code, 0) << more.error;
  const Samples a = open_samples(desk.path("whole"), Which::every), b = open_samples(desk.path("part"), Which::every);
  for (std::size_t walker : {0, 1}) {
    EXPECT_EQ(a.block("q", walker), b.block("q", walker));
    EXPECT_EQ(a.statistic("log_weight", walker), b.statistic("log_weight", walker));
  }
}

TEST(PacedRun, MclmcStoresItsEnergyErrorAndSaysWhatItFound) {
  const Desk desk;
  desk.write("run.toml",
             "steps = 5000\nwarmup = 2000\nevery = 5\nmodel.toy = { name = \"gaussian\", dimension = 10 }\n"
             "adapt = { step = true, friction = true }\npart.all = { scheme = \"mclmc\", temperature = 1 }\n");
  const Outcome made = desk.kelvin("sample run.toml -o run");
  ASSERT_EQ(made.code, 0) << made.error;
  EXPECT_THAT(made.error, HasSubstr("the warm-up of walker 0 found step"));
  double square = 0;
  const auto errors = open_samples(desk.path("run")).statistic("energy_error", 0);
  for (const double x : errors) square += x * x / double(errors.size()) / 10;
  EXPECT_NEAR(std::log(square / 5e-5), 0, 1.5) << "a running mean of 150 steps, to the sixth power";
  EXPECT_THAT(desk.kelvin("diagnose run --json").out, HasSubstr("energy error of a step"));
}

TEST(PacedRun, MistakesEndWithOneSentenceAndNoRun) {
  const Desk desk;
  desk.write("run.toml", funnel);
  const auto refused = [&](const std::string& change, const std::string& words) {
    const Outcome got = desk.kelvin("sample run.toml -o none -q " + change);
    EXPECT_EQ(got.code, 1) << change;
    EXPECT_THAT(got.error, HasSubstr(words)) << change;
    EXPECT_FALSE(std::filesystem::exists(desk.path("none"))) << change;
  };
  refused("--set tempo.least=-1", "tempo.least must be at least");
  refused("--set tempo.lesat=1", "did you mean");
  refused("--set adapt.step=true", "use [tempo]");
  refused("--set part.all.scheme=ZR{BAB}Z", "Z changes the step");
  refused("--set part.all.scheme=mclmc --set part.all.temperature=0", "temperature above 0");
  refused("--set part.all.scheme=mclmc --set adapt.energy_variance=0", "adapt.energy_variance must be");
}

}  // namespace
}  // namespace kelvin
