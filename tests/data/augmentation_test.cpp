// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/augmentation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/files.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Images of 2 channels, 3 x 4, in which every number is another; black is -1 in the first channel and 0.5 in the
// second.
Dataset two_channels() {
  Dataset d;
  d.shape = {2, 3, 4};
  for (std::size_t j = 0; j < d.shape.size(); ++j) {
    d.input_units.mean.push_back(j % 2 ? -1 : 2);
    d.input_units.scale.push_back(2);
  }
  return d;
}

std::vector<double> numbered() {
  std::vector<double> image(24);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = 100 + double(i);
  return image;
}

std::vector<double> changed(const std::string& text, std::size_t row, std::uint64_t evaluation = 0) {
  std::vector<double> image = numbered();
  Augmentation({text}, two_channels())(image.data(), row, {.key = 1, .walker = 0, .step = evaluation});
  return image;
}

double at(const std::vector<double>& image, long y, long x, long c) {
  const bool inside = y >= 0 && y < 3 && x >= 0 && x < 4;
  return inside ? image[std::size_t((y * 4 + x) * 2 + c)] : c == 0 ? -1 : 0.5;
}

TEST(Augmentation, IsAFunctionOfRowAndEvaluationAlone) {
  for (const AugmentationRow& row : augmentations()) {
    const std::string name = row.name == "cutout" ? "cutout 1" : std::string(row.name);
    std::set<std::vector<double>> rows, evaluations;
    for (std::size_t k = 0; k < 50; ++k) {
      rows.insert(changed(name, k));
      evaluations.insert(changed(name, 0, k));
      EXPECT_EQ(changed(name, k, 3), changed(name, k, 3)) << name;
    }
    EXPECT_GT(rows.size(), 1) << name;
    EXPECT_GT(evaluations.size(), 1) << name;
  }
}

TEST(Augmentation, FlipTurnsHalfOfTheImagesRound) {
  int flipped = 0;
  for (std::size_t row = 0; row < 1000; ++row) {
    const auto image = changed("flip", row);
    if (image == numbered()) continue;
    ++flipped;
    for (long y = 0; y < 3; ++y)
      for (long x = 0; x < 4; ++x)
        for (long c = 0; c < 2; ++c) ASSERT_EQ(at(image, y, x, c), at(numbered(), y, 3 - x, c));
  }
  EXPECT_NEAR(flipped, 500, 5 * std::sqrt(250)) << "five standard errors of a coin";
}

// Each of the shifts, by up to 5 pixels, more than the image is high or wide, occurs, and is a shift.
TEST(Augmentation, CropShiftsAndFillsWithBlack) {
  std::map<std::pair<long, long>, int> seen;
  for (std::size_t row = 0; row < 4000; ++row) {
    const auto image = changed("crop 5", row);
    bool found = false;
    for (long down = -5; down <= 5 && !found; ++down)
      for (long right = -5; right <= 5 && !found; ++right) {
        found = true;
        for (long y = 0; y < 3; ++y)
          for (long x = 0; x < 4; ++x)
            for (long c = 0; c < 2; ++c) found &= at(image, y, x, c) == at(numbered(), y + down, x + right, c);
        if (found) ++seen[{down, right}];
      }
    ASSERT_TRUE(found) << row;
  }
  for (long down = -2; down <= 2; ++down)
    for (long right = -3; right <= 3; ++right) {
      const int count = seen[{down, right}];
      EXPECT_NEAR(count, 4000 / 121.0, 5 * std::sqrt(4000 / 121.0)) << down << " " << right;
    }
}

TEST(Augmentation, BrightnessMultipliesWhatIsAboveBlack) {
  std::set<double> factors;
  for (std::size_t row = 0; row < 200; ++row) {
    const auto image = changed("brightness 0.25", row), before = numbered();
    const double factor = (image[0] + 1) / (before[0] + 1);
    for (std::size_t i = 0; i < image.size(); ++i) {
      const double black = i % 2 ? 0.5 : -1;
      EXPECT_NEAR((image[i] - black) / (before[i] - black), factor, 1e-12);
    }
    factors.insert(factor);
  }
  EXPECT_GE(*factors.begin(), 0.75);
  EXPECT_LE(*factors.rbegin(), 1.25);
  EXPECT_LT(*factors.begin(), 0.8);
  EXPECT_GT(*factors.rbegin(), 1.2);
}

TEST(Augmentation, ContrastKeepsTheMeanOfEachChannel) {
  const auto image = changed("contrast 0.5", 3), before = numbered();
  for (const std::size_t c : {0, 1}) {
    double sum = 0, spread = 0;
    for (std::size_t i = c; i < image.size(); i += 2) sum += image[i] - before[i];
    EXPECT_NEAR(sum, 0, 1e-9);
    spread = (image[22 + c] - image[c]) / (before[22 + c] - before[c]);
    EXPECT_NE(spread, 1);
    EXPECT_THAT(spread, testing::AllOf(testing::Ge(0.5), testing::Le(1.5)));
  }
}

TEST(Augmentation, CutoutBlanksASquareCutAtTheEdges) {
  std::set<std::ptrdiff_t> sizes;
  for (std::size_t row = 0; row < 300; ++row) {
    const auto image = changed("cutout 2", row);
    sizes.insert(std::ranges::count(image, 0.0));
  }
  EXPECT_THAT(sizes, ElementsAre(2, 4, 8)) << "one, two or four pixels of two channels";
}

TEST(Augmentation, FloatAndDoubleAreChangedAlike) {
  for (const AugmentationRow& row : augmentations()) {
    std::vector<float> image(24);
    std::ranges::copy(numbered(), image.begin());
    Augmentation({std::string(row.name)}, two_channels())(image.data(), 5, {.key = 1, .walker = 0, .step = 0});
    const auto exact = changed(std::string(row.name), 5);
    for (std::size_t i = 0; i < image.size(); ++i) EXPECT_NEAR(image[i], exact[i], 1e-4) << row.name;
  }
}

TEST(Augmentation, WhatCannotBeIsRefused) {
  const Dataset images = two_channels();
  EXPECT_THAT(error_of([&] { Augmentation({"flop"}, images); }), HasSubstr("known: flip, crop"));
  EXPECT_THAT(error_of([&] { Augmentation({"flip 2"}, images); }), HasSubstr("at most 0 numbers"));
  EXPECT_THAT(error_of([&] { Augmentation({"crop -1"}, images); }), HasSubstr("at least 0"));
  EXPECT_THAT(error_of([&] { Augmentation({"flip"}, Dataset()); }), HasSubstr("give data.shape"));
  EXPECT_TRUE(Augmentation({}, Dataset()).empty());
}

}  // namespace
}  // namespace kelvin
