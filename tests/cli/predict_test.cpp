// SPDX-License-Identifier: Apache-2.0
// `kelvin predict` as a user would call it.
#include <cmath>

#include "kelvin/io/npy.h"
#include "tests/json.h"
#include "tests/layer_runs.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string classes = R"(steps = 200
every = 10
walkers = 2
data = { generator = { name = "clusters", rows = 40, test = 30 } }
model = { layers = [2, 5, 1], loss = "binary_cross_entropy", prior = 1.0 }
part.all = { step = 0.1 }
)";
const std::string numbers = R"(steps = 200
every = 10
data = { file = "data.csv", standardise = "both" }
model = { layers = [1, 5, 1], loss = "mean_squared", prior = 1.0 }
part.all = { step = 0.1 }
)";

struct Predicting : testing::Test {
  Desk desk;
  void sample(const std::string& text) {
    desk.write("data.csv", "x,y\n0,1\n1,2\n2,2.5\n3,4\n4,4.5\n");
    desk.write("run.toml", text);
    ASSERT_EQ(desk.kelvin("sample run.toml -q -o run").code, 0);
  }
  Json predicted(const std::string& arguments) {
    const Outcome got = desk.kelvin("predict run --json " + arguments);
    EXPECT_EQ(got.code, 0) << got.error;
    EXPECT_EQ(got.error, "");
    return Json::parse(got.out);
  }
};

std::vector<std::string> figures(const Json& finding) {
  std::vector<std::string> names;
  for (const Json& f : finding["figures"]) names.push_back(f["name"]);
  return names;
}

TEST_F(Predicting, ClassesAreScoredOnTheTestRowsAndTheFindingIsKept) {
  sample(classes);
  const Json got = predicted("-o rows.csv");
  EXPECT_THAT(got["words"][0].as<std::string>(), HasSubstr("accuracy"));
  EXPECT_THAT(got["words"][1].as<std::string>(), HasSubstr("30 test rows, averaged over 40 draws"));
  EXPECT_EQ(got["tables"][0]["rows"].size(), 5u);
  EXPECT_EQ(figures(got), (std::vector<std::string>{"reliability", "uncertainty1", "uncertainty2"}));
  Value::Group kept = Json::parse(desk.read("run/analysis/predict.json")).value().entries();
  EXPECT_EQ(kept.erase("checksum"), 1u);
  EXPECT_EQ(Json(Value(kept)), got);
  const std::string rows = desk.read("rows.csv");
  EXPECT_TRUE(rows.starts_with("row,class,predicted,probability_0,probability_1,total,aleatoric,epistemic\n0,"));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 31);
  EXPECT_THAT(predicted("--split train")["words"][1].as<std::string>(), HasSubstr("40 training rows"));
}

TEST_F(Predicting, RowsWithoutTargetsAndOthersOutOfDistribution) {
  sample(classes);
  desk.write("new.csv", "x1,x2\n2,2\n-2,-2\n2.1,1.9\n");
  desk.write("far.csv", "x1,x2\n0,0\n0.1,-0.1\n");
  desk.write("far_labels.csv", "0\n1\n");
  const Json got = predicted("--data new.csv --ood far.csv -o rows.npz");
  EXPECT_THAT(got["words"][0].as<std::string>(), HasSubstr("3 rows of new.csv without targets"));
  const Json& outside = got["tables"].back()["rows"];
  EXPECT_EQ(outside[0]["auroc"], 1) << "between the clusters every draw is unsure";
  const auto arrays = read_npz(desk.path("rows.npz"));
  EXPECT_EQ(arrays.at("predicted").values.size(), 3u);
  EXPECT_NEAR(arrays.at("probability_0").values[1] + arrays.at("probability_1").values[1], 1, 1e-6);
  EXPECT_FALSE(arrays.contains("class"));
  const Json scored = predicted("--ood far.csv --ood-labels far_labels.csv");
  EXPECT_TRUE(scored["tables"][0]["rows"][0].contains("outside"));
}

TEST_F(Predicting, NumbersComeInTheirOwnUnitsWithBandAndCoverage) {
  sample(numbers);
  const Json got = predicted("-o rows.csv --quantiles 0.1,0.5,0.9");
  EXPECT_THAT(got["words"][0].as<std::string>(), HasSubstr("intervals for 90 % hold"));
  EXPECT_THAT(got["words"][1].as<std::string>(), HasSubstr("5 training rows"));
  EXPECT_THAT(got["words"][3].as<std::string>(), HasSubstr("loss mean_squared at posterior temperature 1"));
  EXPECT_EQ(figures(got), (std::vector<std::string>{"coverage", "band_y", "uncertainty1", "uncertainty2"}));
  const Json& band = got["figures"][1]["curves"][0];
  EXPECT_EQ(band["x"].front(), -1) << "the inputs run from 0 to 4, the grid a quarter further";
  EXPECT_EQ(band["x"].back(), 5);
  EXPECT_EQ(got["figures"][1]["curves"][2]["y"][4], 4.5) << "the training rows, in their own units";
  const std::string rows = desk.read("rows.csv");
  EXPECT_TRUE(rows.starts_with("row,y,y_mean,y_sd,y_aleatoric,y_epistemic,y_q10,y_q50,y_q90\n0,1,")) << rows;
}

TEST_F(Predicting, ATrainedNetworkPredictsWithoutNoise) {
  desk.write("data.csv", "x,y\n0,1\n1,2\n2,2.5\n3,4\n4,4.5\n");
  desk.write("run.toml", numbers);
  ASSERT_EQ(desk.kelvin("train run.toml -q -o run").code, 0);
  const Json got = predicted("");
  EXPECT_THAT(got["words"][3].as<std::string>(), HasSubstr("mean_squared at temperature 0 stands for no law"));
  EXPECT_EQ(got["tables"][0]["rows"].size(), 2u) << "rmse and crps";
}

TEST_F(Predicting, MistakesGetOneSentenceAndLeaveNothingBehind) {
  sample(classes);
  desk.write("short.csv", "x1\n1\n");
  desk.write("nan.csv", "x1,x2\n1,nan\n");
  desk.write("toy.toml", "steps = 10\nmodel = { toy = \"gaussian\" }\npart.all = { temperature = 1.0 }\n");
  ASSERT_EQ(desk.kelvin("sample toy.toml -q -o toy").code, 0);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o bare --set store.weights=none").code, 0);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o few --set steps=5").code, 0);
  struct Mistake {
    std::string arguments, sentence;
  };
  const Mistake mistakes[] = {
      {"predict nowhere", "\"nowhere\" is not a run"},
      {"predict toy", "a toy predicts nothing"},
      {"predict bare", "store.weights = \"none\""},
      {"predict few", "\"few\" has no draws"},
      {"predict run --data lost.csv", "lost.csv"},
      {"predict run --data short.csv", "the run's inputs are x1, x2"},
      {"predict run --data nan.csv -o out.csv", "must be finite"},
      {"predict run --ood short.csv -o out.csv", "the run's inputs are x1, x2"},
      {"predict run --labels short.csv", "--labels is given without --data"},
      {"predict run --ood-labels short.csv", "--ood-labels is given without --ood"},
      {"predict run --data short.csv --split test", "exclude each other"},
      {"predict run --split tset", "--split must be train, validation or test, not \"tset\""},
      {"predict run --split validation", "the run has no validation rows"},
      {"predict run --quantiles 0.5,1.5", "--quantiles must lie between 0 and 1, not 1.5"},
      {"predict run -o out.txt", "no format of predictions \".txt\"; known: .csv, .npz"},
      {"predict run -o short.csv", "exists already"},
      {"predict run -o nowhere/out.csv", "cannot write"},
  };
  for (const Mistake& m : mistakes) {
    const Outcome got = desk.kelvin(m.arguments);
    EXPECT_EQ(got.code, 1) << m.arguments;
    EXPECT_THAT(got.error, HasSubstr(m.sentence)) << m.arguments;
    EXPECT_EQ(std::count(got.error.begin(), got.error.end(), '\n'), 1) << got.error;
    EXPECT_EQ(got.out, "") << m.arguments;
    EXPECT_FALSE(std::filesystem::exists(desk.path("out.csv"))) << m.arguments;
    EXPECT_FALSE(std::filesystem::exists(desk.path("run/analysis"))) << m.arguments;
  }
  EXPECT_EQ(desk.kelvin("predict run --every 0").code, 2);
  EXPECT_EQ(desk.kelvin("predict").code, 2);
  EXPECT_EQ(desk.kelvin("predict run -o short.csv --force").code, 0);
}

// Where each step has a target, steps are what is predicted: of one draw, with the loss that its run has logged.
TEST(PredictingSteps, EachStepOfASequenceIsPredicted) {
  const Desk desk;
  write_layer_data(desk);
  const std::string letters = desk.read("letters.txt");
  desk.write("letters.txt", letters + letters);
  desk.write("run.toml", "steps = 30\npart.all.step = 0.1\n" + layer_runs[1].settings);
  ASSERT_EQ(desk.kelvin("train run.toml -q -o run --set data.test=0.1 --set data.text.stride=1").code, 0)
      << desk.read(".err");
  const auto predicted = [&](const std::string& options) {
    const Outcome got = desk.kelvin("predict run --json " + options);
    EXPECT_EQ(got.code, 0) << got.error;
    return Json::parse(got.out);
  };
  for (const auto& [split, words] : {std::pair{"test", "96 steps of 12 test rows, averaged over 1 draws"},
                                     {"train", "7136 steps of 892 training rows, averaged over 1 draws"}}) {
    const Json got = predicted(fmt::format("-o {0}.csv --split {0}", split));
    const Json score = Json::parse(desk.read("run/run.json"))["final"][split];
    EXPECT_THAT(got["words"][1].as<std::string>(), HasSubstr(words));
    for (const auto& [metric, logged] : {std::pair{"nll", "loss"}, {"accuracy", "accuracy"}})
      for (const Json& row : got["tables"][0]["rows"])
        if (row["metric"] == metric) {
          EXPECT_NEAR(row["average"].as<double>(), score[logged].as<double>(), 1e-5)
              << metric << ", in single precision";
        }
  }
  const std::string rows = desk.read("test.csv");
  EXPECT_TRUE(rows.starts_with("row,class,predicted,probability_a,probability_b,probability_c,probability_d,")) << rows;
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 97);
  EXPECT_THAT(desk.kelvin("analyse leave_one_out run").error, HasSubstr("a target for each of 8 steps"));
}

// Running statistics lag behind the weights where steps are large; networks that keep none predict the same.
TEST(PredictingAnew, ChangesPredictionsOfNetworksWithBatchNormOnly) {
  for (const LayerRun& network : layer_runs) {
    const Desk desk;
    write_layer_data(desk);
    desk.write("run.toml", "steps = 20\npart.all.step = 0.2\n" + network.settings);
    ASSERT_EQ(desk.kelvin("train run.toml -q -o run").code, 0) << desk.read(".err");
    const auto scores = [&](const std::string& options) {
      const Outcome got = desk.kelvin("predict run --json " + options);
      EXPECT_EQ(got.code, 0) << got.error;
      return Json::parse(got.out)["tables"].dump();
    };
    EXPECT_EQ(scores("") == scores("--recompute-statistics"), &network != &layer_runs[0]) << network.name;
  }
}

}  // namespace
}  // namespace kelvin
