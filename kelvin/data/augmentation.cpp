// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/augmentation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kelvin/core/error.h"
#include "kelvin/core/text.h"

namespace kelvin {
namespace {

constexpr std::size_t most_draws = 8;  // of one change for one image

using Numbers = std::vector<double>;

// A whole number from -reach to reach.
long shift(double u, double reach) { return long(std::floor(u * (2 * reach + 1))) - long(reach); }

template <class Real>
void flip(const Image<Real>& image, const Numbers&, const ImageDraws& u) {
  if (u[0] > 0.5) return;
  for (std::size_t y = 0; y < image.height; ++y)
    for (std::size_t left = 0, right = image.width - 1; left < right; ++left, --right)
      std::swap_ranges(image.line(y) + left * image.channels, image.line(y) + (left + 1) * image.channels,
                       image.line(y) + right * image.channels);
}

template <class Real>
void blacken(const Image<Real>& image, Real* from, Real* to) {
  for (; from != to; from += image.channels) std::copy_n(image.black, image.channels, from);
}

// Pixel (y, x) becomes that at (y + down, x + right), and black outside. Lines are visited in the order in which none
// is overwritten before it has been read.
template <class Real>
void crop(const Image<Real>& image, const Numbers& numbers, const ImageDraws& u) {
  const long down = shift(u[0], numbers[0]), right = shift(u[1], numbers[0]);
  const long height = long(image.height), width = long(image.width), channels = long(image.channels);
  const long kept = std::max(0L, width - std::abs(right));
  for (long k = 0; k < height; ++k) {
    const long y = down >= 0 ? k : height - 1 - k, from = y + down;
    Real* to = image.line(std::size_t(y));
    Real* end = to + width * channels;
    if (from < 0 || from >= height) {
      blacken(image, to, end);
      continue;
    }
    const Real* source = image.line(std::size_t(from)) + std::clamp(right, 0L, width) * channels;
    Real* target = to + std::clamp(-right, 0L, width) * channels;
    std::memmove(target, source, std::size_t(kept * channels) * sizeof(Real));
    blacken(image, to, target);
    if (right > 0) blacken(image, to + kept * channels, end);
  }
}

// x = black + f (x - black), f uniform in 1 - spread ... 1 + spread
template <class Real>
void brightness(const Image<Real>& image, const Numbers& numbers, const ImageDraws& u) {
  const Real factor = Real(1 + numbers[0] * (2 * u[0] - 1));
  const std::size_t size = image.channels * image.height * image.width;
  for (std::size_t i = 0; i < size; ++i) {
    const Real black = image.black[i % image.channels];
    image.pixels[i] = black + factor * (image.pixels[i] - black);
  }
}

// x = mean + f (x - mean), the mean that of the image's channel
template <class Real>
void contrast(const Image<Real>& image, const Numbers& numbers, const ImageDraws& u) {
  const Real factor = Real(1 + numbers[0] * (2 * u[0] - 1));
  const std::size_t pixels = image.height * image.width;
  for (std::size_t c = 0; c < image.channels; ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < pixels; ++i) sum += double(image.pixels[i * image.channels + c]);
    const Real mean = Real(sum / double(pixels));
    for (std::size_t i = 0; i < pixels; ++i) {
      Real& x = image.pixels[i * image.channels + c];
      x = mean + factor * (x - mean);
    }
  }
}

// DeVries and Taylor (2017): a square whose centre is anywhere, cut at the edges, is 0 in stored units.
template <class Real>
void cutout(const Image<Real>& image, const Numbers& numbers, const ImageDraws& u) {
  const long side = long(numbers[0]), height = long(image.height), width = long(image.width);
  const long top = long(u[0] * double(height)) - side / 2, left = long(u[1] * double(width)) - side / 2;
  const long first = std::max(0L, left), last = std::min(width, left + side);
  for (long y = std::max(0L, top); y < std::min(height, top + side); ++y)
    std::fill(image.line(std::size_t(y)) + first * long(image.channels),
              image.line(std::size_t(y)) + last * long(image.channels), Real(0));
}

constexpr Parameter reach[] = {{"pixels", "4", "the farthest, in each direction"}};
constexpr Parameter spread[] = {{"spread", "0.2", "of the factor around 1"}};
constexpr Parameter side[] = {{"side", "8", "of the square, in pixels"}};

constexpr AugmentationRow augmentation_rows[] = {
    {"flip", {}, flip<float>, flip<double>, "left and right change places, with probability 1/2"},
    {"crop", reach, crop<float>, crop<double>, "shifted by whole pixels; what comes in from outside is black"},
    {"brightness", spread, brightness<float>, brightness<double>, "every pixel times one factor"},
    {"contrast", spread, contrast<float>, contrast<double>, "the distance from the image's mean times one factor"},
    {"cutout", side, cutout<float>, cutout<double>, "a square at random is 0, in the units that the network sees"},
};

// "crop 4": a name, then numbers in the order of its parameters.
Choice change_chosen(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const AugmentationRow& row = row_named(words.empty() ? "" : words[0], augmentations(), "augmentation");
  if (words.size() > 1 + row.parameters.size())
    throw Error("data.augment has \"{}\", but \"{}\" takes at most {} numbers", text, row.name, row.parameters.size());
  Choice choice(words[0]);
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::optional<double> x = as_number(words[k]);
    if (!x || !(*x >= 0) || *x > 1e6)
      throw Error("data.augment has \"{}\"; {} of \"{}\" must be a number of at least 0", text,
                  row.parameters[k - 1].name, row.name);
    choice.values[std::string(row.parameters[k - 1].name)] = Value(*x);
  }
  return choice.completed(row.parameters, "augmentation");
}

}  // namespace

std::span<const AugmentationRow> augmentations() { return augmentation_rows; }

Augmentation::Augmentation(const std::vector<std::string>& texts, const Dataset& images) : shape_(images.shape) {
  for (const std::string& text : texts) {
    const Choice choice = change_chosen(text);
    Change change{&row_named(choice.name, augmentations(), "augmentation"), {}};
    for (const Parameter& p : change.row->parameters) change.numbers.push_back(choice.number(p.name));
    changes_.push_back(std::move(change));
  }
  if (changes_.empty()) return;
  if (shape_.rank() != 3)
    throw Error(
        "data.augment changes images, but the rows of data have no shape; give data.shape = [channels, height, "
        "width]");
  for (std::size_t c = 0; c < shape_[0]; ++c)
    black_.push_back(images.input_units.mean.empty() ? 0 : -images.input_units.mean[c] / images.input_units.scale[c]);
  black_float_.assign(black_.begin(), black_.end());
}

template <class Real>
void Augmentation::operator()(Real* pixels, std::size_t row, const Stream& of_evaluation) const {
  const auto apply = [&](const auto* black, auto function) {
    Stream stream = of_evaluation;
    stream.key = stream_key(of_evaluation.key, "augmentation");
    for (std::size_t k = 0; k < changes_.size(); ++k) {
      stream.place = std::uint16_t(k);
      (changes_[k].row->*function)({pixels, shape_[0], shape_[1], shape_[2], black}, changes_[k].numbers,
                                   {stream, row * most_draws});
    }
  };
  if constexpr (std::is_same_v<Real, float>) apply(black_float_.data(), &AugmentationRow::on_float);
  else apply(black_.data(), &AugmentationRow::on_double);
}

template void Augmentation::operator()(float*, std::size_t, const Stream&) const;
template void Augmentation::operator()(double*, std::size_t, const Stream&) const;

}  // namespace kelvin
