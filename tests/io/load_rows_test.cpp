// SPDX-License-Identifier: Apache-2.0
// Rows of another file, read with a run's own conventions.
#include "kelvin/io/load.h"
#include "kelvin/io/npy.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;

struct Loaded {
  Directory directory;
  DataSettings settings;
  Dataset train;
  void load_train(const std::string& text, bool classes) {
    settings.file = directory.write("train.csv", text);
    train = load(settings, classes, 1, {}).train;
  }
  Dataset rows(const std::string& text, const std::string& labels = "") const {
    return load_rows(directory.write("rows", text), labels.empty() ? "" : directory.write("labels", labels), settings,
                     train);
  }
};

const std::string kinds = "a,b,kind\n1,2,red\n3,6,blue\n5,1,green\n";

TEST(LoadRows, FindsInputsByNameInAnyOrderAndTargetsIfTheyAreThere) {
  Loaded l;
  l.settings.standardise = "inputs";
  l.load_train(kinds, true);  // a has mean 3 and variance 8/3
  const Dataset with = l.rows("kind,extra,b,a\nred,7,3,3\ngreen,7,3,5\n");
  EXPECT_EQ(with.targets, (Numbers{2, 1})) << "blue, green, red";
  EXPECT_NEAR(with.inputs[0], 0, 1e-12) << "b counts second, in the units of the training rows";
  EXPECT_NEAR(with.inputs[2], 2 / std::sqrt(8.0 / 3), 1e-12);
  const Dataset without = l.rows("b,a\n3,3\n");
  EXPECT_TRUE(without.targets.empty());
  EXPECT_EQ(without.inputs, (Numbers{with.inputs[0], with.inputs[1]}));
  EXPECT_EQ(without.classes, l.train.classes);
  EXPECT_EQ(without.target_names, l.train.target_names);
}

TEST(LoadRows, FilesWithoutNamesGoByPlace) {
  Loaded l;
  l.load_train("1,2,0.5\n3,6,1.5\n", false);
  EXPECT_TRUE(l.rows("7,8\n9,10\n").targets.empty());
  EXPECT_EQ(l.rows("7,8\n9,10\n").inputs, (Numbers{7, 8, 9, 10}));
  EXPECT_EQ(l.rows("7,8,9\n").targets, (Numbers{9}));
  const Numbers values = {7, 8, 9, 10, 11, 12};
  write_npy(l.directory.path("three.npy"), ArrayView<double>{{2, 3}, values});
  EXPECT_EQ(load_rows(l.directory.path("three.npy"), "", l.settings, l.train).targets, (Numbers{9, 12}));
  write_npy(l.directory.path("two.npy"), ArrayView<double>{{3, 2}, values});
  EXPECT_EQ(load_rows(l.directory.path("two.npy"), "", l.settings, l.train).inputs, values);
  EXPECT_EQ(l.rows("7,8\n", "4\n").targets, (Numbers{4})) << "from a file of their own";

  Loaded first;
  first.settings.targets = {{"0"}};
  first.load_train("0.5,1,2\n1.5,3,6\n", false);
  EXPECT_EQ(first.rows("9,7,8\n").targets, (Numbers{9})) << "laid out as the run's own file";
  EXPECT_EQ(first.rows("9,7,8\n").inputs, (Numbers{7, 8}));
}

TEST(LoadRows, DerivedInputsAndUnitsOfTargetsAreMadeAgain) {
  Loaded l;
  l.settings.derived = {"x^2"};
  l.settings.standardise = "targets";
  l.load_train("x,y\n1,10\n2,30\n", false);
  const Dataset rows = l.rows("x,y\n3,40\n");
  EXPECT_EQ(rows.inputs, (Numbers{3, 9}));
  EXPECT_EQ(rows.targets, (Numbers{2})) << "mean 20, deviation 10";
  EXPECT_EQ(l.rows("x\n3\n").inputs, (Numbers{3, 9}));
}

TEST(LoadRows, OneHotColumnsAreClassesInTheirOwnOrder) {
  Loaded l;
  l.settings.targets = {{"cat"}, {"dog"}};
  l.load_train("x,cat,dog\n1,1,0\n2,0,1\n", true);
  EXPECT_EQ(l.rows("dog,cat,x\n1,0,5\n0,1,6\n").targets, (Numbers{1, 0}));
}

TEST(LoadRows, ChosenClassesLeaveOthersOut) {
  Loaded l;
  l.settings.classes = {{"red"}, {"blue"}};
  l.load_train(kinds, true);
  const Dataset rows = l.rows("a,b,kind\n1,1,green\n2,2,blue\n");
  EXPECT_EQ(rows.rows, 1u);
  EXPECT_EQ(rows.targets, (Numbers{1}));
  EXPECT_THAT(error_of([&] { l.rows("a,b,kind\n1,1,green\n"); }), HasSubstr("no row is of one of the classes"));
}

TEST(LoadRows, RefusesWhatDoesNotFit) {
  Loaded l;
  l.load_train(kinds, true);
  const auto refused = [&](const std::string& text, const std::string& labels = "") {
    return error_of([&] { l.rows(text, labels); });
  };
  EXPECT_THAT(refused("a,c\n1,2\n"), HasSubstr("its columns are a, c, but the run's inputs are a, b"));
  EXPECT_THAT(refused("1,2,3,4\n"), HasSubstr("the run's inputs are a, b"));
  EXPECT_THAT(refused("a,b,kind\n1,2,pink\n"), HasSubstr("label \"pink\" does not occur in the training rows"));
  EXPECT_THAT(refused("a,b\n1,nan\n"), HasSubstr("must be finite"));
  EXPECT_THAT(refused("a,b\n1,2\n", "red\nblue\n"), HasSubstr("equally many"));
  EXPECT_THAT(refused("a,b\n1,2\n", "1,2\n"), HasSubstr("has 2 target columns, but the run has 1 (kind)"));
  EXPECT_THAT(error_of([&] { load_rows(l.directory.path("lost.csv"), "", l.settings, l.train); }),
              HasSubstr("lost.csv"));
}

}  // namespace
}  // namespace kelvin
