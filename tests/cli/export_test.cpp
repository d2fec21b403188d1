// SPDX-License-Identifier: Apache-2.0
// A run in the formats of other tools, read back and compared with its draws.
#include <cmath>

#include "kelvin/io/csv.h"
#include "kelvin/io/npy.h"
#include "kelvin/io/safetensors.h"
#include "kelvin/trajectory/samples.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string source = KELVIN_SOURCE_DIR;
constexpr std::size_t draws = 7, walkers = 2;

// A network with a matrix that is not square, in single precision, and the same in double.
class Export : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Outcome ran =
        desk.kelvin("sample " + source +
                    "/examples/gap.toml -q -o run --set steps=35 --set warmup=3 --set every=5 --set walkers=2 "
                    "--set model.layers=[1,3,2,1] --seed 5 --set precision=" +
                    GetParam());
    ASSERT_EQ(ran.code, 0) << ran.error;
    samples = open_samples(desk.path("run"));
    ASSERT_EQ(samples.draws, draws);
    ASSERT_EQ(samples.walkers, walkers);
  }
  std::string written(const std::string& arguments) {
    const Outcome got = desk.kelvin("export run " + arguments);
    EXPECT_EQ(got.code, 0) << got.error;
    for (const auto& entry : std::filesystem::directory_iterator(desk.path("")))
      EXPECT_NE(entry.path().extension(), ".part") << "left behind";
    return got.out;
  }
  bool single() const { return GetParam() == std::string("float"); }
  // One draw of a block, row by row.
  std::vector<double> draw_of(const std::string& block, std::size_t walker, std::size_t draw) const {
    const auto all = samples.block(block, walker);
    const std::size_t each = all.size() / draws;
    return {all.begin() + long(draw * each), all.begin() + long((draw + 1) * each)};
  }

  Desk desk;
  Samples samples;
};

const std::map<std::string, std::vector<std::size_t>> shapes = {
    {"layer1.weight", {3, 1}}, {"layer1.bias", {3}}, {"layer2.weight", {2, 3}}, {"layer2.bias", {2}},
    {"layer3.weight", {1, 2}}, {"layer3.bias", {1}}, {"noise.log_scale", {1}},
};

TEST_P(Export, CsvHoldsEveryNumberToTheBit) {
  EXPECT_EQ(written("--to csv"), "run.csv\n");
  const Csv csv = read_csv(desk.path("run.csv"));
  ASSERT_EQ(csv.rows(), walkers * draws);
  const auto column = [&](const std::string& name) {
    const auto at = std::find(csv.names.begin(), csv.names.end(), name);
    EXPECT_NE(at, csv.names.end()) << name;
    std::vector<double> values;
    for (std::size_t i = 0; i < csv.rows(); ++i) {
      const auto x = as_number(csv.cell(i, std::size_t(at - csv.names.begin())));
      EXPECT_TRUE(x);
      values.push_back(single() && name.find("layer") == 0 ? double(float(*x)) : *x);  // nearest float, as stored
    }
    return values;
  };
  for (std::size_t w = 0; w < walkers; ++w)
    for (std::size_t n = 0; n < draws; ++n) {
      const std::size_t row = w * draws + n;
      EXPECT_EQ(column("chain")[row], double(w));
      EXPECT_EQ(column("draw")[row], double(n));
      EXPECT_EQ(column("lp")[row], samples.statistic("lp", w)[n]);
      EXPECT_EQ(column("kinetic_temperature[1]")[row], samples.statistic("kinetic_temperature", w)[2 * n + 1]);
      const auto matrix = draw_of("layer2.weight", w, n);
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j)
          EXPECT_EQ(column(fmt::format("layer2.weight[{},{}]", i, j))[row], matrix[3 * i + j]);
      EXPECT_EQ(column("layer2.bias[1]")[row], draw_of("layer2.bias", w, n)[1]);
    }
  EXPECT_EQ(csv.names[0], "chain");
  EXPECT_LT(std::find(csv.names.begin(), csv.names.end(), "lp"),
            std::find(csv.names.begin(), csv.names.end(), "layer1.bias[0]"));
  written("--to csv -o one.csv --walker 1");
  EXPECT_EQ(read_csv(desk.path("one.csv")).rows(), draws);
  EXPECT_EQ(read_csv(desk.path("one.csv")).cell(0, 0), "1");
}

TEST_P(Export, StanCsvIsNamedAndOrderedAsCmdStanDoes) {
  EXPECT_EQ(written("--to stan-csv -o fit.csv"), "fit_1.csv\nfit_2.csv\n");
  for (std::size_t w = 0; w < walkers; ++w) {
    const std::string name = fmt::format("fit_{}.csv", w + 1), text = desk.read(name);
    EXPECT_TRUE(text.starts_with("# model = run\n"));
    for (const std::string comment : {"# method = sample\n", "#     num_samples = 7\n", "#     save_warmup = 0\n",
                                      "#     thin = 1\n", "#   seed = 5\n"})
      EXPECT_THAT(text, HasSubstr(comment));
    EXPECT_THAT(text, HasSubstr(fmt::format("\n# id = {}\n", w + 1)));
    const Csv csv = read_csv(desk.path(name), Header::yes);
    ASSERT_EQ(csv.rows(), draws);
    EXPECT_THAT(
        std::vector(csv.names.begin(), csv.names.begin() + 7),
        ElementsAre("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"));
    const std::size_t first =
        std::size_t(std::find(csv.names.begin(), csv.names.end(), "layer2_weight.1.1") - csv.names.begin());
    ASSERT_LE(first + 6, csv.columns());
    const std::vector<std::string> order(csv.names.begin() + long(first), csv.names.begin() + long(first) + 6);
    EXPECT_THAT(order, ElementsAre("layer2_weight.1.1", "layer2_weight.2.1", "layer2_weight.1.2", "layer2_weight.2.2",
                                   "layer2_weight.1.3", "layer2_weight.2.3"));
    const double N = double(samples.record.rows);
    for (std::size_t n = 0; n < draws; ++n) {
      const auto near = [&](std::size_t column, double exact) {  // eight significant digits: half a unit of the last
        EXPECT_NEAR(csv.number(n, column), exact, 0.51e-7 * std::abs(exact));
      };
      near(0, samples.statistic("lp", w)[n]);
      near(2, 0.01);
      near(6, N * samples.statistic("energy", w)[n]);
      const auto matrix = draw_of("layer2.weight", w, n);
      for (std::size_t k = 0; k < 6; ++k) near(first + k, matrix[k % 2 * 3 + k / 2]);
    }
  }
}

TEST_P(Export, NpzHoldsAnyDrawOrTheMean) {
  written("--to npz");
  written("--to npz --draw 2 --walker 1 -o two.npz");
  written("--to npz --draw mean -o mean.npz");
  written("--to npz --draw mean --walker 1 -o mean1.npz");
  const auto last = read_npz(desk.path("run.npz")), two = read_npz(desk.path("two.npz")),
             mean = read_npz(desk.path("mean.npz")), mean1 = read_npz(desk.path("mean1.npz"));
  ASSERT_EQ(last.size(), shapes.size());
  for (const auto& [block, shape] : shapes) {
    EXPECT_EQ(last.at(block).shape, shape);
    EXPECT_EQ(last.at(block).values, draw_of(block, 0, draws - 1));
    EXPECT_EQ(two.at(block).values, draw_of(block, 1, 2));
    for (std::size_t k = 0; k < last.at(block).values.size(); ++k) {
      double sum[walkers] = {};
      for (std::size_t w = 0; w < walkers; ++w)
        for (std::size_t n = 0; n < draws; ++n) sum[w] += draw_of(block, w, n)[k];
      const double rounding = single() ? 1e-7 : 1e-15;
      EXPECT_NEAR(mean.at(block).values[k], (sum[0] + sum[1]) / (walkers * draws), 10 * rounding);
      EXPECT_NEAR(mean1.at(block).values[k], sum[1] / draws, 10 * rounding);
    }
  }
  const std::string evaluate = "evaluate " + source + "/examples/gap.toml --json --set model.layers=[1,3,2,1] --at ";
  EXPECT_EQ(desk.kelvin(evaluate + "run.npz").out, desk.kelvin(evaluate + "run").out);
  EXPECT_NE(desk.kelvin(evaluate + "two.npz").out, desk.kelvin(evaluate + "run").out);
}

TEST_P(Export, SafetensorsHasTheShapesOfPyTorch) {
  written("--to safetensors --walker 1 --draw 3");
  const std::string bytes = desk.read("run.safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  EXPECT_EQ(length % 8, 0u);
  const Json header = Json::parse(bytes.substr(8, length));
  EXPECT_EQ(header.at("__metadata__").at("format"), "pt");
  EXPECT_EQ(header.at("__metadata__").at("draw"), "3");
  const auto arrays = read_safetensors(desk.path("run.safetensors"));
  std::size_t end = 0;
  for (const auto& [block, shape] : shapes) {
    const Json& entry = header.at(block);
    EXPECT_EQ(entry.at("dtype"), single() ? "F32" : "F64");
    EXPECT_EQ(entry.at("shape"), shape);
    const std::size_t first = entry.at("data_offsets")[0], last = entry.at("data_offsets")[1];
    const auto exact = draw_of(block, 1, 3);
    ASSERT_EQ(last - first, exact.size() * (single() ? sizeof(float) : sizeof(double)));
    for (std::size_t k = 0; k < exact.size(); ++k) {
      float narrow = 0;
      double wide = 0;
      const char* at = bytes.data() + 8 + length + first;
      if (single()) std::memcpy(&narrow, at + k * sizeof narrow, sizeof narrow);
      else std::memcpy(&wide, at + k * sizeof wide, sizeof wide);
      EXPECT_EQ(single() ? double(narrow) : wide, exact[k]);
    }
    EXPECT_EQ(arrays.at(block).shape, shape);
    EXPECT_EQ(arrays.at(block).values, exact);
    end = std::max(end, last);
  }
  EXPECT_EQ(bytes.size(), 8 + length + end);
}

std::string hex(const std::vector<double>& values) {
  std::string text;
  for (const unsigned char c : std::string(reinterpret_cast<const char*>(values.data()), 8 * values.size()))
    text += fmt::format("{:02x}", c);
  return text;
}

// What xarray sees in a netCDF file.
Json opened(const Desk& desk, const std::string& file) {
  const std::string command = "/usr/bin/python3 '" + source + "/tests/netcdf_read.py' '" + desk.path(file) + "' >'" +
                              desk.path("found.json") + "' 2>'" + desk.path("errors") + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << desk.read("errors");
  return Json::parse(desk.read("found.json"));
}

TEST_P(Export, NetcdfOpensWithXarray) {
  written("--to netcdf -o run.nc");
  const Json found = opened(desk, "run.nc");
  const auto both = [&](auto&& read) {
    std::vector<double> all = read(0), second = read(1);
    all.insert(all.end(), second.begin(), second.end());
    return hex(all);
  };
  const Json &posterior = found.at("posterior"), &statistics = found.at("sample_stats");
  EXPECT_EQ(posterior.at("variables").size(), shapes.size());
  for (const auto& [block, shape] : shapes) {
    const Json& v = posterior.at("variables").at(block);
    EXPECT_EQ(v.at("type"), single() ? "float32" : "float64");
    EXPECT_EQ(v.at("bytes"), both([&, name = block](std::size_t w) { return samples.block(name, w); })) << block;
    std::vector<std::string> dimensions = {"chain", "draw"};
    std::vector<std::size_t> whole = {walkers, draws};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      whole.push_back(shape[d]);
      dimensions.push_back(v.at("dimensions").at(2 + d));
      std::vector<std::string> places;
      for (std::size_t k = 0; k < shape[d]; ++k) places.push_back(std::to_string(k));
      EXPECT_EQ(posterior.at("coordinates").at(dimensions.back()), places);
    }
    EXPECT_EQ(v.at("shape"), whole);
    EXPECT_EQ(v.at("dimensions"), dimensions);
  }
  EXPECT_EQ(statistics.at("variables").at("diverging").at("type"), "bool");
  EXPECT_EQ(statistics.at("variables").at("step").at("type"), "int64");
  for (const std::string name : {"lp", "energy", "step", "diverging", "kinetic_temperature"})
    EXPECT_EQ(statistics.at("variables").at(name).at("bytes"),
              both([&](std::size_t w) { return samples.statistic(name, w); }))
        << name;
  EXPECT_EQ(statistics.at("variables").at("virial").at("dimensions"), (Value::List{"chain", "draw", "part"}));
  EXPECT_EQ(statistics.at("coordinates").at("part"), samples.parts);
  EXPECT_EQ(statistics.at("coordinates").at("chain"), (Value::List{"0", "1"}));
  EXPECT_EQ(statistics.at("coordinates").at("draw").back(), "6");
  EXPECT_EQ(posterior.at("attributes").at("inference_library"), "kelvin");
  EXPECT_EQ(posterior.at("attributes").at("seed"), "5");
}

INSTANTIATE_TEST_SUITE_P(Precisions, Export, testing::Values("float", "double"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ExportGroups, EverythingARunKeepsIsInItsNetcdf) {
  const Desk desk;
  desk.write("line.csv", "x,y\n0,1\n1,3\n2,5\n3,7\n");
  desk.write("run.toml",
             "steps = 6\nwarmup = 4\nevery = 2\nwalkers = 2\ndata = \"line.csv\"\n"
             "model = { layers = [1, 1], loss = \"mean_squared\", prior = 1.0 }\n"
             "store = { keep_warmup = true, predictions = true, log_likelihood = true }\n");
  const Outcome ran = desk.kelvin("sample run.toml -q -o run");
  ASSERT_EQ(ran.code, 0) << ran.error;
  const Outcome got = desk.kelvin("export run --to netcdf");
  ASSERT_EQ(got.code, 0) << got.error;
  const Json found = opened(desk, "run.nc");
  const auto shape = [&](const char* group, const char* name) {
    return found.at(group).at("variables").at(name).at("shape");
  };
  EXPECT_EQ(shape("posterior", "layer1.bias"), (Value::List{2, 3, 1}));
  EXPECT_EQ(shape("warmup_posterior", "layer1.bias"), (Value::List{2, 2, 1}));
  EXPECT_EQ(shape("warmup_sample_stats", "lp"), (Value::List{2, 2}));
  for (const char* group : {"posterior_predictive", "log_likelihood"}) {
    const Json& variables = found.at(group).at("variables");
    ASSERT_EQ(variables.size(), 1u) << group;
    const auto whole = variables.entries().begin()->second.at("shape").as<std::vector<long>>();
    EXPECT_EQ(std::vector(whole.begin(), whole.begin() + 3), (std::vector<long>{2, 3, 4})) << group;
  }
  EXPECT_EQ(found.at("observed_data").at("coordinates").at("target"), (Value::List{"y"}));
  EXPECT_EQ(found.at("observed_data").at("variables").at("y").at("bytes"), hex({1, 3, 5, 7}));
  EXPECT_EQ(found.at("constant_data").at("variables").at("x").at("bytes"), hex({0, 1, 2, 3}));
}

// netCDF is loaded when it is asked for; a file that is no library stands for one that is not installed.
TEST(ExportGroups, AMissingNetcdfIsAMatterOfThatFormatOnly) {
  const Desk desk;
  ASSERT_EQ(desk.kelvin("sample " + source + "/examples/oscillator.toml -q -o run --set steps=20 --set every=10").code,
            0);
  std::filesystem::create_directory(desk.path("broken"));
  desk.write("broken/libnetcdf.so.19", "");
  desk.write("broken/libnetcdf.so", "");
  const Outcome got = desk.shell("LD_LIBRARY_PATH=broken ", "export run --to netcdf");
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.error, HasSubstr("cannot load netCDF"));
  EXPECT_THAT(got.error, HasSubstr("install Debian's libnetcdf19, or use another format"));
  EXPECT_FALSE(std::filesystem::exists(desk.path("run.nc")));
  EXPECT_EQ(desk.shell("LD_LIBRARY_PATH=broken ", "export run --to npz").code, 0);
}

TEST(ExportGroups, WithoutWeightsOnlyTheMeanIsThere) {
  const Desk desk;
  const std::string run =
      "sample " + source + "/examples/gap.toml -q --set steps=20 --set warmup=0 --set every=5 --set walkers=2 ";
  ASSERT_EQ(desk.kelvin(run + "-o full").code, 0);
  ASSERT_EQ(desk.kelvin(run + "-o none --set store.weights=none").code, 0);
  EXPECT_THAT(desk.kelvin("export none --to npz").error, HasSubstr("write them with --draw mean"));
  for (const char* from : {"full", "none"})
    ASSERT_EQ(desk.kelvin(std::string("export --to npz --draw mean ") + from).code, 0) << from;
  const auto kept = read_npz(desk.path("full.npz")), running = read_npz(desk.path("none.npz"));
  ASSERT_EQ(kept.size(), running.size());
  for (const auto& [name, array] : kept) {
    EXPECT_EQ(array.shape, running.at(name).shape) << name;
    for (std::size_t k = 0; k < array.values.size(); ++k)  // single precision in the one, double in the other
      EXPECT_NEAR(array.values[k], running.at(name).values[k], 1e-6 * (1 + std::abs(array.values[k]))) << name;
  }
  EXPECT_EQ(desk.kelvin("export none --to csv").code, 0) << "statistics are there";
}

TEST(ExportMisuse, EveryMistakeGetsOneClearSentenceAndNoFile) {
  const Desk desk;
  ASSERT_EQ(desk.kelvin("sample " + source + "/examples/oscillator.toml -q -o run --set steps=20 --set every=10").code,
            0);
  desk.write("precious.csv", "mine");
  desk.write("fit_1.csv", "mine too");
  std::filesystem::create_directory(desk.path("empty"));
  struct Mistake {
    std::string arguments, sentence;
  };
  for (const auto& [arguments, sentence] : std::initializer_list<Mistake>{
           {"run --to netcfd",
            "no format \"netcfd\"; known: netcdf, csv, stan-csv, npz, safetensors; did you mean \"netcdf\"?"},
           {"run --to csv -o precious.csv", "\"precious.csv\" exists already"},
           {"run --to stan-csv -o fit.csv", "\"fit_1.csv\" exists already"},
           {"run --to csv -o empty --force", "\"empty\" exists already"},
           {"run --to npz --draw 2", "--draw must be \"last\", \"mean\" or a number from 0 to 1, not \"2\""},
           {"run --to npz --draw -1", "--draw must be"},
           {"run --to npz --draw 1x", "--draw must be"},
           {"run --to csv --draw 1", "--draw 1 makes no sense for csv"},
           {"run --to npz --walker 9", "--walker 9 is out of range"},
           {"empty --to csv", "\"empty/run.json\""},
           {"nowhere --to csv", "\"nowhere\" is not a run"},
           {"run --to csv -o no/such/place.csv", "cannot write \"no/such/place.csv"},
           {"run --to netcdf -o no/such/place.nc", "cannot write \"no/such/place.nc"},
           {"run --to npz -o no/such/place.npz", "cannot write \"no/such/place.npz"},
           {"run --to safetensors -o no/such/place.safetensors", "cannot write \"no/such/place.safetensors"},
       }) {
    const Outcome got = desk.kelvin("export " + arguments);
    EXPECT_EQ(got.code, 1) << arguments;
    EXPECT_THAT(got.error, HasSubstr(sentence)) << arguments;
    EXPECT_EQ(std::count(got.error.begin(), got.error.end(), '\n'), 1) << got.error;
  }
  EXPECT_EQ(desk.read("precious.csv"), "mine");
  EXPECT_EQ(desk.read("fit_1.csv"), "mine too");
  for (const char* name : {"run.csv", "run.npz", "fit_2.csv", "precious.csv.part"})
    EXPECT_FALSE(std::filesystem::exists(desk.path(name))) << name;
  EXPECT_EQ(desk.kelvin("export run --to csv -o precious.csv --force").code, 0);
  EXPECT_TRUE(desk.read("precious.csv").starts_with("chain,draw,"));
}

TEST(ExportMisuse, ADiskThatFillsUpLeavesTheOldFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  const Desk desk;
  ASSERT_EQ(desk.kelvin("sample " + source + "/examples/oscillator.toml -q -o run --set steps=20 --set every=10").code,
            0);
  desk.write("run.csv", "old");
  std::filesystem::create_symlink("/dev/full", desk.path("run.csv.part"));
  const Outcome got = desk.kelvin("export run --to csv --force");
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.error, HasSubstr("cannot write \"run.csv"));
  EXPECT_EQ(desk.read("run.csv"), "old");
  EXPECT_FALSE(std::filesystem::is_symlink(desk.path("run.csv.part"))) << "left behind";
}

TEST(Safetensors, CutAtEveryLengthOrLengthenedIsAnErrorThatNamesTheFile) {
  const Directory dir;
  const std::vector<double> w = {1, 2, 3, 4}, b = {5};
  write_safetensors<double>(dir.path("f"), {{"w", {{2, 2}, w}}, {"b", {{1}, b}}}, {{"format", "pt"}});
  const std::string good = bytes_of(dir.path("f"));
  EXPECT_EQ(parse_safetensors(good, "f").at("w").values, w);
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_THAT(error_of([&] { parse_safetensors(good.substr(0, n), "f.st"); }), testing::StartsWith("f.st")) << n;
  EXPECT_THAT(error_of([&] { parse_safetensors(good + "x", "f.st"); }), HasSubstr("1 bytes belong to no array"));
  std::string half = good;
  half.replace(half.find("F64"), 3, "F16");
  EXPECT_THAT(error_of([&] { parse_safetensors(half, "f.st"); }), HasSubstr("no number type \"F16\""));
}

}  // namespace
}  // namespace kelvin
