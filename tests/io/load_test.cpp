// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/load.h"

#include <cmath>
#include <cstdlib>

#include "kelvin/io/npy.h"
#include "tests/loading.h"

namespace kelvin {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ---- targets that are the inputs

TEST_F(Load, AnAutoencoderAimsAtItsInputs) {
  const Loaded all = csv("a,b\n1,2\n5,6\n3,4\n", "targets_are = \"inputs\"\ntest = 1\nstandardise = \"inputs\"");
  EXPECT_EQ(all.train.rows, 2);
  EXPECT_THAT(all.train.target_names, ElementsAre("a", "b"));
  for (const Dataset* d : {&all.train, &all.test}) {
    EXPECT_EQ(d->targets, d->inputs);
    EXPECT_EQ(d->target_units.mean, d->input_units.mean);
    EXPECT_FALSE(d->has_classes());
  }
  const std::string labels = file("labels.csv", "cat\ndog\n"), rows = file("rows.csv", "a,b\n1,2\n3,4\n");
  const DataSettings s = settings("file = \"FILE\"\nlabels_file = \"" + labels + "\"\ntargets_are = \"inputs\"", rows);
  EXPECT_THAT(loaded(s, true).train.targets, ElementsAre(1, 2, 3, 4)) << "labels are not looked at";
  const Dataset more = load_rows(file("more.csv", "7,8\n"), "", s, all.train);
  EXPECT_EQ(more.targets, more.inputs);
  EXPECT_THAT(csv_error("1,2\n", "targets_are = \"inputs\"\nstandardise = \"both\""),
              HasSubstr("the targets are the inputs"));
}

// ---- columns

TEST_F(Load, TheLastColumnIsTheTarget) {
  const Dataset d = csv("a,b,c\n1,2,3.5\n4,5,6\n").train;
  EXPECT_EQ(d.rows, 2);
  EXPECT_THAT(d.input_names, ElementsAre("a", "b"));
  EXPECT_THAT(d.target_names, ElementsAre("c"));
  EXPECT_THAT(d.inputs, ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(d.targets, ElementsAre(3.5, 6));
  EXPECT_FALSE(d.has_classes());
}

TEST_F(Load, ColumnsAreChosenByNameOrNumber) {
  const std::string text = "id,a,b,c\nu,1,2,3\nv,4,5,6\n";
  const Dataset d = csv(text, "inputs = [\"b\", 3]\ntargets = \"a\"").train;
  EXPECT_THAT(d.inputs, ElementsAre(2, 3, 5, 6)) << "and the text column id is never read";
  EXPECT_THAT(d.targets, ElementsAre(1, 4));
  EXPECT_THAT(csv(text, "inputs = \"1\"\ntargets = [2, \"c\"]").train.targets, ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(csv_error(text), HasSubstr("d.csv line 2: column \"id\" must hold numbers, not \"u\""));
  EXPECT_THAT(csv_error(text, "inputs = [\"bb\"]"), HasSubstr("no column \"bb\"; its columns are id, a, b, c"));
  EXPECT_THAT(csv_error(text, "targets = 4"), HasSubstr("no column \"4\""));
  EXPECT_THAT(csv_error(text, "inputs = [\"a\", \"c\"]"), HasSubstr("column \"c\" is both an input and a target"));
  EXPECT_THAT(csv_error("1\n2\n"), HasSubstr("inputs and targets need one each"));
}

TEST_F(Load, DerivedInputsAreAppended) {
  const Dataset d = csv("x1,x10,y\n2,3,0\n-1,4,0\n",
                        "derived = [\"x1^2\", \"sin(x1)\", \" x1 * x10 \", \"exp(x1)*x10^3\", \"sqrt(abs(x1))\"]")
                        .train;
  EXPECT_THAT(d.input_names,
              ElementsAre("x1", "x10", "x1^2", "sin(x1)", " x1 * x10 ", "exp(x1)*x10^3", "sqrt(abs(x1))"));
  const double expected[] = {2,  3, 4, std::sin(2),  6,  std::exp(2) * 27,  std::sqrt(2),
                             -1, 4, 1, std::sin(-1), -4, std::exp(-1) * 64, 1};
  ASSERT_EQ(d.inputs.size(), std::size(expected));
  for (std::size_t i = 0; i < d.inputs.size(); ++i) EXPECT_DOUBLE_EQ(d.inputs[i], expected[i]) << i;
}

TEST_F(Load, ADerivedInputTakesTheLongestColumnNameThatFits) {
  EXPECT_THAT(csv("x1,x10,y\n2,3,0\n", "derived = \"x10^2\"").train.inputs, ElementsAre(2, 3, 9));
  EXPECT_THAT(csv("x10,x1,y\n3,2,0\n", "derived = \"x10^2\"").train.inputs, ElementsAre(3, 2, 9));
}

TEST_F(Load, EveryDerivedFunctionIsWhatItSays) {
  const Dataset d =
      csv("x,y\n0.5,0\n", "derived = [\"cos(x)\", \"tan(x)\", \"tanh(x)\", \"log(x)\", \"abs(x)\"]").train;
  EXPECT_THAT(d.inputs, ElementsAre(0.5, std::cos(0.5), std::tan(0.5), std::tanh(0.5), std::log(0.5), 0.5));
}

TEST_F(Load, MistakesInDerivedInputsAreNamed) {
  const auto derived = [&](const std::string& e) { return csv_error("x1,x2,y\n-1,2,3\n", "derived = \"" + e + "\""); };
  EXPECT_THAT(derived("sinh(x1)"), HasSubstr("derived input \"sinh(x1)\" cannot be understood at \"sinh(x1)\""));
  EXPECT_THAT(derived("x3^2"), HasSubstr("columns: x1, x2; functions: sin, cos"));
  for (const char* e : {"", "x1^", "x1*", "x1+x2", "sin(x1", "sin()", "x1 x2", "x1^x2", "y"})
    EXPECT_THAT(derived(e), HasSubstr("cannot be understood")) << e;
  EXPECT_THAT(derived("log(x1)"), HasSubstr("derived input \"log(x1)\" is"));
  EXPECT_THAT(derived("x1^0.5"), HasSubstr("every number must be finite"));
}

// ---- classes

TEST_F(Load, WholeNumbersBecomeClassesInAscendingOrderIfWanted) {
  const std::string text = "1,10\n2,-1\n3,2\n4,10\n";
  const Dataset d = csv(text, "", true).train;
  EXPECT_THAT(d.classes, ElementsAre("-1", "2", "10"));
  EXPECT_THAT(d.targets, ElementsAre(2, 0, 1, 2));
  EXPECT_FALSE(csv(text).train.has_classes());
  EXPECT_THAT(csv(text, "targets_are = \"classes\"").train.classes, ElementsAre("-1", "2", "10"));
  EXPECT_FALSE(csv(text, "targets_are = \"numbers\"", true).train.has_classes());
  EXPECT_THAT(csv("1,+1\n2,-1\n", "", true).train.classes, ElementsAre("-1", "1"));
  EXPECT_THAT(csv("1,1.0\n2,0\n3,-0\n", "", true).train.classes, ElementsAre("0", "1"));
  EXPECT_THAT(csv_error("1,0\n2,0.5\n", "", true), HasSubstr("d.csv line 2: target 0.5 is no class"));
}

TEST_F(Load, TextsAreClassesWhateverTheLoss) {
  for (const bool wants : {false, true}) {
    const Dataset d = csv("x,kind\n1,dog\n2,cat\n3,dog\n", "", wants).train;
    EXPECT_THAT(d.classes, ElementsAre("cat", "dog"));
    EXPECT_THAT(d.targets, ElementsAre(1, 0, 1));
  }
  EXPECT_THAT(csv_error("1,dog\n2,cat\n", "targets_are = \"numbers\""),
              HasSubstr("d.csv line 1: column \"y\" must hold numbers, not \"dog\""));
}

TEST_F(Load, ATypingErrorAmongNumbersIsNoClass) {
  const std::string text = "1,0.5\n2,1.5x\n";
  EXPECT_THAT(csv_error(text), HasSubstr("d.csv line 2: column \"y\" must hold numbers, not \"1.5x\""));
  EXPECT_THAT(csv("1,1\n2,a\n", "", true).train.classes, ElementsAre("1", "a")) << "unless classes are wanted";
  EXPECT_THAT(csv_error("1,a\n2,nan\n", "", true), HasSubstr("every number must be finite"));
  EXPECT_THAT(csv_error("1,a\n2,\n", "", true), HasSubstr("line 2: column \"y\" is empty"));
}

TEST_F(Load, OneHotColumnsBecomeClassesWithARemark) {
  const std::string text = "x,red,green,blue\n1,0,0,1\n2,1,0,0\n", targets = "targets = [\"red\", \"green\", \"blue\"]";
  const Loaded l = csv(text, targets, true);
  EXPECT_THAT(l.train.classes, ElementsAre("red", "green", "blue"));
  EXPECT_THAT(l.train.targets, ElementsAre(2, 0));
  EXPECT_EQ(l.train.target_count(), 1);
  EXPECT_THAT(l.remarks, ElementsAre(HasSubstr("red, green, blue are one-hot")));
  EXPECT_EQ(csv(text, targets).train.target_count(), 3) << "numbers stay numbers";
  EXPECT_THAT(csv_error("x,a,b\n1,1,1\n", "targets = [\"a\", \"b\"]", true), HasSubstr("are not one-hot"));
  EXPECT_THAT(csv_error("x,a,b\n1,0.5,1\n", "targets = [\"a\", \"b\"]", true), HasSubstr("are not one-hot"));
}

TEST_F(Load, ChosenClassesAreNumberedInTheOrderGiven) {
  const std::string text = "1,7\n2,8\n3,9\n4,7\n";
  const Dataset d = csv(text, "classes = [9, 7]", true).train;
  EXPECT_THAT(d.classes, ElementsAre("9", "7"));
  EXPECT_THAT(d.inputs, ElementsAre(1, 3, 4));
  EXPECT_THAT(d.targets, ElementsAre(1, 0, 1));
  EXPECT_THAT(csv("1,a\n2,b\n3,c\n", "classes = [\"c\"]").train.inputs, ElementsAre(3));
  EXPECT_THAT(csv_error(text, "classes = [5]", true), HasSubstr("nothing is left of class \"5\""));
  EXPECT_THAT(csv_error(text, "classes = [7, 7]", true), HasSubstr("\"7\" is given twice"));
  EXPECT_THAT(csv_error(text, "classes = [7]"), HasSubstr("the targets are numbers"));
}

// ---- further files

TEST_F(Load, TestAndValidationFilesUseTheClassesOfTheTrainingFile) {
  const std::string train = "1,a\n2,b\n3,c\n";
  const std::string files =
      "test_file = \"" + file("t.csv", "5,c\n6,a\n") + "\"\nvalidation_file = \"" + file("v.csv", "7,b\n") + "\"\n";
  const Loaded l = csv(train, files);
  EXPECT_THAT(l.test.targets, ElementsAre(2, 0));
  EXPECT_THAT(l.validation.targets, ElementsAre(1));
  EXPECT_EQ(l.test.classes, l.train.classes);
  const Loaded kept = csv(train, files + "classes = [\"c\", \"b\"]");
  EXPECT_THAT(kept.test.inputs, ElementsAre(5));
  EXPECT_THAT(kept.test.targets, ElementsAre(0));
  file("t.csv", "5,c\n6,d\n");
  EXPECT_THAT(csv_error(train, files), HasSubstr("t.csv line 2: label \"d\" does not occur in the training rows"));
}

TEST_F(Load, FurtherFilesMustHaveTheSameColumns) {
  const auto against = [&](const std::string& test) {
    return csv_error("a,b,y\n1,2,3\n", "test_file = \"" + file("t.csv", test) + "\"");
  };
  EXPECT_EQ(against("a,b,y\n1,2,3\n"), "");
  EXPECT_EQ(against("1,2,3\n"), "") << "names may be missing";
  EXPECT_THAT(against("1,2\n"), HasSubstr("t.csv\" has 2 columns but"));
  EXPECT_THAT(against("b,a,y\n1,2,3\n"), HasSubstr("they must agree"));
}

TEST_F(Load, TargetsMayStandInAFileOfTheirOwn) {
  const std::string labels = "labels_file = \"" + file("l.csv", "0.5\n1.5\n") + "\"";
  const Loaded l = csv("1,2\n3,4\n", labels);
  EXPECT_THAT(l.train.inputs, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(l.train.targets, ElementsAre(0.5, 1.5));
  EXPECT_THAT(l.train.target_names, ElementsAre("y"));
  EXPECT_THAT(csv_error("1,2\n", labels), HasSubstr("has 1 rows but"));
  EXPECT_THAT(csv_error("1,2\n3,4\n", labels + "\ntest_file = \"x.csv\""),
              HasSubstr("labels_file and test_labels_file go together"));
  EXPECT_THAT(csv_error("1,2\n", "test_labels_file = \"x.csv\""), HasSubstr("without test_file"));
}

// ---- arrays

TEST_F(Load, NpyFilesAreTablesOrInputs) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6}, y = {0, 1};
  write_npy<double>(dir.path("x.npy"), {{2, 3}, x});
  write_npy<double>(dir.path("y.npy"), {{2}, y});
  const Dataset table = loaded(settings("file = \"FILE\"", dir.path("x.npy"))).train;
  EXPECT_THAT(table.input_names, ElementsAre("x1", "x2"));
  EXPECT_THAT(table.inputs, ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(table.targets, ElementsAre(3, 6));
  const auto both = settings("file = \"FILE\"\nlabels_file = \"" + dir.path("y.npy") + "\"", dir.path("x.npy"));
  EXPECT_THAT(loaded(both, true).train.inputs, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(loaded(both, true).train.classes, ElementsAre("0", "1"));
  auto some = both;
  some.inputs = {{"2"}};
  EXPECT_THAT(loaded(some).train.inputs, ElementsAre(3, 6));
  const std::vector<double> bad = {1, NAN, 3, 4};
  write_npy<double>(dir.path("bad.npy"), {{2, 2}, bad});
  EXPECT_THAT(message(settings("file = \"FILE\"", dir.path("bad.npy"))), HasSubstr("row 1: column \"y\" holds nan"));
}

TEST_F(Load, NpzArraysAreFoundByName) {
  const std::vector<double> x = {1, 2, 3, 4}, y = {0, 1};
  const auto npz = [&](const char* a, const char* b, const std::string& toml = "") {
    write_npz<double>(dir.path("d.npz"), {{a, {{2, 2}, x}}, {b, {{2}, y}}});
    return loaded(settings("file = \"FILE\"\n" + toml, dir.path("d.npz"))).train;
  };
  for (const Dataset& d : {npz("x", "y"), npz("X", "y"), npz("wide", "narrow"), npz("a", "b"),
                           npz("data", "label", "inputs = \"data\"\ntargets = \"label\"")}) {
    EXPECT_THAT(d.inputs, ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(d.targets, ElementsAre(0, 1));
  }
  EXPECT_THAT(error_of([&] { npz("x", "y", "inputs = \"xx\"\ntargets = \"y\""); }),
              HasSubstr("no array \"xx\"; it has x, y"));
  write_npz<double>(dir.path("d.npz"), {{"a", {{2}, y}}, {"b", {{2}, y}}});
  EXPECT_THAT(message(settings("file = \"FILE\"", dir.path("d.npz"))), HasSubstr("which of the arrays a, b"));
}

std::string images(unsigned char n) {
  std::string s = {0, 0, 8, 3, 0, 0, 0, char(n), 0, 0, 0, 1, 0, 0, 0, 2};
  for (int i = 0; i < n; ++i) s += {char(i), char(255)};
  return s;
}
std::string labels(const std::string& list) { return std::string{0, 0, 8, 1, 0, 0, 0, char(list.size())} + list; }

TEST_F(Load, IdxImagesAreScaledAndLabelsAreNot) {
  const auto s =
      settings("file = \"FILE\"\nlabels_file = \"" + file("l", labels({3, 7, 3})) + "\"", file("i", images(3)));
  const Dataset d = loaded(s, true).train;
  EXPECT_THAT(d.inputs, ElementsAre(0, 1, 1 / 255.0, 1, 2 / 255.0, 1));
  EXPECT_THAT(d.classes, ElementsAre("3", "7"));
  EXPECT_THAT(d.targets, ElementsAre(0, 1, 0));
  EXPECT_THAT(message(settings("file = \"FILE\"", dir.path("i"))),
              HasSubstr("has no targets; give them with labels_file"));
  file("l", labels({3, 7}));
  EXPECT_THAT(message(s), HasSubstr("has 3 rows but"));
}

TEST_F(Load, ADirectoryHoldsTheFourFilesOfMnist) {
  file("train-images-idx3-ubyte", images(3));
  dir.write_gz("train-labels-idx1-ubyte.gz", labels({0, 1, 2}));
  dir.write_gz("t10k-images-idx3-ubyte.gz", images(2));
  const auto s = settings("file = \"FILE\"", dir.path(""));
  EXPECT_THAT(message(s, true), HasSubstr("has no t10k-labels-idx1-ubyte or t10k-labels-idx1-ubyte.gz"));
  file("t10k-labels-idx1-ubyte", labels({2, 0}));
  const Loaded l = loaded(s, true);
  EXPECT_EQ(l.train.rows, 3);
  EXPECT_THAT(l.test.targets, ElementsAre(2, 0));
  auto more = s;
  more.test = 1;
  EXPECT_THAT(message(more, true), HasSubstr("there are test rows already"));
  more.test = 0, more.test_file = "x";
  EXPECT_THAT(message(more, true), HasSubstr("is a directory that holds labels and test rows too"));
}

// ---- generators, and the settings themselves

TEST_F(Load, GeneratorsGoThroughTheSameSettings) {
  const auto s = settings(
      "generator = { name = \"circles\", rows = 50, test = 10 }\nderived = [\"x1^2\", \"x2^2\"]\n"
      "validation = 0.2\nclasses = [1, 0]");
  const Loaded l = loaded(s, true);
  EXPECT_EQ(l.train.rows, 40);
  EXPECT_EQ(l.validation.rows, 10);
  EXPECT_EQ(l.test.rows, 10);
  EXPECT_THAT(l.train.classes, ElementsAre("1", "0"));
  for (std::size_t i = 0; i < l.train.rows; ++i)
    EXPECT_EQ(l.train.inputs[4 * i + 2] + l.train.inputs[4 * i + 3] < 9, l.train.targets[i] == 0) << "disc within ring";
  EXPECT_NE(loaded(s, true, 2).train.inputs, l.train.inputs);
  auto twice = s;
  twice.test = 5;
  EXPECT_THAT(message(twice, true), HasSubstr("there are test rows already"));
  auto file_too = s;
  file_too.test_file = "t.csv";
  EXPECT_THAT(message(file_too, true), HasSubstr("cannot be combined with a generator"));
}

TEST_F(Load, EitherAFileOrAGenerator) {
  EXPECT_THAT(message({}), HasSubstr("either file or generator, not neither"));
  EXPECT_THAT(message(settings("file = \"a.csv\"\ngenerator = \"moons\"")), HasSubstr("not both"));
  EXPECT_THAT(message(settings("file = \"no/such.csv\"")), HasSubstr("cannot read \"no/such.csv\""));
}

TEST_F(Load, WordsOutsideTheListAreRefused) {
  EXPECT_THAT(csv_error("1,2\n", "standardise = \"input\""), HasSubstr("known: none, inputs, targets, both"));
  EXPECT_THAT(csv_error("1,2\n", "targets_are = \"text\""), HasSubstr("known: auto, numbers, classes, inputs"));
  EXPECT_THAT(csv_error("1,2\n", "header = \"maybe\""), HasSubstr("known: auto, yes, no"));
  EXPECT_THAT(csv("1,2\n3,4\n", "header = \"yes\"").train.input_names, ElementsAre("1"));
}

TEST_F(Load, SettingsSurviveBeingWrittenAndRead) {
  DataSettings s = settings("file = \"a.csv\"\ninputs = [\"a\", 3]\nclasses = [7, 9]\nvalidation = 0.1\nrows = 5");
  DataSettings back;
  read(back, recorded_settings(as_value(s)), "data");
  EXPECT_EQ(as_value(back), as_value(s));
  EXPECT_EQ(back.classes[1].text, "9");
  DataSettings shorthand;
  read(shorthand, placed("b.csv", "run.toml line 1"), "data");
  EXPECT_EQ(shorthand.file.text(), "b.csv");
}

// The directory of the Debian package, or the one that the environment names.
TEST_F(Load, FashionMnist) {
  const char* given = std::getenv("KELVIN_FASHION_MNIST");
  const std::string path = given ? given : "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::is_directory(path)) GTEST_SKIP() << "no " << path << "; set KELVIN_FASHION_MNIST";
  const Loaded l = loaded(settings("file = \"FILE\"", path), true);
  EXPECT_EQ(l.train.rows, 60000);
  EXPECT_EQ(l.test.rows, 10000);
  EXPECT_EQ(l.train.input_count(), 784);
  ASSERT_EQ(l.train.classes.size(), 10);
  EXPECT_EQ(l.train.classes[9], "9");
  EXPECT_EQ(l.train.targets[0], 9) << "an ankle boot";
  for (const double c : {0, 5, 9}) EXPECT_EQ(std::count(l.train.targets.begin(), l.train.targets.end(), c), 6000);
  double sum = 0;
  for (const double x : l.train.inputs) sum += x;
  EXPECT_NEAR(sum / double(l.train.inputs.size()), 0.2860, 5e-5) << "the published mean grey value";
}

}  // namespace
}  // namespace kelvin
