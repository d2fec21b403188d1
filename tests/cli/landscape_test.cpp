// SPDX-License-Identifier: Apache-2.0
// `kelvin landscape`, on toys whose answers are known and on a small network against `kelvin evaluate`.
#include "kelvin/analysis/landscape/landscape.h"

#include "kelvin/energy/likelihood.h"
#include "tests/finite_difference.h"
#include "tests/landscape.h"
#include "tests/layer_runs.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

// ---- lines

TEST(Shape, IsToldFromTheValuesAlone) {
  std::vector<double> decay, bump, late, noisy;
  for (int k = 0; k <= 50; ++k) {
    const double a = k / 50.0;
    decay.push_back(0.7 * (1 - a) + 0.1);
    bump.push_back(0.5 + std::sin(M_PI * a) - 0.4 * a);
    late.push_back(0.7 * (1 - std::pow(a, 10)));
    noisy.push_back(decay.back() + (k % 2 ? 0.0 : 0.017));  // rises by 0.003 of a range of 0.717
  }
  const CurveShape falling = shape_of(decay, 0.01, 0.8);
  EXPECT_EQ(falling.kind, monotone_kind);
  EXPECT_EQ(falling.barrier, 0);
  EXPECT_EQ(falling.increase, 0);
  const CurveShape high = shape_of(bump, 0.01, NAN);
  EXPECT_EQ(high.kind, barrier_kind);
  EXPECT_NEAR(high.barrier, *std::max_element(bump.begin(), bump.end()) - 0.5, 1e-15);
  EXPECT_NEAR(double(high.highest) / 50, std::acos(0.4 / M_PI) / M_PI, 0.01);  // where the slope vanishes
  const CurveShape flat = shape_of(late, 0.01, 0.7);
  EXPECT_EQ(flat.kind, plateau_kind);
  EXPECT_NEAR(flat.plateau, std::pow(0.05, 0.1), 0.02);  // 0.7 a^10 < 0.05 x 0.7
  EXPECT_EQ(shape_of(late, 0.01, 0.9).kind, monotone_kind) << "a plateau elsewhere than at chance";
  EXPECT_EQ(shape_of(noisy, 0.01, NAN).kind, monotone_kind);
  EXPECT_EQ(shape_of(noisy, 0.001, NAN).kind, barrier_kind);
  const std::vector<double> dip = {1, 0.2, 0.9, 0.1};  // never above its start, but it rises
  EXPECT_EQ(shape_of(dip, 0.01, NAN).kind, barrier_kind);
  EXPECT_EQ(shape_of(dip, 0.01, NAN).barrier, 0);
  EXPECT_NEAR(shape_of(dip, 0.01, NAN).increase, 0.7, 1e-15);
}

TEST(Line, BetweenTwoWellsCrossesTheBarrierInTheMiddle) {
  const Desk desk;
  sample_toy(desk, "{ name = \"double_well\", height = 3.0, tilt = 0.0 }");
  save(desk, "left.npz", {{"q", {-1}}});
  save(desk, "right.npz", {{"q", {1}}});
  const Json line = found(desk, "line run --from left.npz --to right.npz");
  const Json shape = row_with(line["tables"][0], "quantity", "potential");
  EXPECT_EQ(shape["shape"], "B");
  EXPECT_NEAR(shape["barrier"].as<double>(), 3, 1e-14);
  EXPECT_NEAR(shape["increase"].as<double>(), 3, 1e-14);
  EXPECT_EQ(shape["highest_at"], 0.5);
  const Json y = line["figures"][0]["curves"][0]["y"];
  ASSERT_EQ(y.size(), 51u);
  for (int k = 0; k <= 50; ++k)
    EXPECT_NEAR(y[std::size_t(k)].as<double>(), 3 * std::pow(std::pow(2 * k / 50.0 - 1, 2) - 1, 2), 1e-14);
  EXPECT_EQ(row_with(line["tables"][1], "block", "q")["relative"], 2.0);
  EXPECT_TRUE(std::filesystem::exists(desk.path("run/analysis/landscape_line.json")));
  // From the top down there is none.
  save(desk, "top.npz", {{"q", {0}}});
  EXPECT_EQ(
      row_with(found(desk, "line run --from top.npz --to right.npz")["tables"][0], "quantity", "potential")["shape"],
      "NB");
}

TEST(Line, EndsWhereEvaluateSaysAndDoesNotDependOnThreads) {
  const Desk desk;
  train_net(desk);
  const Json line = found(desk, "line run --threads 1");
  EXPECT_EQ(line, found(desk, "line run --threads 3"));
  EXPECT_EQ(line["figures"].size(), 2u) << "losses and accuracies";
  for (const std::string split : {"train", "test"}) {
    const Json row = row_with(line["tables"][0], "quantity", split + "_loss");
    EXPECT_NEAR(row["first"].as<double>(), evaluated(desk, "net.toml", "--split " + split), 1e-12);
    EXPECT_NEAR(row["last"].as<double>(), evaluated(desk, "net.toml", "--at run --split " + split), 1e-12);
    EXPECT_NEAR(row["chance"].as<double>(), std::log(2), 1e-6) << "two classes of equal size";
  }
  EXPECT_NEAR(row_with(line["tables"][0], "quantity", "potential")["last"].as<double>(),
              evaluated(desk, "net.toml", "--at run", "potential"), 1e-12);
}

TEST(Line, OfAllBlocksChosenOneByOneIsTheWholeLine) {
  const Desk desk;
  train_net(desk);
  const Json all = found(desk, "line run --of train_loss --from run:0"),
             chosen = found(desk,
                            "line run --of train_loss --from run:0 --blocks 'layer1.*' --blocks '*2.*' --blocks "
                            "layer3.weight --blocks layer3.bias");
  EXPECT_EQ(all["figures"], chosen["figures"]);
  EXPECT_NE(all["figures"], found(desk, "line run --of train_loss --from run:0 --blocks 'layer1.*'")["figures"]);
}

TEST(Line, OfOneBlockLeavesTheOthersAtTheEnd) {
  const Desk desk;
  train_net(desk);
  const Json lines = found(desk, "line run --from run:0 --by block");
  ASSERT_EQ(lines["tables"][0]["rows"].size(), 6u * 3);
  const Samples samples = open_samples(desk.path("run"));
  for (const std::string moving : {"layer1.weight", "layer3.bias"}) {
    std::map<std::string, std::vector<double>> mixed;
    for (const std::string& b : samples.blocks)
      mixed[b] = samples.array("posterior/" + b, 0, b == moving ? 0 : samples.draws - 1, 1);
    save(desk, "mixed.npz", mixed);
    for (const Json& row : lines["tables"][0]["rows"]) {
      if (row["line"] != moving || row["quantity"] != "test_loss") continue;
      EXPECT_NEAR(row["first"].as<double>(), evaluated(desk, "net.toml", "--split test --at mixed.npz"), 1e-12);
    }
  }
  EXPECT_EQ(found(desk, "line run --by layer")["figures"][0]["curves"].size(), 3u);
  EXPECT_EQ(found(desk, "line run --by group")["figures"][0]["curves"][1]["name"], "biases");
}

// Only blocks of a group leave the end: where running statistics alone go back to the start, the loss is that of the
// last weights with them.
TEST(Line, MovesBlocksOfAGroupOnly) {
  const Desk desk;
  write_layer_data(desk);
  desk.write("net.toml", "steps = 20\nprecision = \"double\"\npart.all.step = 0.05\n" + layer_runs[0].settings);
  ASSERT_EQ(desk.kelvin("train net.toml -q -o run").code, 0) << desk.read(".err");
  const Json groups = found(desk, "line run --by group --of train_loss");
  std::vector<std::string> names;
  for (const Json& curve : groups["figures"][0]["curves"]) names.push_back(curve["name"].as<std::string>());
  EXPECT_THAT(names, testing::UnorderedElementsAre("weights", "biases", "gains", "statistics"));

  const Json lines = found(desk, "line run --group statistics --by block --of train_loss");
  ASSERT_EQ(lines["tables"][0]["rows"].size(), 2u);
  const Samples samples = open_samples(desk.path("run"));
  for (const std::string statistic : {"layer2.running_mean", "layer2.running_variance"}) {
    std::map<std::string, std::vector<double>> mixed;
    for (const std::string& b : samples.blocks) mixed[b] = samples.array("posterior/" + b, 0, samples.draws - 1, 1);
    std::ranges::fill(mixed[statistic], statistic.ends_with("variance") ? 1.0 : 0.0);
    save(desk, "mixed.npz", mixed);
    const Json row = row_with(lines["tables"][0], "line", statistic);
    EXPECT_NEAR(row["first"].as<double>(), evaluated(desk, "net.toml", "--at mixed.npz"), 1e-12);
  }
  EXPECT_EQ(found(desk, "line run --blocks @first --by block")["figures"][0]["curves"].size(), 2u);
}

TEST(ChanceLoss, IsTheEntropyOfUnequalClasses) {
  const Desk desk;
  std::string rows = "a,b,label\n";
  for (int k = 0; k < 40; ++k) rows += fmt::format("{},{},{}\n", k % 7, k % 5, k % 4 == 0 ? 1 : 0);
  desk.write("data.csv", rows);
  desk.write("net.toml",
             "steps = 10\ndata = \"data.csv\"\nmodel = { layers = [2, 3, 1], loss = \"binary_cross_entropy\" }\n");
  ASSERT_EQ(desk.kelvin("train net.toml -q -o run").code, 0);
  const Json row = row_with(found(desk, "line run")["tables"][0], "quantity", "train_loss");
  EXPECT_NEAR(row["chance"].as<double>(), -0.25 * std::log(0.25) - 0.75 * std::log(0.75), 1e-6);
}

// ---- surfaces

TEST(FilterNormalisation, GivesEveryRowTheLengthOfTheWeights) {
  ModelSettings s;
  s.layers = {3, 5, 2}, s.loss = "mean_squared";
  const auto blocks = model_blocks(s, {3});
  auto q = some_point(32, 0.7);
  q[0] = q[1] = q[2] = 0;  // a unit without inputs stays so
  const auto d = filter_normalised(blocks, q, 1, 0);
  ASSERT_EQ(d.size(), q.size());
  for (const Block& b : blocks)
    for (std::size_t r = 0; r < b.rows(); ++r) {
      double mine = 0, theirs = 0;
      for (std::size_t k = b.offset + r * b.columns(); k < b.offset + (r + 1) * b.columns(); ++k)
        mine += d[k] * d[k], theirs += q[k] * q[k];
      EXPECT_NEAR(mine, b.is_matrix() ? theirs : 0, 1e-14) << b.name << " row " << r;
    }
  EXPECT_EQ(d, filter_normalised(blocks, q, 1, 0));
  EXPECT_NE(d, filter_normalised(blocks, q, 2, 0));
  EXPECT_NE(d, filter_normalised(blocks, q, 1, 1));
}

// A kernel's rows are its outputs; what does not move has no direction.
TEST(FilterNormalisation, GoesByOutputsOfKernels) {
  ModelSettings s;
  assign(s.layers, Value(std::vector<std::string>{"conv 3 4", "batch_norm", "flatten", "dense 2"}), "model.layers");
  const auto blocks = model_blocks(s, {2, 4, 4});
  const auto q = some_point(parameter_count(blocks), 0.7);
  MovingBlocks moving;
  moving.blocks = {"@first"};
  moving.group = {"weights"};
  std::vector<Block> chosen;
  for (const Block* b : chosen_blocks(blocks, moving)) chosen.push_back(*b);
  ASSERT_EQ(chosen.size(), 1u);
  const auto d = filter_normalised(chosen, q, 1, 0);
  for (std::size_t output = 0; output < 4; ++output) {
    double mine = 0, theirs = 0;
    for (std::size_t k = output * 18; k < (output + 1) * 18; ++k) mine += d[k] * d[k], theirs += q[k] * q[k];
    EXPECT_NEAR(mine, theirs, 1e-14) << output;
  }
  for (std::size_t k = 4 * 18; k < d.size(); ++k) EXPECT_EQ(d[k], 0);
}

TEST(Surface, OfAGaussianIsItsQuadraticForm) {
  const Desk desk;
  sample_toy(desk, "{ name = \"gaussian\", stiffness = [1.0, 4.0, 25.0] }");
  save(desk, "v.npz", {{"v0", {0, 2, 0}}, {"v1", {1, 0, 1}}, {"mean", {0.5, 0, 0}}});
  const Json surface = found(desk,
                             "surface run --spanned-by given --directions v.npz --scale 0.5,2 --reach 1 "
                             "--intervals 4 --threads 2");
  ASSERT_EQ(surface["figures"].size(), 4u);
  for (const std::string name : {"potential_scale_0.5", "potential_scale_2", "potential_scale_2_3d"}) {
    const Json map = figure(surface, name)["map"];
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t i = 0; i < 5; ++i) {
        const double x = map["x"][i], y = map["y"][j];
        const double U = (1 * std::pow(0.5 + y, 2) + 4 * 4 * x * x + 25 * y * y) / 2;
        EXPECT_NEAR(map["z"][j * 5 + i].as<double>(), U, 1e-13) << name;
      }
  }
  EXPECT_EQ(figure(surface, "potential_scale_2")["map"]["x"][0], -2.0);
  EXPECT_EQ(figure(surface, "potential_scale_2")["map"]["style"], "contour");
  EXPECT_EQ(figure(surface, "potential_scale_2_3d")["map"]["style"], "surface");
}

// The first eigenvector of the draws' covariance is the softest direction. Its angle to the truth is about
// sqrt(0.44 / independent draws) < 0.03, which changes the curvatures by 3 x its square and makes a mixed term 3 x it.
TEST(Surface, SpannedByTheCovarianceLiesAlongTheSoftestDirections) {
  const Desk desk;
  sample_toy(desk, "{ name = \"gaussian\", stiffness = [25.0, 1.0, 4.0], mean = [1.0, 2.0, 3.0] }",
             "steps = 40000\nevery = 20\nwarmup = 1000\nwalkers = 2\n");
  const Json surface = found(desk, "surface run --reach 1 --intervals 2");
  const Json map = surface["figures"][0]["map"];
  const auto z = [&](int i, int j) { return map["z"][std::size_t(3 * (j + 1) + i + 1)].as<double>(); };
  EXPECT_NEAR(z(1, 0) + z(-1, 0) - 2 * z(0, 0), 1, 0.02);
  EXPECT_NEAR(z(0, 1) + z(0, -1) - 2 * z(0, 0), 4, 0.02);
  EXPECT_NEAR((z(1, 1) + z(-1, -1) - z(1, -1) - z(-1, 1)) / 4, 0, 0.2);
  EXPECT_LT(z(0, 0), 0.01) << "the centre is the mean of the draws";
  const Json wide = found(desk, "surface run --intervals 2");
  EXPECT_EQ(wide["figures"][0]["curves"].size(), 2u) << "a curve for each walker";
  EXPECT_EQ(wide["figures"][0]["curves"][0]["style"], "line");
  EXPECT_EQ(wide["figures"][0]["curves"][0]["x"].size(), 500u);
  EXPECT_EQ(surface["figures"][0]["curves"][0]["style"], "points") << "some draws lie outside";
  // Variances 1 and 1/4 of 1 + 1/4 + 1/25; 1000 draws shown, so 5 % is plenty.
  const std::string words = wide["words"][0];
  EXPECT_NEAR(std::stod(words.substr(words.find("holds ") + 6)), 100 * 1.25 / 1.29, 1);
  // Directions that were stored are used instead.
  save(desk, "run/analysis/directions.npz", {{"mean", {1, 2, 3}}, {"v0", {1, 0, 0}}, {"v1", {0, 0, 1}}});
  const Json stored = found(desk, "surface run --reach 1 --intervals 2")["figures"][0]["map"]["z"];
  EXPECT_NEAR(stored[5].as<double>(), 12.5, 1e-13);
  EXPECT_NEAR(stored[7].as<double>(), 2, 1e-13);
}

TEST(Surface, ThroughTwoOptimaHasThemAtItsCorners) {
  const Desk desk;
  train_net(desk);
  const Json surface = found(desk,
                             "surface run --spanned-by optima --to run:2:0 --other run:2:1 --of test_loss "
                             "--of train_loss --intervals 4");
  const double start = evaluated(desk, "net.toml", "--split test"),
               first = evaluated(desk, "net.toml", "--split test --at run:2:0"),
               second = evaluated(desk, "net.toml", "--split test --at run:2:1");
  const Json map = figure(surface, "test_loss_scale_1")["map"];  // x: alpha, y: beta
  for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(map["z"][5 * j].as<double>(), start, 1e-12) << "alpha = 0";
  EXPECT_NEAR(map["z"][24].as<double>(), first, 1e-12) << "alpha = 1, beta = 1";
  EXPECT_NEAR(map["z"][4].as<double>(), second, 1e-12) << "alpha = 1, beta = 0";
  EXPECT_GT(std::abs(first - second), 1e-6) << "the optima should differ, or the test sees nothing";
  // On the way to the first optimum, beta = 1, lies the line.
  const Json line = found(desk, "line run --to run:2:0 --of test_loss --intervals 4")["figures"][0]["curves"][0]["y"];
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(map["z"][20 + i].as<double>(), line[i].as<double>(), 1e-12);
  // The last draws are the optima themselves.
  const Json curve = figure(surface, "test_loss_scale_1")["curves"][0];
  EXPECT_NEAR(curve["x"].back().as<double>(), 1, 1e-9);
  EXPECT_NEAR(curve["y"].back().as<double>(), 1, 1e-9);
}

TEST(Surface, AtRandomHasThePointInItsMiddle) {
  const Desk desk;
  train_net(desk);
  const Json plain = found(desk, "surface run --spanned-by random --of train_loss --intervals 2"),
             logarithm = found(desk, "surface run --spanned-by random --of train_loss --intervals 2 --log");
  const double middle = plain["figures"][0]["map"]["z"][4];
  EXPECT_NEAR(middle, evaluated(desk, "net.toml", "--at run"), 1e-12);
  EXPECT_NEAR(logarithm["figures"][0]["map"]["z"][4].as<double>(), std::log10(middle), 1e-12);
}

// ---- grids and trajectories

TEST(Grid, HoldsTheEnergyAtEveryPoint) {
  const Desk desk;
  sample_toy(desk, "{ name = \"gaussian\", stiffness = [1.0, 4.0, 25.0] }");
  save(desk, "at.npz", {{"q", {0.5, -1, 0.2}}});
  ASSERT_EQ(desk.kelvin("landscape grid run --at at.npz --axis 'q[0]=-1:1:3' --axis 'q[2]=0:3:4' --of potential "
                        "--of gradient_norm -o grid.npz")
                .code,
            0);
  const auto arrays = read_npz(desk.path("grid.npz"));
  EXPECT_EQ(arrays.at("q[2]").values, (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(arrays.at("potential").shape, (std::vector<std::size_t>{3, 4}));
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const double x = double(i) - 1, y = double(j);
      EXPECT_NEAR(arrays.at("potential").values[4 * i + j], (x * x + 4 + 25 * y * y) / 2, 1e-13);
      EXPECT_NEAR(arrays.at("gradient_norm").values[4 * i + j], std::sqrt(x * x + 16 + 625 * y * y), 1e-12);
    }
  const Json grid = found(desk, "grid run --at at.npz --axis 'q=-1:1:3' --exclude 'q[1]' --relative -o grid.csv");
  EXPECT_EQ(grid["figures"].size(), 2u);
  const std::string csv = desk.read("grid.csv");
  EXPECT_THAT(csv, HasSubstr("q[0],q[2],potential\n-0.5,-0.8,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 10);
  EXPECT_EQ(desk.kelvin("landscape grid run --axis 'q[0]=0:1:2' -o grid.csv").code, 1) << "an existing file is kept";
  EXPECT_EQ(desk.read("grid.csv"), csv);
  EXPECT_EQ(desk.kelvin("landscape grid run --axis 'q[0]=0:1:2' -o grid.csv --force").code, 0);
}

TEST(Trajectory, SeesWhatTheRunSawAndWhatEvaluateSees) {
  const Desk desk;
  sample_toy(desk, "\"double_well\"", "steps = 50\nevery = 1\nwalkers = 2\n");
  const Json seen = found(desk, "trajectory run --every 7 --threads 2 -o seen.npz");
  const auto columns = read_npz(desk.path("seen.npz"));
  const Samples samples = open_samples(desk.path("run"));
  ASSERT_EQ(columns.at("potential").values.size(), 16u);
  for (std::size_t k = 0; k < 16; ++k) {
    const std::size_t walker = k / 8, draw = 7 * (k % 8);
    EXPECT_EQ(columns.at("walker").values[k], double(walker));
    EXPECT_EQ(columns.at("draw").values[k], double(draw));
    EXPECT_NEAR(columns.at("potential").values[k], samples.statistic("potential", walker)[draw], 1e-13);
    const double x = samples.block("q", walker)[draw];
    EXPECT_NEAR(columns.at("gradient_norm").values[k], std::abs(12 * x * (x * x - 1) + 0.25), 1e-12);
  }
  EXPECT_EQ(seen["figures"][0]["curves"].size(), 2u);

  const Desk other;
  train_net(other);
  const Json again = found(other, "trajectory run --of test_loss --of test_gradient_norm");
  EXPECT_NEAR(again["figures"][0]["curves"][1]["y"][1].as<double>(),
              evaluated(other, "net.toml", "--split test --at run:1:1"), 1e-12);
  EXPECT_NEAR(again["figures"][1]["curves"][1]["y"][1].as<double>(),
              evaluated(other, "net.toml", "--split test --at run:1:1", "gradient_norm"), 1e-12);
}

TEST(Trajectory, LooksAtRowsTheRunNeverSaw) {
  const Desk desk;
  desk.write("data.csv", "a,b,label\n1,2,0\n2,1,1\n0.5,0.1,0\n3,4,1\n");
  desk.write("new.csv", "a,b,label\n1,0,0\n-2,1,1\n0.5,0.7,1\n");
  desk.write("net.toml",
             "steps = 10\nprecision = \"double\"\ndata = { file = \"data.csv\", standardise = \"inputs\" }\n"
             "model = { layers = [2, 3, 1], loss = \"binary_cross_entropy\" }\n");
  ASSERT_EQ(desk.kelvin("train net.toml -q -o run").code, 0);
  EXPECT_EQ(desk.kelvin("landscape trajectory run --of test_loss").code, 1) << "it has no test rows";
  const Json seen = found(desk, "trajectory run --of test_loss --set data.test_file=new.csv");
  EXPECT_NEAR(seen["figures"][0]["curves"][0]["y"][0].as<double>(),
              evaluated(desk, "net.toml --set data.test_file=new.csv", "--split test --at run"), 1e-12);
}

// ---- mistakes

TEST(Landscape, MistakesAreAnsweredInOneSentence) {
  const Desk desk;
  train_net(desk);
  sample_toy(desk, "\"double_well\"");
  ASSERT_EQ(desk.kelvin("sample toy.toml -q -o toy").code, 0);
  ASSERT_EQ(desk.kelvin("train net.toml -q -o net").code, 0);
  ASSERT_EQ(desk.kelvin("sample net.toml -q -o none --set store.weights=none").code, 0);
  save(desk, "nan.npz", {{"q", {NAN}}});
  save(desk, "short.npz", {{"v0", {1}}, {"v1", {2}}});
  save(desk, "parallel.npz", {{"v0", std::vector<double>(65, 1)}, {"v1", std::vector<double>(65, 2)}});
  const struct {
    const char *arguments, *sentence;
  } mistakes[] = {
      {"line nowhere", "\"nowhere\" is not a run"},
      {"line net --from net:99", "counted from 0"},
      {"line net --from start:9", "start:0 to start:1"},
      {"line net --from net --to net:2:0", "the two ends are the same"},
      {"line net --blocks 'layer9.*'", "matches no block"},
      {"line net --by blok", "did you mean \"block\"?"},
      {"line net --of test_los", "did you mean \"test_loss\"?"},
      {"line toy --of test_loss", "no quantity \"test_loss\""},
      {"line net --tolerance 2", "must be in [0, 1)"},
      {"line net --intervals -3", "--intervals"},
      {"line toy --from nan.npz", "holds nan"},
      {"line none", "store.weights = \"none\""},
      {"line net --set model.layers=[1]", "only the data"},
      {"line net --from toy", "has no block"},
      {"surface toy", "at least 2 parameters"},
      {"surface toy --spanned-by random", "the blocks that move have none"},
      {"surface net --spanned-by random --group biases", "the blocks that move have none"},
      {"surface net --spanned-by random --group bias", "no group of blocks \"bias\""},
      {"surface net --blocks layer1.*", "use --spanned-by random"},
      {"line net --group gains", "--group gains has no block among those of --blocks"},
      {"surface net --spanned-by optima", "--other"},
      {"surface net --spanned-by optima --other net:2:1 --scale 2", "leave --scale"},
      {"surface net --spanned-by given", "--directions FILE.npz"},
      {"surface net --spanned-by given --directions short.npz", "65 parameters"},
      {"surface net --spanned-by given --directions parallel.npz", "parallel or zero"},
      {"surface net --spanned-by given --directions nan.npz", "no array \"v0\""},
      {"surface net --scale 0", "--scale is 0"},
      {"surface net --spanned-by randm", "did you mean \"random\"?"},
      {"surface none", "too few draws"},
      {"grid net", "at least one --axis"},
      {"grid net --axis layer1.weight", "is not understood"},
      {"grid net --axis 'layer1.weight[0,0]=0:1:2.5'", "is not understood"},
      {"grid net --axis 'layer1.weight[0,9]=0:1:2'", "matches no entry"},
      {"grid net --axis 'layer1.weight=0:1:2' --axis 'layer1.weight[0,0]=0:1:2'", "has an axis already"},
      {"grid net --axis '*=0:1:2'", "more than 100000 points"},
      {"grid net --axis 'layer3.bias=0:1:2' --exclude '*'", "leaves no axis"},
      {"grid net --axis 'layer3.bias=0:1:2' -o grid.txt", "must end in"},
      {"grid net --axis 'layer3.bias=0:1:2' -o no/grid.csv", "there is no directory \"no\""},
      {"trajectory net --every 0", "at least 1"},
      {"trajectory none", "store.weights = \"none\""},
      {"hessian toy --split test", "a toy has no test rows"},
      {"hessian net --split validation", "no validation rows"},
      {"hessian net --split valid", "must be train, validation or test"},
      {"hessian net --probes 1", "at least 2"},
  };
  for (const auto& [arguments, sentence] : mistakes) {
    const Outcome got = desk.kelvin(std::string("landscape ") + arguments);
    EXPECT_EQ(got.code, 1) << arguments;
    EXPECT_THAT(got.error, HasSubstr(sentence)) << arguments;
    EXPECT_EQ(std::count(got.error.begin(), got.error.end(), '\n'), 1) << arguments << ": " << got.error;
  }
  for (const char* arguments : {"landscape", "landscape lien net", "landscape line", "landscape hessian net --of loss",
                                "landscape line net --threads 0"})
    EXPECT_EQ(desk.kelvin(arguments).code, 2) << arguments;
  EXPECT_FALSE(std::filesystem::exists(desk.path("net/analysis/landscape_line.json"))) << "nothing is half-written";
  EXPECT_FALSE(std::filesystem::exists(desk.path("grid.txt")));
}

}  // namespace
}  // namespace kelvin
