// SPDX-License-Identifier: Apache-2.0
// Mistakes a user makes: one clear sentence, exit code 1 or 2, nothing left behind.
#include "tests/layer_runs.h"
#include "tests/png_of.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string good = R"(steps = 10
data = { file = "data.csv" }
model = { layers = [2, 3, 1], loss = "binary_cross_entropy", prior = 1.0 }
[part.all]
scheme = "BAOAB"
step = 0.1
)";
const std::string rows = "a,b,label\n1,2,0\n2,1,1\n0.5,0.1,0\n3,4,1\n";

struct Mistake {
  const char* name;
  std::string data, file, arguments, sentence;
};

std::string with(const std::string& from, const std::string& to) {
  std::string text = good;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const Mistake mistakes[] = {
    {"missing run file", rows, good, "sample nowhere.toml", "cannot read the run file \"nowhere.toml\""},
    {"missing data file", rows, with("data.csv", "lost.csv"), "", "\"lost.csv\""},
    {"ragged row", rows + "1,2\n", good, "", "line 6"},
    {"text in a numeric column", rows + "1,two,0\n", good, "", "\"two\""},
    {"nan", rows + "nan,2,0\n", good, "", "line 6"},
    {"empty data", "", good, "", "data.csv"},
    {"header only", "a,b,label\n", good, "", "data.csv"},
    {"label out of range", rows + "1,2,2\n", good, "", "classes"},
    {"wrong input size", rows, with("[2, 3, 1]", "[3, 3, 1]"), "", "inputs"},
    {"wrong output size", rows, with("[2, 3, 1]", "[2, 3, 4]"), "", "output"},
    {"unknown key", rows, with("step = 0.1", "stpe = 0.1"), "", "run.toml line 6: no setting \"part.all.stpe\""},
    {"unknown key, the nearest", rows, with("step = 0.1", "stpe = 0.1"), "", "did you mean \"step\"?"},
    {"unknown key in --set", rows, good, "--set part.all.frction=2",
     "--set part.all.frction=2: no setting \"part.all.frction\""},
    {"wrong type", rows, with("steps = 10", "steps = \"many\""), "",
     "run.toml line 1: steps must be a whole number, not a text"},
    {"negative step", rows, with("step = 0.1", "step = -0.1"), "", "part.all.step must be greater than 0, not -0.1"},
    {"infinite step", rows, with("step = 0.1", "step = inf"), "", "part.all.step must be"},
    {"negative temperature", rows, good, "--set part.all.temperature=-1", "part.all.temperature must be at least 0"},
    {"unknown letter", rows, with("BAOAB", "BAXAB"), "", "no letter 'X' in scheme \"BAXAB\""},
    {"unbalanced braces", rows, with("BAOAB", "R{BAB"), "", "'{' without '}'"},
    {"braces with minibatches", rows, with("BAOAB", "R{BAB}"), "--set batch.size=2", "which takes every row"},
    {"parts that do not meet equally often", rows,
     with("[part.all]\nscheme = \"BAOAB\"",
          "[part.out]\nblocks = [\"layer2.*\"]\nscheme = \"ABOA\"\n[part.hidden]\nblocks = [\"layer1.*\"]"),
     "", "has 1 joint letters"},
    {"overlapping parts", rows, good + "[part.biases]\nblocks = [\"*.bias\"]\n", "",
     "is in part \"all\" and in part \"biases\""},
    {"a block in no part", rows, with("[part.all]", "[part.hidden]\nblocks = [\"layer1.*\"]"), "", "is in no part"},
    {"a part without blocks", rows, good + "[part.third]\nblocks = [\"layer3.*\"]\n", "", "matches no block"},
    {"unwritable output", rows, good, "-o /proc/nowhere/run", "cannot make the directory"},
    {"output is a file", rows, good, "-o data.csv", "is a file"},
    {"unknown loss", rows, with("binary_cross_entropy", "binary_crossentropy"), "",
     "did you mean \"binary_cross_entropy\"?"},
    {"unknown precision", rows, "precision = \"half\"\n" + good, "", "precision must be \"float\" or \"double\""},
    {"unknown prior", rows, with("prior = 1.0", "prior = \"gauss\""), "", "no prior \"gauss\""},
    {"broken toml", rows, good + "[part\n", "", "run.toml line 7"},
    {"batch of zero", rows, good, "--set batch.size=0", "batch.size"},
    {"frozen beyond its block", rows, good, "--set 'model.freeze=[\"layer1.bias[7]\"]'", "3 x 1"},
    {"no model", rows, "data = \"data.csv\"\n", "", "the model is not given"},
    {"toy and data", rows, with("[2, 3, 1]", "[2, 3, 1], toy = \"gaussian\""), "", "exclude each other"},
    {"logits need a linear output", rows, with("prior", "output = \"tanh\", prior"), "", "linear"},
};

TEST(Misuse, EveryMistakeGetsOneClearSentence) {
  for (const Mistake& m : mistakes) {
    const Desk desk;
    desk.write("data.csv", m.data);
    desk.write("run.toml", m.file);
    const bool whole_command = m.arguments.starts_with("sample");
    const Outcome got = desk.kelvin(whole_command ? m.arguments : "sample run.toml " + m.arguments);
    EXPECT_TRUE(got.code == 1 || got.code == 2) << m.name << ": exit code " << got.code;
    EXPECT_THAT(got.error, HasSubstr(m.sentence)) << m.name;
    EXPECT_EQ(std::count(got.error.begin(), got.error.end(), '\n'), 1) << m.name << ": " << got.error;
    EXPECT_EQ(got.out, "") << m.name;
    EXPECT_FALSE(std::filesystem::exists(desk.path("runs"))) << m.name << " left a run behind";
  }
}

// ---- networks of layers

struct LayerMistake {
  const char* name;
  std::string data, layers;
  std::vector<std::string> said;  // with the layer and the sizes
};
const std::string image_data = "file = \"images.csv\", shape = [1, 6, 6]";
const std::string letter_data = "file = \"letters.txt\", text = { unit = \"characters\", steps = 8 }";

const LayerMistake layer_mistakes[] = {
    {"unknown layer", image_data, "\"convv 3 4\", \"flatten\", \"dense 3\"", {"\"convv\"", "did you mean \"conv\"?"}},
    {"kernel larger than the image",
     image_data,
     "\"conv 7 4\", \"flatten\", \"dense 3\"",
     {"layer \"conv\"", "7 x 7 pixels", "6 x 6"}},
    {"kernel larger than what is left",
     image_data,
     "\"conv 3 4\", \"max_pool 2\", \"conv 3 4\", \"flatten\", \"dense 3\"",
     {"layer \"conv\"", "3 x 3 pixels", "2 x 2"}},
    {"convolution of a table",
     "file = \"images.csv\"",
     "\"conv 3 4\", \"flatten\", \"dense 3\"",
     {"layer \"conv\"", "36", "shape"}},
    {"dense on an image", image_data, "\"conv 3 4\", \"dense 3\"", {"layer \"dense\"", "4 x 4 x 4", "flatten"}},
    {"image at the end", image_data, "\"conv 3 4\"", {"4 x 4 x 4", "end with a layer such as \"dense 1\""}},
    {"too many numbers",
     image_data,
     "\"max_pool 2 2 0 7 7\", \"flatten\", \"dense 3\"",
     {"more numbers than \"max_pool\""}},
    {"no number", image_data, "\"flatten\", \"dense\"", {"dense", "units"}},
    {"unknown number", image_data, "\"flatten\", { dense = 3, biass = 0 }", {"\"biass\"", "did you mean \"bias\"?"}},
    {"fraction of a unit", image_data, "\"flatten\", \"dense 2.5\"", {"layer \"dense\"", "2.5", "whole number"}},
    {"uneven groups",
     image_data,
     "\"conv 3 4\", \"group_norm 3\", \"flatten\", \"dense 3\"",
     {"layer \"group_norm\"", "3 groups", "4 channels"}},
    {"unequal branches",
     image_data,
     "{ residual = [\"conv 3 4\"] }, \"flatten\", \"dense 3\"",
     {"layer \"residual\"", "4 x 4 x 4", "1 x 6 x 6"}},
    {"uneven patches",
     image_data,
     "\"patches 4 8\", \"mean_over_steps\", \"dense 3\"",
     {"layer \"patches\"", "1 x 6 x 6", "4 x 4"}},
    {"wrong number of classes", image_data, "\"flatten\", \"dense 5\"", {"5 outputs", "needs 3"}},
    {"LSTM of words", letter_data, "\"lstm 6\", \"dense 4\"", {"layer \"lstm\"", "steps", "embedding"}},
    {"vocabulary of another size",
     letter_data,
     "\"embedding 3 5\", \"lstm 6\", \"dense 4\"",
     {"layer \"embedding\"", "has 3 words"}},
    {"one class for a row of targets",
     letter_data,
     "\"embedding 4 5\", \"lstm 6\", \"last_step\", \"dense 4\"",
     {"a target for each of 8 steps"}},
    {"heads that do not divide",
     letter_data,
     "\"embedding 4 5\", \"attention 2\", \"dense 4\"",
     {"layer \"attention\"", "5 numbers", "2 heads"}},
    {"norms of a step",
     letter_data,
     "\"embedding 4 5\", \"filter_response_norm\", \"dense 4\"",
     {"layer \"filter_response_norm\"", "8 x 5"}},
    {"text shorter than a row",
     "file = \"letters.txt\", text = { unit = \"characters\", steps = 800 }",
     "\"embedding 4 5\", \"dense 4\"",
     {"500 tokens", "800"}},
    {"another alphabet",
     letter_data + ", test_file = \"greek.txt\"",
     "\"embedding 4 5\", \"dense 4\"",
     {"greek.txt", "line 1", "\"\u03b1\"", "<unk>"}},
    {"other columns", "file = [\"images.csv\", \"narrow.csv\"]", "\"dense 3\"", {"narrow.csv", "3 columns", "37"}},
    {"shape of another size",
     "file = \"images.csv\", shape = [1, 5, 7]",
     "\"flatten\", \"dense 3\"",
     {"data.shape = [1, 5, 7]", "36 numbers"}},
    {"pictures of two sizes",
     "file = \"pictures\"",
     "\"flatten\", \"dense 2\"",
     {"3 x 5 pixels", "4 x 4", "must be of one size"}},
};

void write_pictures(const Desk& desk) {
  for (const auto& [name, height, width] : {std::tuple{"cats", 4u, 4u}, {"dogs", 3u, 5u}}) {
    std::filesystem::create_directories(desk.path("pictures/" + std::string(name)));
    const std::vector<unsigned char> grey(height * width, 100);
    desk.write("pictures/" + std::string(name) + "/one.png", png_of(grey, width, height, PNG_FORMAT_GRAY));
  }
}

TEST(Misuse, EveryMistakeInANetworkOfLayersGetsOneSentenceWithItsSizes) {
  const Desk desk;
  write_layer_data(desk);
  write_pictures(desk);
  desk.write("narrow.csv", "a,b,label\n1,2,0\n2,1,1\n");
  desk.write("greek.txt", "abcdabcdabcd\u03b1\u03b2\u03b3");
  for (const LayerMistake& m : layer_mistakes) {
    desk.write("run.toml",
               fmt::format("steps = 2\ndata = {{ {} }}\nmodel = {{ loss = \"softmax_cross_entropy\", prior = "
                           "1.0, layers = [{}] }}\n",
                           m.data, m.layers));
    const Outcome got = desk.kelvin("sample run.toml");
    EXPECT_EQ(got.code, 1) << m.name;
    for (const std::string& said : m.said) EXPECT_THAT(got.error, HasSubstr(said)) << m.name;
    EXPECT_EQ(std::count(got.error.begin(), got.error.end(), '\n'), 1) << m.name << ": " << got.error;
    EXPECT_EQ(got.out, "") << m.name;
    EXPECT_FALSE(std::filesystem::exists(desk.path("runs"))) << m.name << " left a run behind";
  }
}

TEST(Misuse, UnknownCommandsAndFlagsExitWithTwo) {
  const Desk desk;
  for (const char* arguments :
       {"", "smaple run.toml", "sample", "sample run.toml --stpes 3", "sample run.toml --threads 0"})
    EXPECT_EQ(desk.kelvin(arguments).code, 2) << arguments;
}

TEST(Misuse, AnExistingRunIsKept) {
  const Desk desk;
  desk.write("data.csv", rows);
  desk.write("run.toml", good);
  ASSERT_EQ(desk.kelvin("sample run.toml -o run").code, 0);
  const std::string before = desk.read("run/run.json");
  const Outcome again = desk.kelvin("sample run.toml -o run");
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.error, HasSubstr("exists already"));
  EXPECT_EQ(desk.read("run/run.json"), before);
  EXPECT_EQ(desk.kelvin("sample run.toml -o run --force --set part.all.step=-1").code, 1) << "a mistake with --force";
  EXPECT_EQ(desk.read("run/run.json"), before) << "must not cost the earlier run";
  EXPECT_EQ(desk.kelvin("sample run.toml -o run --force").code, 0);
  std::filesystem::create_directory(desk.path("precious"));
  desk.write("precious/thesis.tex", "all of it");
  EXPECT_EQ(desk.kelvin("sample run.toml -o precious --force").code, 1);
  EXPECT_EQ(desk.read("precious/thesis.tex"), "all of it");
}

TEST(Misuse, ABlowUpStopsWithAdviceAndKeepsWhatWasDrawn) {
  const Desk desk;
  desk.write("run.toml",
             "steps = 100000\nevery = 1\nlog_every = 10\nmodel = { toy = \"gaussian\" }\npart.all = { step = 2.2, "
             "temperature = 1 }\n");
  const Outcome got = desk.kelvin("sample run.toml -q -o run");
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.error, HasSubstr("try a smaller step"));
  EXPECT_EQ(desk.kelvin("summary run").code, 0);
  EXPECT_GT(desk.read("run/samples.zarr/posterior/q/0.0.0").size(), 100u);
}

TEST(Misuse, ImproperPosteriorsAreRemarkedOn) {
  const Desk desk;
  desk.write("data.csv", rows);
  desk.write("run.toml", with(", prior = 1.0", ""));
  EXPECT_THAT(desk.kelvin("sample run.toml").error, HasSubstr("normalis"));
  EXPECT_THAT(desk.kelvin("train run.toml -o trained").error, testing::Not(HasSubstr("normalis")));
}

TEST(Misuse, PosteriorsWithBatchNormAreRemarkedOn) {
  const Desk desk;
  write_layer_data(desk);
  desk.write("run.toml", "steps = 2\n" + layer_runs[0].settings);
  EXPECT_THAT(desk.kelvin("sample run.toml").error,
              AllOf(HasSubstr("layer \"batch_norm\""), HasSubstr("use filter_response_norm or group_norm")));
  EXPECT_THAT(desk.kelvin("train run.toml -o trained").error, testing::Not(HasSubstr("use filter_response_norm")));
  desk.write("run.toml", "steps = 2\n" + layer_runs[2].settings);
  EXPECT_THAT(desk.kelvin("sample run.toml -o other").error, testing::Not(HasSubstr("use filter_response_norm")));
}

}  // namespace
}  // namespace kelvin
