// SPDX-License-Identifier: Apache-2.0
// What a run will need is known before anything is allocated: runs of any size end at once, in a sentence with numbers.
#include "kelvin/run/size.h"

#include "kelvin/core/toml.h"
#include "kelvin/io/load.h"
#include "kelvin/run/run.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

RunSettings sized(const std::string& text) {
  RunSettings settings = read_run_settings(parse_toml(text, "test"));
  complete(settings, run_kind("sample"));
  return settings;
}

// By hand: [2, 100, 1] has 401 parameters; 4 of them in float and 2 in double a walker, and 1000 draws of 401 floats
// and twenty doubles, gathered whole as they are fewer than 4 MB.
TEST(Size, IsThatOfStatesMomentsAndDraws) {
  const RunSettings s = sized(
      "steps = 1000\nevery = 1\nwalkers = 2\ndata.generator = \"spiral\"\n"
      "model = { layers = [2, 100, 1], loss = \"binary_cross_entropy\", prior = 1.0 }\n");
  EXPECT_EQ(parameters_of(s.model, {}), 401);
  const RunSize size = size_of(s, 401, {});
  const double draw = 401 * 4 + 160;
  EXPECT_EQ(size.draw, draw);
  EXPECT_EQ(size.draws, 1000);
  EXPECT_EQ(size.disk, 2 * 1000 * draw);
  EXPECT_EQ(size.memory, 2 * (4 * 401 * 4 + 2 * 401 * 8 + 1000 * draw));
  EXPECT_EQ(error_of([&] { check_size(size, {size.memory, size.disk}); }), "");
  EXPECT_THAT(error_of([&] {
                check_size(size, {size.memory - 1, size.disk});
              }),
              HasSubstr("of memory (401 parameters"));
  EXPECT_THAT(error_of([&] { check_size(size, {size.memory, size.disk - 1}); }), HasSubstr("writes about 3.53 MB"));
  EXPECT_EQ(error_of([&] { check_size(size, {}); }), "") << "nobody has looked";
}

TEST(Size, RunsThatAreTooLargeEndAtOnce) {
  RunEnvironment environment;
  environment.data = load_from("");
  environment.room = {8e9, 50e9};
  const auto refused = [&](const std::string& text) {
    const auto start = std::chrono::steady_clock::now();
    const std::string message = error_of([&] { kelvin::Run(sized(text), environment).go(); });
    // 50 ms are asked for; a machine that is busy with other tests gets twenty times as long
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << text;
    return message;
  };
  const std::string gap = "data.generator = \"gap\"\n", wide = "loss = \"gaussian\", prior = 1.0 }\n";
  EXPECT_THAT(refused("walkers = 1000000000\nmodel.toy = \"double_well\"\n"), HasSubstr("1e+09 walkers"));
  EXPECT_THAT(refused("walkers = 1000000000\n" + gap + "model = { layers = [1, 3, 1], " + wide),
              HasSubstr("1e+09 walkers"));
  EXPECT_THAT(refused(gap + "model = { layers = [1, 2147483648, 1], " + wide), HasSubstr("more than 2^31 parameters"));
  EXPECT_THAT(refused(gap + "model = { layers = [1, 300000000, 1], " + wide), HasSubstr("9e+08 parameters"));
  EXPECT_THAT(refused(gap + "model = { layers = [\"dense 2147483648\", \"relu\", \"dense 1\"], " + wide),
              HasSubstr("6.44245e+09 parameters"));
  EXPECT_THAT(refused("data.generator = { name = \"gap\", rows = 1e10 }\nmodel = { layers = [1, 3, 1], " + wide),
              HasSubstr("rows of data.generator = \"gap\" take at least 160 GB"));
  EXPECT_THAT(refused("walkers = 1000\nstore.predictions = true\ndata.generator = { name = \"gap\", test = 1e7 }\n"
                      "model = { layers = [1, 3, 1], " +
                      wide),
              HasSubstr("of memory (10 parameters"));
  EXPECT_THAT(refused("steps = 100000000\nevery = 1\n" + gap + "model = { layers = [1, 100, 1], " + wide),
              HasSubstr("the disk has room for 50 GB"));
}

}  // namespace
}  // namespace kelvin
