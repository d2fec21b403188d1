// SPDX-License-Identifier: Apache-2.0
// What a hidden layer makes of rows, against the layers written out; and the command.
#include "kelvin/analysis/predictive/encode.h"

#include <cmath>

#include "kelvin/core/toml.h"
#include "kelvin/function/block.h"
#include "kelvin/io/npy.h"
#include "kelvin/io/problem.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using ::testing::HasSubstr;

const std::string file =
    "steps = 3\nprecision = \"double\"\ndata = { generator = { name = \"spiral\", rows = 1500 }, test = 20, "
    "targets_are = \"inputs\" }\n"
    "model = { layers = [2, 5, 3, 2], activation = [\"tanh\", \"relu\"], loss = \"mean_squared\" }\n"
    "part.all = { scheme = \"adam\", step = 0.01 }\n";

TEST(Encode, LayersAreThoseWrittenOut) {
  const RunSettings settings = read_run_settings(parse_toml(file, "test"));
  const auto problem = make_problem<double>(settings, [](std::string_view) {});
  const auto q = problem.starting_point(0, [](const std::string&, const Block&) { return std::vector<double>(); });
  const auto layer = [&](const std::vector<double>& x, const char* name, auto&& activation) {
    const Block &w = block_named(std::string(name) + ".weight", problem.recipe.blocks),
                &b = block_named(std::string(name) + ".bias", problem.recipe.blocks);
    std::vector<double> y;
    for (std::size_t i = 0; i < w.rows(); ++i) {
      double sum = q[b.offset + i];
      for (std::size_t j = 0; j < w.columns(); ++j) sum += q[w.offset + i * w.columns() + j] * x[j];
      y.push_back(activation(sum));
    }
    return y;
  };
  const Dataset& rows = problem.data.train;
  const auto first = encoded<double>(problem, q, 1, rows), second = encoded<double>(problem, q, 2, rows);
  ASSERT_EQ(first.size(), rows.rows * 5);
  ASSERT_EQ(second.size(), rows.rows * 3);
  for (const std::size_t row : {std::size_t(0), std::size_t(999), std::size_t(1000), rows.rows - 1}) {
    const std::vector<double> x(rows.inputs.begin() + long(2 * row), rows.inputs.begin() + long(2 * row + 2));
    const auto one = layer(x, "layer1", [](double s) { return std::tanh(s); });
    const auto two = layer(one, "layer2", [](double s) { return std::max(0.0, s); });
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(first[5 * row + k], one[k], 1e-12) << row;
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(second[3 * row + k], two[k], 1e-12) << row;
  }
  EXPECT_THAT(error_of([&] { encoded<double>(problem, q, 3, rows); }), HasSubstr("has 2 hidden layers"));
}

TEST(Encode, ItsFilesAreDataOfTheNextRun) {
  const Desk desk;
  desk.write("run.toml", file);
  ASSERT_EQ(desk.kelvin("train run.toml -q -o first").code, 0);
  const auto made = desk.kelvin("encode first --layer 2 -o codes");
  ASSERT_EQ(made.code, 0) << made.error;
  EXPECT_EQ(read_npy(desk.path("codes/train.npy")).shape, (std::vector<std::size_t>{1480, 3}));
  EXPECT_EQ(read_npy(desk.path("codes/test.npy")).shape, (std::vector<std::size_t>{20, 3}));
  desk.write("next.toml",
             "steps = 3\ndata = { file = \"codes/train.npy\", test_file = \"codes/test.npy\", targets_are = "
             "\"inputs\" }\nmodel = { layers = [3, 2, 3], loss = \"mean_squared\" }\npart.all = { step = 0.01 }\n");
  const auto next = desk.kelvin("train next.toml -q -o second");
  EXPECT_EQ(next.code, 0) << next.error;
  EXPECT_THAT(desk.kelvin("encode first -o codes").error, HasSubstr("exists already"));
  std::filesystem::remove(desk.path("codes/train.npy"));
  EXPECT_EQ(desk.kelvin("encode first -o codes").code, 1);
  EXPECT_FALSE(std::filesystem::exists(desk.path("codes/train.npy"))) << "all or nothing";
  EXPECT_THAT(desk.kelvin("encode nowhere -o other").error, HasSubstr("is not a run"));
}

}  // namespace
}  // namespace kelvin
