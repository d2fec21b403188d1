// SPDX-License-Identifier: Apache-2.0
// Changes of images at random in training. What happens to row r at evaluation n is a pure function of (stream of n,
// r). To add one, add a row to `augmentations` in augmentation.cpp.
#pragma once
#include "kelvin/core/choice.h"
#include "kelvin/core/noise.h"
#include "kelvin/data/dataset.h"

namespace kelvin {

// An image in memory: its channels last, in stored units.
template <class Real>
struct Image {
  Real* pixels;
  std::size_t channels, height, width;
  const Real* black;  // of each channel
  Real* line(std::size_t y) const { return pixels + y * width * channels; }
};

// The numbers that a change draws for an image: uniform in (0, 1).
struct ImageDraws {
  Stream stream;
  std::size_t first;
  double operator[](std::size_t k) const { return uniform(stream, first + k); }
};

struct AugmentationRow {
  std::string_view name;
  std::span<const Parameter> parameters;  // in the order in which a text gives them: "crop 4"
  void (*on_float)(const Image<float>&, const std::vector<double>& numbers, const ImageDraws&);
  void (*on_double)(const Image<double>&, const std::vector<double>& numbers, const ImageDraws&);
  std::string_view meaning;
};
std::span<const AugmentationRow> augmentations();

// One after another.
class Augmentation {
 public:
  Augmentation() = default;
  Augmentation(const std::vector<std::string>& texts, const Dataset& images);
  bool empty() const { return changes_.empty(); }
  template <class Real>
  void operator()(Real* image, std::size_t row, const Stream& of_evaluation) const;

 private:
  struct Change {
    const AugmentationRow* row;
    std::vector<double> numbers;
  };
  std::vector<Change> changes_;
  Shape shape_;
  std::vector<double> black_;
  std::vector<float> black_float_;
};

}  // namespace kelvin
