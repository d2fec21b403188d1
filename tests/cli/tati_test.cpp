// SPDX-License-Identifier: Apache-2.0
// Names of TATi are answered by ours.
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

void expect_done(const Desk& desk, const std::string& arguments) {
  const Outcome ran = desk.kelvin(arguments);
  EXPECT_EQ(ran.code, 0) << ran.error;
}

void refuse_with(const Desk& desk, const std::string& arguments, const std::string& sentence) {
  const Outcome ran = desk.kelvin(arguments);
  EXPECT_NE(ran.code, 0) << arguments << " was taken";
  EXPECT_THAT(ran.error, HasSubstr(sentence)) << arguments;
}

TEST(NamesOfTati, AreAnsweredByOurs) {
  const Desk desk;
  desk.write("run.toml", "steps = 10\nmodel = { toy = \"gaussian\" }\npart.all = { temperature = 1, step = 0.1 }\n");
  const auto answer = [&](const std::string& theirs, const std::string& ours, const std::string& arguments) {
    refuse_with(desk, arguments, "\"" + theirs + "\" of TATi is here: " + ours);
  };
  answer("GeometricLangevinAlgorithm_1stOrder", "scheme = \"gla1\"",
         "sample run.toml --set part.all.scheme=GeometricLangevinAlgorithm_1stOrder");
  answer("max_steps", "steps", "sample run.toml --set max_steps=100");
  answer("step_width", "part.NAME.step", "sample run.toml --set part.all.step_width=0.1");
  answer("inverse_temperature", "part.NAME.temperature = 1 / inverse_temperature",
         "sample run.toml --inverse_temperature 10");
  answer("TATiSampler", "`kelvin sample`", "TATiSampler run.toml");
  refuse_with(desk, "sample run.toml --set maximal_steps=100", "no setting \"maximal_steps\"");  // negative control
  expect_done(desk, "sample run.toml -q -o run --set part.all.scheme=gla1");  // what they are told is there
  for (const char* scheme : {"sgld", "gla2", "hmc", "sgd", "bbgd"})
    expect_done(desk, std::string("sample run.toml -q -o ") + scheme + " --set part.all.scheme=" + scheme);
}

}  // namespace
}  // namespace kelvin
