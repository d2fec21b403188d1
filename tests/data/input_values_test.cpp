// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/input_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kelvin {
namespace {

using testing::ElementsAre;

const std::vector<std::uint8_t> some_bytes = {0, 51, 255, 102, 204, 153};

TEST(InputValues, BytesAreReadAsTheirNumbersExactly) {
  const InputValues values(some_bytes, 255);
  ASSERT_EQ(values.size(), 6);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], some_bytes[i] / 255.0) << i;
  EXPECT_EQ(values, InputValues(values.list())) << "the same numbers, however they are kept";
  EXPECT_FALSE(values == InputValues({0, 0, 0, 0, 0, 0}));
}

// Rows of 6 with a mean and a scale for each of 1, 2, 3 or 6 columns: the same bits as doubles get.
TEST(InputValues, StandardisedBytesAreStandardisedDoubles) {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 60; ++i) bytes.push_back(std::uint8_t(37 * i));
  for (const std::size_t period : {1, 2, 3, 6}) {
    std::vector<double> mean, scale;
    for (std::size_t j = 0; j < 6; ++j) {
      mean.push_back(0.3 + double(j % period));
      scale.push_back(0.7 / double(1 + j % period));
    }
    InputValues in_bytes(bytes, 255), in_doubles(in_bytes.list());
    in_bytes.standardise(mean, scale);
    in_doubles.standardise(mean, scale);
    EXPECT_TRUE(in_bytes.bytes() && !in_doubles.bytes());
    EXPECT_EQ(in_bytes.period(), period) << "as few tables as possible";
    EXPECT_EQ(in_bytes.list(), in_doubles.list()) << period;
  }
}

TEST(InputValues, RowsColumnsAndPartsAreTheSameInBytesAndDoubles) {
  InputValues in_bytes(some_bytes, 255), in_doubles(in_bytes.list());
  for (InputValues* values : {&in_bytes, &in_doubles})
    values->standardise(std::vector<double>{1, 2, 3}, std::vector<double>{1, 1, 2});
  const std::vector<std::size_t> rows = {1, 0, 1}, columns = {2, 0};
  EXPECT_EQ(in_bytes.rows(rows, 3), in_doubles.rows(rows, 3));
  EXPECT_EQ(in_bytes.columns(columns, 3), in_doubles.columns(columns, 3));
  EXPECT_EQ(in_bytes.rows(rows, 3)[0], in_bytes[3]);
  EXPECT_EQ(in_bytes.columns(columns, 3)[2], in_bytes[5]);
  std::vector<double> part(3);
  in_bytes.copy(2, part);
  EXPECT_THAT(part, ElementsAre(in_bytes[2], in_bytes[3], in_bytes[4]));
  InputValues both = in_bytes;
  both.append(in_bytes);
  EXPECT_TRUE(both.bytes());
  EXPECT_EQ(both.size(), 12);
  EXPECT_EQ(both[7], in_bytes[1]);
  both.append(in_doubles);
  EXPECT_FALSE(both.bytes()) << "kept in doubles where they do not go together";
  EXPECT_EQ(both[13], in_bytes[1]);
  in_bytes.keep_first(3);
  EXPECT_EQ(in_bytes.size(), 3);
}

TEST(InputValues, ChangingANumberMakesDoublesOfThemAll) {
  InputValues values(some_bytes, 1);
  values.doubles()[1] = 7;
  EXPECT_FALSE(values.bytes());
  EXPECT_THAT(values, ElementsAre(0, 7, 255, 102, 204, 153));
}

}  // namespace
}  // namespace kelvin
