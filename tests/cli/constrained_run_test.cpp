// SPDX-License-Identifier: Apache-2.0
// A constrained run from the command line: what is stored, read and told, and that it can be resumed.

#include "kelvin/trajectory/samples.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string file =
    std::string(KELVIN_SOURCE_DIR) +
    "/examples/constraints.toml -q --set every=10 --set walkers=2 --set model.layers=[2,20,20,1] ";

std::vector<double> draws(const Desk& desk, const std::string& run, const std::string& block) {
  const Samples samples = open_samples(desk.path(run));
  return samples.array("posterior/" + block, 1, 0, samples.draws);
}

TEST(ConstrainedRun, IsReadWithoutItsSlack) {
  const Desk desk;
  const auto ran = desk.kelvin("sample " + file + "-o run --set steps=400");
  ASSERT_EQ(ran.code, 0) << ran.error;
  const Json record = Json::parse(desk.read("run/run.json"));
  EXPECT_EQ(record["parameters"], 2 * 20 + 20 + 20 * 20 + 20 + 20 + 1);
  EXPECT_THAT(record["blocks"].dump(), Not(HasSubstr("slack")));
  EXPECT_EQ(record["part"]["input"]["degrees_of_freedom"], 60);
  EXPECT_EQ(record["part"]["middle"]["degrees_of_freedom"], 400 - 20 * 21 / 2 + 20);
  EXPECT_EQ(record["part"]["output"]["degrees_of_freedom"], 21);
  for (const double w : draws(desk, "run", "layer1.weight")) EXPECT_LE(std::abs(w), 2.00001);
  for (const char* command :
       {"summary run --parameters", "predict run", "diagnose run", "analyse weights run", "analyse covariance run",
        "export run --to csv --out draws.csv", "export run --to netcdf --out draws.nc", "report run --out page.html",
        "landscape hessian run", "landscape line run", "boundary run"}) {
    const auto got = desk.kelvin(command);
    EXPECT_EQ(got.code, 0) << command << ": " << got.error;
    EXPECT_THAT(got.out, Not(HasSubstr("slack"))) << command;
  }
  EXPECT_THAT(desk.read("draws.csv"), Not(HasSubstr("slack")));
  const std::string found = desk.kelvin("diagnose run").out;
  EXPECT_THAT(found, HasSubstr("constraint_residual of middle is at most"));
  EXPECT_THAT(found, HasSubstr("tangency_residual of input is at most"));
  const Json line = Json::parse(desk.read("run/log.jsonl").substr(0, desk.read("run/log.jsonl").find('\n')));
  EXPECT_LT(line["part"]["middle"]["constraint_residual"], 1e-5);
  EXPECT_EQ(line["part"]["middle"]["projection_fallbacks"], 0);
  EXPECT_EQ(desk.kelvin("sample " + file + "-o again --from run --set steps=10").code, 0);
  EXPECT_THAT(desk.kelvin("certify " + file).error, HasSubstr("constraint of part \"input\""));
}

TEST(ConstrainedRun, ResumesBitForBit) {
  const Desk desk;
  ASSERT_EQ(desk.kelvin("sample " + file + "-o whole --set steps=200").code, 0);
  ASSERT_EQ(desk.kelvin("sample " + file + "-o parts --set steps=90").code, 0);
  ASSERT_EQ(desk.kelvin("resume parts -q --steps 110").code, 0);
  for (const char* block : {"layer1.weight", "layer2.weight", "layer2.bias", "layer3.weight"})
    EXPECT_EQ(draws(desk, "whole", block), draws(desk, "parts", block)) << block;
}

TEST(ConstrainedRun, PresetsOfThePapersRun) {
  const Desk desk;
  for (const char* preset : {"C-SGD", "c_sgld", "c-CoLA-od", "c_cola_ud", "o-CoLA-od", "o_cola_ud"}) {
    desk.write("run.toml", fmt::format("steps = 50\npreset = \"{}\"\nbatch = 20\ndata = {{ generator = \"spiral\" }}\n"
                                       "model = {{ layers = [2, 10, 10, 1], loss = \"binary_cross_entropy\" }}\n",
                                       preset));
    const auto ran = desk.kelvin("train run.toml -q --force -o run");
    EXPECT_EQ(ran.code, 0) << preset << ": " << ran.error;
    EXPECT_THAT(desk.read("run/run.json"), HasSubstr("\"layer2.weight\": \"")) << preset;
  }
  const auto none = desk.kelvin("train run.toml -q --force -o run --set model.layers=[2,10,1]");
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.error, HasSubstr("between the first and the last, of which there are none"));
}

// All weights start at 0.5: at their radius, or far from it.
TEST(ConstrainedRun, WeightsThatCannotMoveAreDiagnosed) {
  const Desk desk;
  const auto found = [&](const std::string& radius, const std::string& temperature) {
    desk.write("run.toml",
               "steps = 50\nbatch = 20\ndata = { generator = \"spiral\" }\n"
               "model = { layers = [2, 10, 1], loss = \"binary_cross_entropy\" }\npart.all = { scheme = \"S\", "
               "step = 0.01, start = 0.5, temperature = " +
                   temperature + ", constraint = { name = \"circle\", radius = " + radius + " } }\n");
    EXPECT_EQ(desk.kelvin("train run.toml -q --force -o run").code, 0);
    return desk.kelvin("diagnose run").out;
  };
  EXPECT_THAT(found("0.5", "0.0"), HasSubstr("100 % of the weights of part \"all\" sit at their radius, where at "
                                             "temperature 0 no force moves them: give a larger radius"));
  EXPECT_THAT(found("2.0", "0.0"), HasSubstr("0 % of the weights of part \"all\" sit at their radius"));
  EXPECT_THAT(found("0.5", "1e-4"), Not(HasSubstr("sit at their radius")));
}

// The constraint, and with it the slack, lasts through all phases; another one in a phase is refused.
TEST(ConstrainedRun, PhasesKeepTheirConstraint) {
  const Desk desk;
  const std::string head =
      "batch = 20\ndata = { generator = \"spiral\" }\n"
      "model = { layers = [2, 10, 1], loss = \"binary_cross_entropy\" }\n"
      "[part.all]\nscheme = \"BAOAB\"\nstep = 0.1\ntemperature = 1e-4\n"
      "constraint = { name = \"circle\", radius = 1.0 }\n[[phase]]\nsteps = 50\n[[phase]]\nsteps = 50\n"
      "part.all.scheme = \"adam\"\npart.all.step = 0.01\n";
  desk.write("run.toml", head);
  const auto ran = desk.kelvin("sample run.toml -q -o run");
  ASSERT_EQ(ran.code, 0) << ran.error;
  EXPECT_THAT(desk.kelvin("diagnose run").out, HasSubstr("constraint_residual of all is at most"));
  desk.write("other.toml", head + "part.all.constraint = \"orthogonal\"\n");
  EXPECT_THAT(desk.kelvin("sample other.toml -q -o other").error, HasSubstr("cannot change from phase to phase"));
}

TEST(ConstrainedRun, MisuseIsOneSentence) {
  const Desk desk;
  for (const auto& [setting, words] : {std::pair{"part.input.constraint.name=circel", "did you mean \"circle\""},
                                       {"part.input.constraint.radius=0", "radius must be greater than 0"},
                                       {"part.middle.constraint=sphere", "needs radius"},
                                       {"part.input.scheme=UBU", "use A, B and O"}}) {
    const auto got = desk.kelvin("train " + file + "-o run --set " + setting);
    EXPECT_EQ(got.code, 1) << setting;
    EXPECT_THAT(got.error, HasSubstr(words)) << setting;
    EXPECT_FALSE(std::filesystem::exists(desk.path("run"))) << setting;
  }
  EXPECT_THAT(desk.kelvin("list constraints").out, HasSubstr("orthogonal"));
}

}  // namespace
}  // namespace kelvin
