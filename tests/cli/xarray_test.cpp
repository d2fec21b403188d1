// SPDX-License-Identifier: Apache-2.0
// xarray reads a run, finished or growing, and sees what the C++ side sees.
#include <numeric>

#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/zarr.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

const std::string source = KELVIN_SOURCE_DIR;

// Exit code and all that the script said.
std::pair<int, std::string> python(const Desk& desk, const std::string& arguments) {
  const std::string command = "cd '" + desk.path("") + "' && /usr/bin/python3 '" + source + "/tests/xarray_read.py' " +
                              arguments + " >.py 2>&1";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, desk.read(".py")};
}

bool has_xarray() { return std::system("/usr/bin/python3 -c 'import xarray, zarr' 2>/dev/null") == 0; }

const std::string file = R"(
steps = 40
warmup = 10
every = 2
walkers = 2
store = { keep_warmup = true, predictions = true, log_likelihood = true }
data = { generator = { name = "gap", rows = 8 }, standardise = "both", test = 3 }
model = { layers = [1, 3, 1], activation = "tanh", loss = "gaussian", prior = 1.0 }
[part.weights]
blocks = ["layer*"]
step = 0.02
[part.noise]
blocks = ["noise.*"]
step = 0.02
)";

// Every array of the manifest as Samples reads it, and the data as `kelvin data` prints them.
Value dump(const Desk& desk, const std::string& run) {
  const Samples samples = open_samples(desk.path(run));
  std::map<std::string, std::map<std::string, Value::Group>> groups;
  std::map<std::string, Value::Group> coordinates;
  for (const auto& [array, fingerprint] : samples.manifest.arrays) {
    const std::string group = array.substr(0, array.find('/')), name = array.substr(array.find('/') + 1);
    const Json about = Json::parse(desk.read(run + "/samples.zarr/" + array + "/.zarray"));
    const Json attributes = Json::parse(desk.read(run + "/samples.zarr/" + array + "/.zattrs"));
    const bool warmup = group.starts_with("warmup_");
    const std::size_t draws = warmup ? samples.manifest.warmup_draws[0] : samples.draws;
    Value::Group& entry = groups[group][name];
    entry["dimensions"] = attributes.at("_ARRAY_DIMENSIONS").value();
    entry["shape"] = about.at("shape").value();
    entry["type"] = about.at("dtype") == "<f4"   ? "float32"
                    : about.at("dtype") == "<i8" ? "int64"
                    : about.at("dtype") == "|b1" ? "bool"
                                                 : "float64";
    std::vector<double> values;
    for (std::size_t w = 0; w < samples.walkers; ++w)
      for (const double x : samples.array(array, w, 0, draws)) values.push_back(x);
    entry["values"] = values;
    std::vector<std::size_t> numbers(draws);
    std::iota(numbers.begin(), numbers.end(), 0);
    coordinates[group]["draw"] = numbers;
    coordinates[group]["chain"] = Value::List{0, 1};
    if (name == "virial") coordinates[group]["part"] = samples.parts;
  }
  std::stringstream rows(desk.kelvin("data run.toml --rows test").out);
  std::string line;
  std::getline(rows, line);
  std::vector<double> x, y;
  std::vector<int> numbers;
  for (int row = 0; std::getline(rows, line); ++row) {
    const std::size_t comma = line.find(',');
    x.push_back(std::stod(line.substr(0, comma)));
    y.push_back(std::stod(line.substr(comma + 1)));
    numbers.push_back(row);
  }
  for (const auto& [group, name, column, values] :
       {std::tuple{"constant_data", "x", "input", x}, {"observed_data", "y", "target", y}}) {
    coordinates[group]["row"] = numbers;
    groups[group][name] = {{"dimensions", Value::List{"row", column}},
                           {"shape", Value::List{3, 1}},
                           {"type", "float64"},
                           {"values", values}};
  }
  return Value::Group{{"groups", groups},
                      {"coordinates", coordinates},
                      {"attributes", Value::Group{{"inference_library", "kelvin"}, {"seed", 7}}}};
}

TEST(Xarray, SeesAFinishedRunAsWeDo) {
  if (!has_xarray()) GTEST_SKIP() << "python3-xarray and python3-zarr are not installed";
  const Desk desk;
  desk.write("run.toml", file);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o run --seed 7").code, 0) << desk.read(".err");
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o other --seed 8").code, 0);
  ASSERT_EQ(desk.kelvin("resume run -q --steps 20").code, 0) << desk.read(".err");
  desk.write("run.toml", "seed = 7\n" + file);  // for `kelvin data`
  const Json expected = dump(desk, "run");
  EXPECT_EQ(expected["groups"].size(), 8u);
  EXPECT_EQ(expected["groups"]["posterior"]["layer1.weight"]["shape"], (Value::List{2, 30, 3, 1}));
  desk.write("dump.json", expected.dump());
  const auto [code, said] = python(desk, "finished run dump.json");
  EXPECT_EQ(code, 0) << said;
  EXPECT_NE(python(desk, "finished other dump.json").first, 0) << "negative control: another run is not the same";
}

TEST(Xarray, SeesARunWhileItGrows) {
  if (!has_xarray()) GTEST_SKIP() << "python3-xarray and python3-zarr are not installed";
  const Desk desk;
  desk.write("run.toml",
             "steps = 100000000\nevery = 50\ncheckpoint_every = 5000\nwalkers = 2\n"
             "data = { generator = { name = \"spiral\", rows = 100 } }\n"
             "model = { layers = [2, 5, 1], loss = \"binary_cross_entropy\", prior = 1.0 }\npart.all.step = 0.05\n");
  Process process(desk, "sample run.toml -q -o run");
  const auto [code, said] = python(desk, "growing run 50");
  EXPECT_EQ(code, 0) << said << process.error();
  EXPECT_TRUE(process.running());
  process.send(SIGTERM);
  EXPECT_EQ(process.wait(), 143);
}

}  // namespace
}  // namespace kelvin
