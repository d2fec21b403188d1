// SPDX-License-Identifier: Apache-2.0
// `kelvin diagnose`: each verdict on a run made to have that fault, and on one that has not.
#include "kelvin/analysis/verdict/diagnose.h"

#include <cmath>
#include <random>

#include "kelvin/io/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string four = "walkers = 4\nwarmup = 1000\nevery = 5\n";

struct Bench : Desk {
  Finding diagnosed(const std::string& file, const std::string& command = "sample") const {
    write("run.toml", file);
    const Outcome ran = kelvin(command + " run.toml -q --force -o run");
    EXPECT_TRUE(ran.code == 0 || ran.error.find("smaller step") != std::string::npos) << ran.error;
    const Outcome got = kelvin("diagnose run --json");
    EXPECT_EQ(got.code, 0) << got.error;
    return read_finding(parse_json(got.out, "diagnose"));
  }
};

std::string text(const Finding& finding) {
  std::string out;
  for (const std::string& sentence : finding.words) out += sentence + "\n";
  return out;
}

// The verdicts of a check, one after another.
std::string verdict(const Finding& finding, const std::string& check) {
  std::string out;
  for (const auto& row : finding.tables[0].table.rows)
    if (row[0].second == check) out += (out.empty() ? "" : " ") + row[1].second.text();
  return out;
}

double cell(const Finding& finding, std::size_t table, const std::string& column) {
  for (const auto& [name, value] : finding.tables[table].table.rows[0])
    if (name == column) return value.number().value_or(NAN);
  ADD_FAILURE() << "no column " << column;
  return NAN;
}

TEST(Diagnose, AGoodRunIsHealthyAndHasItsPictures) {
  const Bench bench;
  const Finding f = bench.diagnosed("steps = 40000\n" + four +
                                    "model = { toy = { name = \"gaussian\", stiffness = [1.0, 2.0, 4.0] } }\n"
                                    "part.all = { step = 0.5, temperature = 1 }\n");
  EXPECT_EQ(f.words, std::vector<std::string>{"Healthy: no check of this sampling run fails."});
  for (const char* check : {"finite", "step", "temperature", "agreement", "length", "drift"})
    EXPECT_EQ(verdict(f, check), "fine") << check;
  EXPECT_EQ(verdict(f, "acceptance"), "") << "nothing is proposed";
  std::vector<std::string> figures;
  for (const Figure& figure : f.figures) figures.push_back(figure.name);
  EXPECT_THAT(figures, testing::ElementsAre("learning", "potential", "energy", "ranks", "autocorrelation",
                                            "kinetic_all", "temperatures"));
  // 3 degrees of freedom, all normal: 1 % of the kinetic temperatures lies outside their chi-square band
  EXPECT_NEAR(cell(f, 1, "draws outside the 99 % band"), 0.01, 5 * std::sqrt(0.01 / 32000));
  EXPECT_EQ(kept_findings(bench.path("run"))[0].name, "diagnose");
}

// OBABO on a Gaussian: <q.g> = T / (1 - h^2 / 4), 19.05 % too much at 0.8, 0.25 % at 0.1; momenta are exact.
TEST(Diagnose, AStepThatIsTooLargeIsSeenInTheTwoTemperatures) {
  const Bench bench;
  const auto run = [&](const std::string& step) {
    return bench.diagnosed("steps = 100000\n" + four +
                           "model = { toy = { name = \"gaussian\", dimension = 4 } }\n"
                           "part.all = { scheme = \"OBABO\", temperature = 1, step = " +
                           step + " }\n");
  };
  const Finding large = run("0.8");
  EXPECT_THAT(text(large), HasSubstr("Step too large: kinetic and configurational temperature of part \"all\" disagree "
                                     "by "));
  EXPECT_THAT(text(large), HasSubstr("halve the step"));
  EXPECT_EQ(verdict(large, "temperature"), "fine");
  const double error = cell(large, 1, "its error");
  EXPECT_NEAR(cell(large, 1, "configurational / set"), 1 / 0.84, 4 * error);
  EXPECT_LT(error, 0.01);
  EXPECT_EQ(verdict(run("0.1"), "step"), "fine");
}

// SGLD has no momenta: <q.g> = T / (1 - h k / 2) = 1.111 T is held against the temperature that was set.
TEST(Diagnose, SchemesWithoutMomentaAreJudgedByTheirPositions) {
  const Bench bench;
  const Finding f = bench.diagnosed("steps = 40000\n" + four +
                                    "model = { toy = { name = \"gaussian\", stiffness = [2.0] } }\n"
                                    "part.all = { scheme = \"S\", temperature = 1, step = 0.1 }\n");
  EXPECT_THAT(text(f), HasSubstr("Step too large: configurational and set temperature"));
  EXPECT_EQ(verdict(f, "temperature"), "");
}

TEST(Diagnose, AShortRunIsToldHowManyStepsAreMissing) {
  const Bench bench;
  const std::string problem =
      "walkers = 4\nwarmup = 1000\nevery = 2\nmodel = { toy = { name = \"gaussian\", dimension = 4 } }\n"
      "part.all = { step = 0.1, temperature = 1 }\n";
  const Finding f = bench.diagnosed("steps = 600\n" + problem);
  EXPECT_EQ(verdict(f, "length"), "fault");
  double most = 0;
  for (const auto& row : f.tables[2].table.rows) most = std::max(most, row[2].second.number().value());
  EXPECT_GT(most, 50);
  EXPECT_THAT(text(f), HasSubstr(fmt::format("{:.0f} more draws a walker are missing", most)));
  EXPECT_THAT(text(f), HasSubstr(fmt::format("kelvin resume run --steps {:.0f}`", 2 * most)));
  EXPECT_EQ(verdict(bench.diagnosed("steps = 10000\n" + problem), "length"), "fine");
}

TEST(Diagnose, WalkersInDifferentWellsDisagree) {
  const Bench bench;
  const auto run = [&](const std::string& height) {
    return bench.diagnosed("seed = 2\nsteps = 40000\n" + four +
                           "model = { toy = { name = \"double_well\", tilt = 0.0, height = " + height +
                           " } }\npart.all = { step = 0.05, temperature = 1, start = { name = \"gaussian\", "
                           "scale = 0.7 } }\n");
  };
  const Finding stuck = run("20.0");
  EXPECT_THAT(text(stuck), HasSubstr("sit in different places"));
  EXPECT_EQ(verdict(stuck, "length"), "fine") << "each by itself is well behaved";
  EXPECT_EQ(verdict(run("1.0"), "agreement"), "fine");
}

TEST(Diagnose, WalkersThatStartFarAwayDrift) {
  const Bench bench;
  const std::string problem =
      "walkers = 4\nsteps = 5000\nevery = 5\nmodel = { toy = { name = \"gaussian\", dimension = 20 } }\n"
      "part.all = { step = 0.05, temperature = 1, friction = 20, start = 4.0 }\n";
  const Finding f = bench.diagnosed(problem);
  EXPECT_EQ(verdict(f, "drift"), "fault");
  EXPECT_THAT(text(f), HasSubstr("The energy falls by"));
  EXPECT_EQ(verdict(bench.diagnosed("warmup = 10000\n" + problem), "drift"), "fine");
}

// Batches of 5 of 100 rows at the temperature of the posterior: their noise is far above the bath's.
TEST(Diagnose, NoisyMinibatchesAreFoundToHeat) {
  const Bench bench;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::string rows = "x,y\n";
  for (int k = 0; k < 100; ++k) {
    const double x = normal(random);
    rows += fmt::format("{},{}\n", x, 2 * x + normal(random));
  }
  bench.write("line.csv", rows);
  const std::string problem = "steps = 20000\n" + four +
                              "data = \"line.csv\"\nmodel = { layers = [1, 1], loss = \"mean_squared\", prior = 1.0 }\n"
                              "part.all = { step = 0.2, temperature = \"posterior\" }\n";
  const Finding f = bench.diagnosed("batch = 5\n" + problem);
  EXPECT_THAT(text(f), HasSubstr("hotter than was set; the noise of the minibatches"));
  EXPECT_THAT(text(bench.diagnosed(problem)), StartsWith("Healthy"));
  std::string loose = problem;
  loose.erase(loose.find(", prior = 1.0"), 13);
  EXPECT_THAT(text(bench.diagnosed(loose)), HasSubstr("no prior that can be normalised")) << "q.g has no known mean";
}

TEST(Diagnose, ProposalsAreJudgedByAcceptanceDivergencesAndEnergyChanges) {
  const Bench bench;
  const auto run = [&](const std::string& toy, const std::string& step) {
    return bench.diagnosed("walkers = 4\nsteps = 2000\nevery = 1\nwarmup = 200\nmodel = { toy = " + toy +
                           " }\npart.all = { scheme = \"hmc\", temperature = 1, step = " + step + ", start = 1.0 }\n");
  };
  const std::string gaussian = "{ name = \"gaussian\", dimension = 10 }";
  const Finding good = run(gaussian, "8.0"), large = run("{ name = \"gaussian\", dimension = 200 }", "19.0"),
                unstable = run(gaussian, "25.0"),
                funnel = run("{ name = \"funnel\", dimension = 10, scale = 3.0 }", "1.0");
  for (const char* check : {"acceptance", "divergences", "energy changes"}) EXPECT_EQ(verdict(good, check), "fine");
  EXPECT_EQ(verdict(large, "acceptance"), "fault");
  EXPECT_EQ(verdict(large, "divergences"), "fine");
  EXPECT_THAT(text(unstable), HasSubstr("8000 of 8000 draws had a proposal whose energy rose by more than 1000 T"));
  EXPECT_EQ(verdict(funnel, "energy changes"), "fault");
}

TEST(Diagnose, ABlowUpIsNamedFirst) {
  const Bench bench;
  const Finding f = bench.diagnosed(
      "steps = 100000\nevery = 1\nlog_every = 10\nmodel = { toy = \"gaussian\" }\n"
      "part.all = { step = 2.2, temperature = 1 }\n");
  ASSERT_GT(f.words.size(), 2u);
  EXPECT_THAT(f.words[1], HasSubstr("the run blew up; halve the step"));
  EXPECT_EQ(verdict(f, "finished"), "unknown");
}

// Means with errors say nothing of a coordinate that ran away for a few draws: temperatures of the others stay fine.
TEST(Diagnose, ACoordinateFarOutOfItsBulkIsNeverFine) {
  const Bench bench;
  const Finding good = bench.diagnosed("steps = 40000\n" + four +
                                       "model = { toy = { name = \"funnel\", dimension = 3, scale = 2.0 } }\n"
                                       "part.all = { step = 0.1, temperature = 1 }\n");
  EXPECT_EQ(verdict(good, "finite"), "fine") << "a funnel reaches some hundreds of its quartiles";
  // Nearly free for 1900 steps of 0.1, then for 100 of a million.
  bench.diagnosed(
      "every = 1\nwalkers = 2\nmodel = { toy = { name = \"gaussian\", stiffness = [1e-14] } }\npart.all.temperature = "
      "1\n[[phase]]\nsteps = 1900\npart.all = { step = 0.1, temperature = 1 }\n"
      "[[phase]]\nsteps = 100\npart.all = { step = 1000000.0, temperature = 1 }\n");
  Evidence e = evidence_of(open_samples(bench.path("run")));
  e.potential = {{0.1, 0.3, 0.2, 0.4}};  // it says nothing
  EXPECT_THAT(judge_extremes(e)[0].sentence, HasSubstr("left its bulk by orders of magnitude"));
  e.training = true;
  EXPECT_EQ(judge_extremes(e)[0].verdict, Verdict::fine) << "what trains moves away from its start";
}

// Two hidden units that may change places: walkers that sit in different modes are an ensemble.
TEST(Diagnose, WalkersInModesOfANetworkAreJudgedEachByItself) {
  const Bench bench;
  const std::string problem =
      "seed = 1\nwalkers = 4\nwarmup = 2000\nevery = 20\nsteps = 60000\nprecision = \"double\"\n"
      "data = { generator = { name = \"gap\", rows = 20 }, standardise = \"both\" }\n"
      "model = { layers = [1, 3, 1], activation = \"tanh\", loss = \"gaussian\", scale = 0.3, prior = 1.0 }\n"
      "part.all = { step = 0.2, temperature = \"posterior\", start = { name = \"gaussian\", scale = 1.0 } }\n";
  const Finding f = bench.diagnosed(problem);
  EXPECT_THAT(text(f), Not(HasSubstr("chains disagree")));
  EXPECT_EQ(verdict(f, "agreement"), "fine fine") << text(f);
  bool told = false;
  for (const auto& row : f.tables[0].table.rows)
    told |= row[2].second.text().find("of the variance of predictions over all draws lies between walkers") !=
            std::string::npos;
  EXPECT_TRUE(told);
}

TEST(Diagnose, TrainingIsJudgedByItsLearningCurve) {
  const Bench bench;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::string line = "x,y\n", noise = "a,b,y\n";
  for (int k = 0; k < 100; ++k) {
    const double x = normal(random);
    line += fmt::format("{},{}\n", x, 2 * x + normal(random));
  }
  for (int k = 0; k < 40; ++k) noise += fmt::format("{},{},{}\n", normal(random), normal(random), normal(random));
  bench.write("line.csv", line), bench.write("noise.csv", noise);
  const auto train = [&](const std::string& steps, const std::string& data, const std::string& layers,
                         const std::string& part = "{ step = 0.05, scheme = \"OBA\" }") {
    return bench.diagnosed("steps = " + steps + "\ndata = { file = \"" + data +
                               "\", validation = 0.5 }\nmodel = { layers = " + layers +
                               ", loss = \"mean_squared\" }\npart.all = " + part + "\n",
                           "train");
  };
  const Finding good = train("10000", "line.csv", "[1, 1]");
  EXPECT_THAT(text(good), StartsWith("Healthy: no check of this training run fails."));
  EXPECT_EQ(verdict(good, "length"), "") << "that is a question to sampling";
  EXPECT_THAT(text(train("100", "line.csv", "[1, 1]", "{ step = 0.01, scheme = \"S\" }")),
              HasSubstr("The loss still falls"));
  EXPECT_THAT(text(train("20000", "noise.csv", "[2, 50, 1]")), HasSubstr("The validation loss was lowest at step"));
  EXPECT_THAT(text(bench.diagnosed("steps = 2000\nmodel = { toy = \"gaussian\" }\npart.all = { step = 2.001, scheme = "
                                   "\"S\", start = 1.0 }\n",
                                   "train")),
              HasSubstr("The loss rises"));
}

TEST(Diagnose, ADamagedRecordIsNamed) {
  const Bench bench;
  bench.diagnosed("steps = 500\nevery = 5\nmodel = { toy = \"gaussian\" }\npart.all = { temperature = 1 }\n");
  RunRecord record = read_record(bench.path("run"));
  record.part.clear();
  write_record(bench.path("run"), record);
  const Outcome got = bench.kelvin("diagnose run");
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.error, HasSubstr("run.json\" is damaged: it does not tell of part \"all\""));
}

// A residual is an array that some constraint may store; made up here.
TEST(Diagnose, ResidualsAndNumbersThatAreNoneAreFaults) {
  const Bench bench;
  bench.diagnosed("steps = 500\nevery = 5\nmodel = { toy = \"gaussian\" }\npart.all = { temperature = 1 }\n");
  Evidence e = evidence_of(open_samples(bench.path("run")));
  const auto judge = [&](std::string_view name) {
    for (const Check& check : diagnose_checks())
      if (check.name == name) return check.judge(e);
    return std::vector<Judgement>();
  };
  EXPECT_TRUE(judge("constraints").empty());
  e.residuals = {{"constraint_residual of all", {{1e-15, -2e-14}}}};
  EXPECT_EQ(judge("constraints")[0].verdict, Verdict::fine);
  e.residuals[0].chains[0][1] = -1e-3;
  EXPECT_EQ(judge("constraints")[0].verdict, Verdict::fault);
  EXPECT_THAT(judge("constraints")[0].sentence, HasSubstr("reaches 0.001"));
  EXPECT_EQ(judge("finite")[0].verdict, Verdict::fine);
  e.potential[0][17] = NAN;
  EXPECT_THAT(judge("finite")[0].sentence, HasSubstr("not finite in 1 draws, first in draw 17"));
}

}  // namespace
}  // namespace kelvin
