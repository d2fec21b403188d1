// SPDX-License-Identifier: Apache-2.0
// Training, validation and test rows, and their units.
#include <set>

#include "tests/loading.h"

namespace kelvin {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ---- splits

std::string hundred_rows() {
  std::string text;
  for (int i = 0; i < 100; ++i) text += fmt::format("{},{}\n", i, 1000 + i);
  return text;
}

TEST_F(Load, SplitsPartitionTheRowsAndKeepTheirOrder) {
  const Loaded l = csv(hundred_rows(), "validation = 0.2\ntest = 30");
  EXPECT_EQ(l.train.rows, 50);
  EXPECT_EQ(l.validation.rows, 20);
  EXPECT_EQ(l.test.rows, 30);
  std::multiset<double> all;
  for (const Dataset* d : {&l.train, &l.validation, &l.test}) {
    EXPECT_TRUE(std::is_sorted(d->inputs.begin(), d->inputs.end()));
    for (std::size_t i = 0; i < d->rows; ++i) EXPECT_EQ(d->targets[i], d->inputs[i] + 1000) << "rows stay together";
    all.insert(d->inputs.begin(), d->inputs.end());
  }
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 100);
  EXPECT_EQ(all.size(), 100);
}

TEST_F(Load, SplitsDependOnTheSeedOnly) {
  const auto rows = [&](const std::string& toml, std::uint64_t seed) {
    return csv(hundred_rows(), "test = 0.5\n" + toml, false, seed).test.inputs;
  };
  EXPECT_EQ(rows("", 1), rows("", 1));
  EXPECT_NE(rows("", 1), rows("", 2));
  EXPECT_EQ(rows("split_seed = 7", 1), rows("split_seed = 7", 2));
  EXPECT_EQ(rows("split_seed = 2", 1), rows("", 2));
  EXPECT_THAT(rows("", 1)[0], testing::Lt(50)) << "not simply the end of the file";
}

TEST_F(Load, ImpossibleSplitsAreRefused) {
  const auto split = [&](const std::string& toml) { return csv_error(hundred_rows(), toml); };
  EXPECT_THAT(split("validation = -0.1"), HasSubstr("validation = -0.1: it must be a share in [0, 1)"));
  EXPECT_THAT(split("test = 1.5"), HasSubstr("test = 1.5: it must be a share in [0, 1)"));
  EXPECT_THAT(split("validation = 0.5\ntest = 0.5"), HasSubstr("leave no training rows of 100"));
  EXPECT_THAT(split("test = 100"), HasSubstr("leave no training rows"));
  EXPECT_THAT(split("rows = -1"), HasSubstr("rows = -1"));
  EXPECT_EQ(csv(hundred_rows(), "test = 0.001").test.rows, 1) << "a share is never nothing";
}

TEST_F(Load, RowsLimitsTheTrainingRowsAfterTheSplit) {
  const Loaded l = csv(hundred_rows(), "test = 0.1\nrows = 20"), all = csv(hundred_rows(), "test = 0.1");
  EXPECT_EQ(l.train.rows, 20);
  EXPECT_EQ(l.test.inputs, all.test.inputs);
  EXPECT_TRUE(std::equal(l.train.inputs.begin(), l.train.inputs.end(), all.train.inputs.begin()));
  EXPECT_EQ(l.train.targets.size(), 20);
}

TEST_F(Load, EmptySplitsKnowTheirColumns) {
  const Loaded l = csv("1,a\n2,b\n");
  EXPECT_EQ(l.test.rows, 0);
  EXPECT_EQ(l.test.input_names, l.train.input_names);
  EXPECT_EQ(l.test.classes, l.train.classes);
}

// ---- units

TEST_F(Load, StandardisedRowsHaveMeanZeroAndDeviationOneInTraining) {
  const Loaded l =
      csv("1,10\n3,30\n5,50\n", "standardise = \"both\"\ntest_file = \"" + file("t.csv", "7,-10\n") + "\"");
  const double s = std::sqrt(8 / 3.0);  // of 1, 3, 5
  EXPECT_THAT(l.train.inputs, ElementsAre(DoubleNear(-2 / s, 1e-15), 0, DoubleNear(2 / s, 1e-15)));
  EXPECT_THAT(l.test.inputs, ElementsAre(DoubleNear(4 / s, 1e-15))) << "in the units of the training rows";
  EXPECT_THAT(l.test.targets, ElementsAre(DoubleNear(-4 / s, 1e-15)));
  EXPECT_NEAR(l.test.input_units.original(0, l.test.inputs[0]), 7, 1e-14);
  EXPECT_NEAR(l.test.target_units.original(0, l.test.targets[0]), -10, 1e-14);
  EXPECT_NEAR(l.train.target_units.scale_of(0), 10 * s, 1e-14);
}

TEST_F(Load, StandardiseTouchesOnlyWhatItNames) {
  const std::string text = "1,10\n3,30\n";
  EXPECT_THAT(csv(text).train.inputs, ElementsAre(1, 3));
  EXPECT_THAT(csv(text, "standardise = \"inputs\"").train.inputs, ElementsAre(-1, 1));
  EXPECT_THAT(csv(text, "standardise = \"inputs\"").train.targets, ElementsAre(10, 30));
  EXPECT_THAT(csv(text, "standardise = \"targets\"").train.inputs, ElementsAre(1, 3));
  EXPECT_THAT(csv(text, "standardise = \"targets\"").train.targets, ElementsAre(-1, 1));
  EXPECT_THAT(csv("1,a\n2,b\n", "standardise = \"both\"").train.targets, ElementsAre(0, 1)) << "classes have no units";
  EXPECT_THAT(csv("1,a\n2,b\n", "standardise = \"both\"").train.target_units.mean, IsEmpty());
}

TEST_F(Load, ConstantColumnsAreShiftedWithARemark) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("{},0.1,{}\n", i, i);
  const Loaded l = csv(text, "standardise = \"inputs\"");
  EXPECT_THAT(l.remarks, ElementsAre(HasSubstr("1 of 2 columns are constant over the training rows")));
  EXPECT_THAT(l.remarks[0], HasSubstr(": b"));
  EXPECT_EQ(l.train.inputs[1], 0);
  EXPECT_EQ(l.train.input_units.scale_of(1), 1);
}

}  // namespace
}  // namespace kelvin
