// SPDX-License-Identifier: Apache-2.0
// `kelvin model`, and what a run shows of its network when it begins.
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string small_images = R"(steps = 2
data = { file = "images.csv", shape = [1, 4, 4] }
model = { layers = ["conv 3 2", "batch_norm", "relu", "flatten", "dense 2"], loss = "softmax_cross_entropy" }
[part.all]
step = 0.1
)";

std::string image_rows() {
  std::string text;
  for (int c = 0; c < 16; ++c) text += fmt::format("p{},", c);
  text += "label\n";
  for (int row = 0; row < 6; ++row) {
    for (int c = 0; c < 16; ++c) text += fmt::format("{},", (row * 7 + c * 3) % 5);
    text += fmt::format("{}\n", row % 2);
  }
  return text;
}

struct ImageDesk : Desk {
  ImageDesk() {
    write("images.csv", image_rows());
    write("run.toml", small_images);
  }
};

TEST(ModelCommand, ShowsALineForEachLayerOfARunFileOrARun) {
  const ImageDesk desk;
  const Outcome of_file = desk.kelvin("model run.toml");
  ASSERT_EQ(of_file.code, 0) << of_file.error;
  EXPECT_THAT(of_file.out, HasSubstr("conv 3 2"));
  EXPECT_THAT(of_file.out, HasSubstr("2 x 2 x 2"));
  EXPECT_THAT(of_file.out, HasSubstr("and 4 running statistics"));
  const Outcome trained = desk.kelvin("train run.toml -q -o run");
  ASSERT_EQ(trained.code, 0) << trained.error;
  EXPECT_EQ(desk.kelvin("model run").out, of_file.out);
  EXPECT_EQ(desk.kelvin("model run --set seed=2").code, 1);
}

TEST(ModelCommand, ItsTotalIsThatOfTheRun) {
  const ImageDesk desk;
  const Outcome shown = desk.kelvin("model run.toml --json");
  const auto total = Json::parse(shown.out).back();
  EXPECT_EQ(total["parameters"], 20 + 4 + 18);  // kernels and biases, gains and biases, dense
  EXPECT_EQ(total["multiply_adds"], 4 * 18 + 16);
  const Outcome trained = desk.kelvin("train run.toml -q -o run");
  ASSERT_EQ(trained.code, 0) << trained.error;
  EXPECT_EQ(Json::parse(desk.read("run/run.json"))["parameters"], total["parameters"]);
#if !defined(__SANITIZE_ADDRESS__)  // whose search for leaks stumbles over memory of threads of libraries loaded late
  const Outcome report = desk.kelvin("report run");
  ASSERT_EQ(report.code, 0) << report.error;
  const std::string page = desk.read("run/report.html");
  EXPECT_THAT(page, HasSubstr("dense 2, 42 parameters, loss softmax_cross_entropy"));
#endif
}

TEST(ModelCommand, ANetworkOfSizesAndAScaleAreCountedToo) {
  const Desk desk;
  desk.write("data.csv", "a,b,y\n1,2,0.5\n2,1,1\n0.5,0.1,0\n");
  desk.write("run.toml",
             "steps = 2\ndata = { file = \"data.csv\" }\nmodel = { layers = [2, 3, 1], loss = \"gaussian\" }\n");
  const auto rows = Json::parse(desk.kelvin("model run.toml --json").out);
  EXPECT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows.back()["parameters"], 9 + 4 + 1);
  EXPECT_EQ(desk.kelvin("train run.toml -o run").error.find("dense"), std::string::npos);
}

TEST(ModelCommand, AToyHasNoLayers) {
  const Desk desk;
  desk.write("toy.toml", "model.toy = \"gaussian\"\n");
  EXPECT_THAT(desk.kelvin("model toy.toml").error, HasSubstr("the toy \"gaussian\" has no layers"));
}

TEST(ModelCommand, ARunOfLayersBeginsWithThem) {
  const ImageDesk desk;
  EXPECT_THAT(desk.kelvin("train run.toml -o loud").error,
              HasSubstr("a network of 42 parameters on rows of 1 x 4 x 4"));
  EXPECT_THAT(desk.kelvin("train run.toml -q -o quiet").error, Not(HasSubstr("a network of")));
}

}  // namespace
}  // namespace kelvin
