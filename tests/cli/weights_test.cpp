// SPDX-License-Identifier: Apache-2.0
// Weights from PyTorch and ONNX into runs, and out of them by PyTorch's names.
#include <random>

#include "kelvin/io/safetensors.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string reference = KELVIN_SOURCE_DIR "/tests/reference/";

// Whole numbers below `words`, or any numbers.
std::string table_of(std::size_t rows, std::size_t inputs, std::size_t targets, unsigned words = 0) {
  std::mt19937 some(1);
  std::string text;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < inputs + targets; ++k)
      text +=
          fmt::format("{}{}", words > 0 && k < inputs ? double(some() % words) : double(some()) / double(some.max()),
                      k + 1 < inputs + targets ? ',' : '\n');
  return text;
}

std::string targets_from(std::size_t inputs, std::size_t targets) {
  std::string list;
  for (std::size_t k = 0; k < targets; ++k) list += fmt::format("{}{}", k > 0 ? ", " : "", inputs + k);
  return list;
}

// A run of one step too short to move a float, from a state dict.
struct StateDict {
  std::string name, layers, data;
  std::size_t inputs, targets;
  unsigned words = 0;
};

TEST(Weights, ComeOutAsPyTorchPutThemIn) {
  for (const auto& it : std::initializer_list<StateDict>{
           {"sizes", "[5, 7, 3]\nactivation = 'tanh'", "", 5, 3},
           {"plain",
            "['conv 3 4 padding 1', 'batch_norm', 'relu', 'max_pool 2', { residual = ['conv 3 5 stride 2 padding 1', "
            "'batch_norm'], shortcut = ['conv 1 5 stride 2'] }, 'group_norm 5', 'flatten', 'dense 3']",
            "shape = [2, 8, 8]\n", 128, 3},
           {"transformer", "[': transformer 7 4 2 2 units 6', 'mean_over_steps']", "", 5, 7, 7},
           {"bert", "[': bert 9 6 2 3 8 positions 7', 'mean_over_steps']", "", 5, 6, 9},
       }) {
    SCOPED_TRACE(it.name);
    const Desk desk;
    const std::string state = reference + "weights/" + it.name + ".safetensors";
    desk.write("rows.csv", table_of(20, it.inputs, it.targets, it.words));
    desk.write("run.toml",
               fmt::format("steps = 1\nfrom = '{}'\n[data]\nfile = 'rows.csv'\nheader = 'no'\ntargets = [{}]\n"
                           "{}[part.all]\nstep = 1e-30\n[model]\nlayers = {}\n",
                           state, targets_from(it.inputs, it.targets), it.data, it.layers));
    const Outcome ran = desk.kelvin("train run.toml -q -o run");
    ASSERT_EQ(ran.code, 0) << ran.error;
    for (const char* format : {"netcdf", "csv", "stan-csv"})
      EXPECT_EQ(desk.kelvin(fmt::format("export run --to {0} -o run.{0}", format)).code, 0) << format;
    for (const char* names : {"pytorch", "kelvin"})
      ASSERT_EQ(desk.kelvin(fmt::format("export run --to safetensors --names {0} -o {0}.safetensors", names)).code, 0);
    std::set<std::string> all;
    const auto written = read_safetensors(desk.path("pytorch.safetensors"));
    for (const auto& [name, array] : written) all.insert(name);
    const auto given = read_safetensors(state, all);
    ASSERT_EQ(written.size(), given.size());
    for (const auto& [name, array] : written) {
      EXPECT_EQ(array.shape, given.at(name).shape) << name;
      if (name.find("running") != std::string::npos) continue;  // which that step has moved
      EXPECT_EQ(array.values, given.at(name).values) << name;
    }
    const std::string own = desk.kelvin("evaluate run.toml --json --at kelvin.safetensors").out;
    EXPECT_THAT(own, HasSubstr("rmse"));
    EXPECT_EQ(desk.kelvin("evaluate run.toml --json --at pytorch.safetensors").out, own);
    EXPECT_EQ(desk.kelvin("export run --to npz --names pytorch -o pytorch.npz").code, 0);
    EXPECT_EQ(desk.kelvin("evaluate run.toml --json --at pytorch.npz").out, own);
  }
}

TEST(Weights, MistakesInNamesGetOneClearSentence) {
  const Desk desk;
  ASSERT_EQ(desk.kelvin(std::string("sample ") + KELVIN_SOURCE_DIR +
                        "/examples/oscillator.toml -q -o run --set steps=20 --set every=10")
                .code,
            0);
  for (const auto& [arguments, sentence] : std::initializer_list<std::pair<std::string, std::string>>{
           {"--to csv --names pytorch", "--names pytorch makes no sense for csv"},
           {"--to npz --names torch", "--names must be \"kelvin\" or \"pytorch\", not \"torch\""},
           {"--to safetensors --names pytorch", "\"run\" knows no names of PyTorch, for it has no network"},
       }) {
    const Outcome got = desk.kelvin("export run " + arguments);
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.error, HasSubstr(sentence));
    EXPECT_EQ(std::count(got.error.begin(), got.error.end(), '\n'), 1) << got.error;
  }
}

class OnnxRun : public testing::Test {
 protected:
  void SetUp() override {
    desk.write("net.onnx", bytes_of(reference + "onnx/sizes.onnx"));
    desk.write("rows.csv", table_of(20, 5, 3));
    desk.write("run.toml",
               "steps = 40\nevery = 10\n[data]\nfile = 'rows.csv'\nheader = 'no'\ntargets = [5, 6, 7]\n"
               "[part.all]\nstep = 0.001\n[model]\nonnx = 'net.onnx'\n");
  }
  Desk desk;
};

TEST_F(OnnxRun, NeedsTheFileOnlyToBegin) {
  ASSERT_EQ(desk.kelvin("train run.toml -q -o run").code, 0);
  ASSERT_EQ(desk.kelvin("train run.toml -q -o whole --set steps=60").code, 0);
  EXPECT_THAT(desk.read("run/run.json"), HasSubstr("dense 7 bias 1"));
  const std::string start = desk.kelvin("evaluate run.toml --json").out;
  EXPECT_EQ(desk.kelvin("evaluate run.toml --json --at net.onnx").out, start) << "it starts from its weights";
  EXPECT_NE(desk.kelvin("evaluate run.toml --json --set part.all.start=pytorch").out, start);
  std::filesystem::remove(desk.path("net.onnx"));
  const Outcome resumed = desk.kelvin("resume run -q --steps 20");
  EXPECT_EQ(resumed.code, 0) << resumed.error;
  EXPECT_EQ(desk.kelvin("summary run").code, 0);
  EXPECT_EQ(desk.kelvin("predict run").code, 0);
  for (const char* run : {"run", "whole"})
    ASSERT_EQ(desk.kelvin(fmt::format("export {0} --to npz -o {0}.npz", run)).code, 0);
  EXPECT_EQ(desk.read("run.npz"), desk.read("whole.npz"));
  const Outcome again = desk.kelvin("train run.toml -q -o again");
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.error, HasSubstr("cannot read \"net.onnx\""));
}

TEST_F(OnnxRun, MistakesGetOneClearSentence) {
  desk.write("bad.onnx", "hello");
  for (const auto& [set, sentence] : std::initializer_list<std::pair<std::string, std::string>>{
           {"model.onnx=bad.onnx", "bad.onnx: not a network in ONNX that can be read"},
           {"model.onnx=none.onnx", "cannot read \"none.onnx\""},
           {"model.layers=[5,3]", "model.onnx and model.layers exclude each other; keep one"},
           {"model.toy=gaussian", "takes the place of model.toy and model.own"},
           {"data.inputs=[0,1,2,3]", "\"net.onnx\": \"0.weight\" is 7 x 5 where 7 x 4 is needed"},
       }) {
    const Outcome got = desk.kelvin("train run.toml -o run --set " + set);
    EXPECT_EQ(got.code, 1) << set;
    EXPECT_THAT(got.error, HasSubstr(sentence));
    EXPECT_EQ(std::count(got.error.begin(), got.error.end(), '\n'), 1) << got.error;
  }
}

}  // namespace
}  // namespace kelvin
