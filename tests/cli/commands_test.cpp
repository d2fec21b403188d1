// SPDX-License-Identifier: Apache-2.0
// The commands, from the command line.
#include <cmath>

#include "kelvin/trajectory/samples.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string source = KELVIN_SOURCE_DIR;

Json row_of(const Json& table, const std::string& quantity) {
  for (const Json& row : table)
    if (row.at("quantity") == quantity) return row;
  ADD_FAILURE() << "no row " << quantity;
  return {};
}

struct Case {
  const char *scheme, *step;
  double square;
};
// U = q^2 at temperature 1, friction 10; the exact values of the schemes' stationary laws.
const Case cases[] = {{"BAOAB", "0.5", 0.5},
                      {"BABO", "0.5", 0.571429},
                      {"BAO", "0.5", 0.334832},
                      {"BAO", "0.1", 0.344488},
                      {"S", "0.1", 0.555556}};

TEST(Commands, SampledMomentsAreThoseOfTheScheme) {
  const Desk desk;
  for (const auto& [scheme, step, square] : cases) {
    const auto ran =
        desk.kelvin("sample " + source +
                    "/examples/oscillator.toml -q --force -o run --set steps=500000 --set every=5 --set walkers=2" +
                    " --set part.all.scheme=" + scheme + " --set part.all.step=" + step);
    ASSERT_EQ(ran.code, 0) << ran.error;
    const Json table = Json::parse(desk.kelvin("summary run --json").out);
    const Json q = row_of(table, "q[0]");
    const double error = q.at("its_error");
    EXPECT_LT(std::abs(q.at("mean_square").as<double>() - square), 4 * error) << scheme << " " << step;
    EXPECT_LT(error, 0.003) << "too short a run to tell the steps of BAO from each other";
    if (std::string(scheme) == "BAOAB") {
      const Json on_step = row_of(table, "kinetic_energy of all"),
                 half_step = row_of(table, "kinetic_temperature of all");
      EXPECT_LT(std::abs(on_step.at("mean").as<double>() - 0.4375), 4 * on_step.at("error").as<double>());
      EXPECT_LT(std::abs(half_step.at("mean").as<double>() / 2 - 0.5), 4 * half_step.at("error").as<double>() / 2);
      EXPECT_GT(std::abs(on_step.at("mean").as<double>() - 0.5), 20 * on_step.at("error").as<double>())
          << "negative control";
    }
  }
}

// All draws of a block, walker after walker.
std::vector<double> draws(const Desk& desk, const std::string& run, const std::string& block) {
  const Samples samples = open_samples(desk.path(run));
  std::vector<double> all;
  for (std::size_t w = 0; w < samples.walkers; ++w)
    for (const double x : samples.block(block, w)) all.push_back(x);
  return all;
}

TEST(Commands, OneSeedGivesTheSameBytesOnOneAndTwoThreads) {
  const Desk desk;
  const std::string run =
      "sample " + source + "/examples/spiral.toml -q --set steps=300 --set warmup=100 --set walkers=3 ";
  ASSERT_EQ(desk.kelvin(run + "--threads 1 -o one").code, 0);
  ASSERT_EQ(desk.kelvin(run + "--threads 2 -o two").code, 0);
  ASSERT_EQ(desk.kelvin(run + "--threads 2 -o other --seed 2").code, 0);
  const auto one = draws(desk, "one", "layer1.weight");
  EXPECT_EQ(one.size(), 3u * 300 * 100);
  EXPECT_TRUE(one == draws(desk, "two", "layer1.weight"));
  EXPECT_FALSE(one == draws(desk, "other", "layer1.weight"));
}

TEST(Commands, TrainingIsSamplingAtTemperatureZero) {
  const Desk desk;
  const std::string file =
      source + "/examples/spiral.toml --set steps=200 --set warmup=0 --set walkers=1 --set every=200 -q ";
  ASSERT_EQ(desk.kelvin("train " + file + "-o trained").code, 0);
  ASSERT_EQ(desk.kelvin("sample " + file + "-o sampled --set part.all.temperature=0").code, 0);
  EXPECT_TRUE(draws(desk, "trained", "layer1.weight") == draws(desk, "sampled", "layer1.weight"));
}

TEST(Commands, ARunRecordsWhatItWas) {
  const Desk desk;
  ASSERT_EQ(
      desk.kelvin("sample " + source + "/examples/spiral.toml -q -o run --set steps=100 --set warmup=0 --seed 5").code,
      0);
  const Json record = Json::parse(desk.read("run/run.json"));
  EXPECT_EQ(record.at("settings").at("seed"), 5);
  EXPECT_EQ(record.at("settings").at("part").at("all").at("temperature"), "posterior");
  EXPECT_NEAR(record.at("part").at("all").at("temperature").as<double>(), 1.0 / 500, 1e-15);
  EXPECT_NEAR(record.at("part").at("all").at("posterior_temperature").as<double>(), 1, 1e-12);
  std::stringstream log(desk.read("run/log.jsonl"));
  int lines = 0;
  for (std::string line; std::getline(log, line); ++lines) EXPECT_NO_THROW(Json::parse(line).at("train").at("loss"));
  EXPECT_EQ(lines, 20);
  EXPECT_EQ(desk.read("run/run.toml"), [] {
    std::stringstream text;
    text << std::ifstream(source + "/examples/spiral.toml").rdbuf();
    return text.str();
  }());
}

TEST(Commands, EvaluateAgreesWithItsOwnFiniteDifferences) {
  const Desk desk;
  desk.write(
      "toy.toml",
      "steps = 10\nevery = 10\nmodel = { toy = \"double_well\" }\npart.all = { temperature = 0.5, step = 0.1 }\n");
  ASSERT_EQ(desk.kelvin("sample toy.toml -q -o run").code, 0);
  const Json at = Json::parse(desk.kelvin("evaluate toy.toml --at run --gradient --hessian --json").out);
  const double x = draws(desk, "run", "q").at(0);
  const double U = 3 * std::pow(x * x - 1, 2) + x / 4, slope = 12 * x * (x * x - 1) + 0.25, bend = 36 * x * x - 12;
  EXPECT_NEAR(at.at("potential").as<double>(), U, 1e-12);
  EXPECT_NEAR(at.at("gradient").at("q").at(0).as<double>(), slope, 1e-12);
  EXPECT_NEAR(at.at("gradient_norm").as<double>(), std::abs(slope), 1e-12);
  EXPECT_NEAR(at.at("virial").as<double>(), x * slope / 2, 1e-12);
  EXPECT_NEAR(at.at("hessian_eigenvalues").at(0).as<double>(), bend, 1e-5 * std::abs(bend));
}

TEST(Commands, EvaluateScoresAnySplit) {
  const Desk desk;
  ASSERT_EQ(desk.kelvin("train " + source + "/examples/spiral.toml -q -o run --set steps=3000 --set walkers=1").code,
            0);
  const Json record = Json::parse(desk.read("run/run.json"));
  for (const std::string split : {"train", "test"}) {
    const auto got = desk.kelvin("evaluate " + source + "/examples/spiral.toml --at run --json --split " + split);
    ASSERT_EQ(got.code, 0) << got.error;
    EXPECT_NEAR(Json::parse(got.out).at("loss").as<double>(), record.at("final").at(split).at("loss").as<double>(),
                1e-6);
    EXPECT_EQ(Json::parse(got.out).at("accuracy"), record.at("final").at(split).at("accuracy"));
  }
}

TEST(Commands, ARunStartsFromAnother) {
  const Desk desk;
  const std::string file = source + "/examples/spiral.toml -q --set walkers=1 --set warmup=0 ";
  ASSERT_EQ(desk.kelvin("train " + file + "--set steps=50 -o first").code, 0);
  ASSERT_EQ(desk.kelvin("train " + file +
                        "--set steps=1 --set part.all.step=1e-30 -o second --set 'part.all.start={ name = \"file\", "
                        "path = \"first\" }'")
                .code,
            0);
  EXPECT_TRUE(draws(desk, "first", "layer2.weight") == draws(desk, "second", "layer2.weight"));
}

TEST(Commands, EveryWalkerStartsFromItsOwnDraw) {
  const Desk desk;
  const std::string file = source + "/examples/spiral.toml -q --set warmup=0 --set part.all.temperature=0 ";
  ASSERT_EQ(desk.kelvin("sample " + file + "--set walkers=2 --set steps=30 --set every=10 -o first").code, 0);
  const auto start = [&](const std::string& from, const std::string& walkers) {
    const Outcome ran = desk.kelvin("sample " + file + "--force -o second --set steps=1 --set part.all.step=1e-30 " +
                                    "--from " + from + " --set walkers=" + walkers);
    EXPECT_EQ(ran.code, 0) << ran.error;
    return draws(desk, "second", "layer1.bias");
  };
  const auto all = draws(desk, "first", "layer1.bias");  // [walker][draw][50]
  const auto slice = [&](std::size_t walker, std::size_t draw) {
    const auto at = all.begin() + long((walker * 3 + draw) * 50);
    return std::vector<double>(at, at + 50);
  };
  const auto joined = [](std::vector<double> a, const std::vector<double>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  EXPECT_EQ(start("first", "2"), joined(slice(0, 2), slice(1, 2)));
  EXPECT_EQ(start("first:1", "2"), joined(slice(0, 1), slice(1, 1)));
  EXPECT_EQ(start("first:1:1", "2"), joined(slice(1, 1), slice(1, 1)));
  EXPECT_EQ(start("first", "1"), slice(0, 2));
  EXPECT_EQ(desk.kelvin("sample " + file + "-o third --from first:3").code, 1);
  EXPECT_THAT(desk.read(".err"), HasSubstr("3 draws of 2 walkers, counted from 0"));
  EXPECT_FALSE(std::filesystem::exists(desk.path("third")));
}

TEST(Commands, WatchEndsWithTheRunAndTellsItsState) {
  const Desk desk;
  ASSERT_EQ(desk.kelvin("sample " + source + "/examples/spiral.toml -q -o run --set steps=100 --set warmup=0").code, 0);
  const Outcome watched = desk.kelvin("watch run");
  EXPECT_EQ(watched.code, 0) << watched.error;
  EXPECT_THAT(watched.out, HasSubstr("run: finished, 100 draws of 4 walkers"));
  EXPECT_THAT(watched.out, HasSubstr("step 100 of 100"));
  EXPECT_THAT(watched.out, HasSubstr("kinetic_temperature"));
  const Json state = Json::parse(desk.kelvin("watch run --json").out);
  EXPECT_EQ(state.at("log").at("train"), Json::parse(desk.read("run/run.json")).at("final").at("train"));
  EXPECT_GT(state.at("log").at("rate"), 0);
  EXPECT_EQ(desk.kelvin("watch nowhere").code, 1);
}

// A run is gone on with from anywhere, though the names of its files are relative.
TEST(Commands, ResumeAddsStepsFromAnyDirectory) {
  const Desk desk;
  desk.write("data.csv", "a,b\n1,2\n2,3\n3,5\n4,4\n");
  desk.write("run.toml",
             "steps = 60\nevery = 2\ndata = \"data.csv\"\nmodel = { layers = [1, 2, 1], prior = 1.0 }\n"
             "part.all.step = 0.01\n");
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o whole").code, 0);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o run --set steps=20").code, 0);
  ASSERT_EQ(desk.kelvin("resume run -q --steps 20").code, 0);
  std::filesystem::create_directory(desk.path("elsewhere"));
  ASSERT_EQ(desk.shell("cd elsewhere && ", "resume ../run -q --until 60").code, 0) << desk.read("elsewhere/.err");
  EXPECT_TRUE(draws(desk, "run", "layer1.weight") == draws(desk, "whole", "layer1.weight"));
  EXPECT_EQ(draws(desk, "run", "layer1.weight").size(), 30u * 2);
}

TEST(Commands, CheckTellsARightSchemeFromAWrongOne) {
  const Desk desk;
  EXPECT_THAT(desk.kelvin("check --scheme BAOAB --step 0.5 --steps 50000").out,
              HasSubstr("exactly the right position variances"));
  EXPECT_THAT(desk.kelvin("check --scheme OBABO --step 0.5 --steps 50000").out, HasSubstr("% too large"));
  const Json directions =
      Json::parse(desk.kelvin("check --scheme OBABO --step 0.5 --steps 50000 --json").out).at("all").at("directions");
  ASSERT_EQ(directions.size(), 5u);
  for (const Json& d : directions)  // OBABO on a stiffness k has the variance of the law times 1/(1 - h^2 k/4)
    EXPECT_NEAR(d.at("scheme / exact").as<double>(), 1 / (1 - 0.25 * d.at("curvature").as<double>() / 4), 1e-9);
  EXPECT_THAT(desk.kelvin("check --scheme BAOAB --step 0.5 --batch 5% --steps 50000").out,
              HasSubstr("noise of the minibatches"));
  EXPECT_THAT(desk.kelvin("check --scheme hmc --step 2 --steps 20000").out,
              HasSubstr("agrees with the exact posterior"));
}

TEST(Commands, EveryListAndEveryHelpIsThere) {
  const Desk desk;
  for (const char* what : {"letters", "schemes", "losses", "activations", "priors", "generators", "schedules", "toys",
                           "initialisers", "orders"}) {
    EXPECT_GT(Json::parse(desk.kelvin(std::string("list ") + what + " --json").out).size(), 2u) << what;
    EXPECT_EQ(desk.kelvin(std::string("list ") + what).code, 0);
  }
  for (const char* command : {"train", "sample", "resume", "watch", "evaluate", "summary", "diagnose", "export", "list",
                              "check", "new", "page", "data"}) {
    const Outcome help = desk.kelvin(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Example:  kelvin " + std::string(command)));
  }
}

TEST(Commands, EveryExampleRuns) {
  const Desk desk;
  int examples = 0;
  for (const auto& file : std::filesystem::directory_iterator(source + "/examples")) {
    if (file.path().extension() != ".toml") continue;
    const Outcome ran = desk.kelvin("sample " + file.path().string() +
                                    " -q --set steps=20 --set warmup=100 --set every=10 --set log_every=120 "
                                    "--set exchange.adapt=false");
    EXPECT_EQ(ran.code, 0) << file.path() << ": " << ran.error;
    ++examples;
  }
  EXPECT_GE(examples, 4);
}

TEST(Commands, NewRunFilesRun) {
  const Desk desk;
  desk.write("houses.csv", [] {
    std::string text = "size,age,price\n";
    for (int i = 0; i < 60; ++i)
      text += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," +
              std::to_string(0.3 * (i % 7) - 0.1 * (i % 5)) + "\n";
    return text;
  }());
  desk.write("labels.csv",
             "a,b,kind\n1,2,cat\n2,1,dog\n3,4,cat\n5,6,cow\n1,1,dog\n2,2,cow\n0,1,cat\n3,3,dog\n4,4,cow\n6,5,cat\n");
  ASSERT_EQ(desk.kelvin("new spiral -o spiral.toml").code, 0);
  ASSERT_EQ(desk.kelvin("new csv houses.csv -o houses.toml").code, 0);
  ASSERT_EQ(desk.kelvin("new csv labels.csv -o labels.toml").code, 0);
  EXPECT_THAT(desk.read("labels.toml"), HasSubstr("softmax_cross_entropy"));
  EXPECT_THAT(desk.read("houses.toml"), HasSubstr("\"gaussian\""));
  for (const std::string name : {"spiral", "houses", "labels"}) {
    const Outcome ran = desk.kelvin("sample " + name + ".toml -q --set steps=20 --set warmup=0");
    EXPECT_EQ(ran.code, 0) << ran.error;
  }
}

// Whole numbers that do not count from 0 or 1 are marks, with an order; either way the run file says so, and what it
// says can be followed.
TEST(Commands, NewRunFilesSayHowWholeNumbersWereTaken) {
  const Desk desk;
  const auto table = [&](const std::string& name, int first) {
    std::string text = "a,quality\n";
    for (int i = 0; i < 60; ++i) text += fmt::format("{},{}\n", 0.1 * i, first + i % 6);
    desk.write(name + ".csv", text);
    const Outcome made = desk.kelvin("new csv " + name + ".csv -o " + name + ".toml");
    EXPECT_EQ(made.code, 0) << made.error;
    return made.error;
  };
  EXPECT_THAT(table("marks", 3), HasSubstr("has 6 different whole numbers, 3 to 8: taken for numbers"));
  EXPECT_THAT(desk.read("marks.toml"), HasSubstr("loss = \"gaussian\"\n# \"quality\" has 6 different whole numbers"));
  EXPECT_THAT(desk.read("marks.toml"), HasSubstr("layers = [1, 50, 6]"));
  EXPECT_THAT(table("kinds", 0), HasSubstr("0 to 5: taken for classes"));
  EXPECT_THAT(desk.read("kinds.toml"), HasSubstr("layers = [1, 50, 1], and standardise = \"both\""));
  const std::string briefly = " -q --set steps=20 --set warmup=0";
  for (const std::string name : {"marks", "kinds"})
    EXPECT_EQ(desk.kelvin("sample " + name + ".toml" + briefly + " -o " + name).code, 0) << name;
  EXPECT_EQ(desk.kelvin("sample marks.toml -o as_classes --set 'model.layers=[1, 50, 6]' --set "
                        "model.loss=softmax_cross_entropy --set data.standardise=inputs" +
                        briefly)
                .code,
            0);
  EXPECT_EQ(desk.kelvin("sample kinds.toml -o as_numbers --set 'model.layers=[1, 50, 1]' --set model.loss=gaussian "
                        "--set data.standardise=both" +
                        briefly)
                .code,
            0);
}

TEST(Commands, DataAreShownInTheUnitsTheyCameIn) {
  const Desk desk;
  desk.write("data.csv", "x,y\n1,10\n2,30\n3,20\n");
  desk.write("run.toml", "data = { file = \"data.csv\", standardise = \"both\" }\nmodel = { layers = [1, 1] }\n");
  EXPECT_EQ(desk.kelvin("data run.toml --rows train").out, "x,y\n1,10\n2,30\n3,20\n");
  EXPECT_EQ(Json::parse(desk.kelvin("data run.toml --json").out).at(1).at("mean"), 20);
}

TEST(Commands, EveryExperimentCanBeRead) {
  const Desk desk;
  const auto list = desk.kelvin("experiment --list --json --folder " + source + "/experiments");
  ASSERT_EQ(list.code, 0) << list.error;
  EXPECT_GE(Json::parse(list.out).size(), 17u);
}

TEST(Commands, AnExperimentIsRunGoesOnAndIsShown) {
  const Desk desk;
  std::filesystem::create_directories(desk.path("mine/tiny"));
  desk.write("mine/tiny/experiment.toml", R"(
title = "Verlet is stable below h = 2"
measures = ["growth"]
seeds = 1
run = { steps = 1, model = { toy = "gaussian" } }
[arm.verlet]
label = "Verlet"
run = { part = { all = { scheme = "BAB" } } }
grid = { "part.all.step" = { from = 0.1, to = 2.1, count = 21 } }
[claim.stable]
says = "stable at 1.9"
measure = "growth"
more = "1.000001"
than = "verlet part.all.step=1.9"
)");
  const auto first = desk.kelvin("experiment tiny --folder mine --store --json -q");
  ASSERT_EQ(first.code, 0) << first.error;
  const auto finding = Json::parse(first.out).at(0).at("finding");
  EXPECT_EQ(finding.at("words").at(0), "Of 1 claims: 1 reproduced.");
  const auto again = desk.kelvin("experiment tiny --folder mine --json -q");
  EXPECT_EQ(Json::parse(again.out).at(0).at("finding").at("tables"), finding.at("tables"));
  EXPECT_TRUE(Json::parse(again.out).at(0).at("seconds").null()) << "nothing was left to run";
  EXPECT_TRUE(Json::parse(desk.read("mine/tiny/result.json")).at("finding").at("figures").empty());
  const auto report = desk.kelvin("report runs/experiments/tiny --json -q");
  ASSERT_EQ(report.code, 0) << report.error;
  EXPECT_EQ(Json::parse(report.out).at("figures"), (Value::List{"tiny-tiny-growth_over_step"}));
  EXPECT_THAT(desk.kelvin("experiment tiney --folder mine").error, HasSubstr("did you mean \"tiny\"?"));
}

TEST(Commands, PagesOfTheDocumentationAreUpToDate) {
  const Desk desk;
  std::filesystem::create_symlink(source + "/experiments", desk.path("experiments"));
  for (const std::string page : {"letters", "settings", "compatible", "experiments"}) {
    std::stringstream stored;
    stored << std::ifstream(source + "/docs/" + page + ".md").rdbuf();
    EXPECT_EQ(stored.str(), desk.kelvin("page " + page).out) << "run ./run docs";
  }
}

TEST(Commands, NumbersAreShownInTheUnitsTheyCameIn) {
  const Desk desk;
  std::string text = "x,y\n";
  for (int i = 0; i < 50; ++i)
    text += std::to_string(i) + "," + std::to_string(1000 + 20 * i + (i % 2 ? 3 : -3)) + "\n";
  desk.write("line.csv", text);
  desk.write("run.toml",
             "steps = 3000\ndata = { file = \"line.csv\", standardise = \"both\" }\nmodel = { layers = [1, 1], loss = "
             "\"mean_squared\" }\n"
             "part.all = { scheme = \"S\", step = 0.1 }\n");
  ASSERT_EQ(desk.kelvin("train run.toml -q -o run").code, 0);
  const Json end = Json::parse(desk.read("run/run.json")).at("final").at("train");
  // least squares leaves the +-3, less the little that a slope can follow
  EXPECT_NEAR(end.at("rmse").as<double>(), 3, 0.01);
  EXPECT_NEAR(end.at("loss").as<double>(), 9, 0.06);
}

}  // namespace
}  // namespace kelvin
