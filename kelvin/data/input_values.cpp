// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/input_values.h"

#include <algorithm>

namespace kelvin {
namespace {

constexpr std::size_t byte_values = 256;

// The least number of columns, a multiple of `least`, after which all these begin again.
std::size_t period_of(std::span<const double> mean, std::span<const double> scale, std::size_t least) {
  const auto repeats = [](std::span<const double> of, std::size_t period) {
    return std::equal(of.begin() + long(period), of.end(), of.begin());
  };
  for (std::size_t period = least; period < mean.size(); period += least)
    if (mean.size() % period == 0 && repeats(mean, period) && repeats(scale, period)) return period;
  return mean.size();
}

}  // namespace

InputValues::InputValues(std::vector<std::uint8_t> bytes, double white)
    : bytes_(std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes))),
      count_(bytes_->size()),
      levels_(byte_values) {
  for (std::size_t byte = 0; byte < byte_values; ++byte) levels_[byte] = double(byte) / white;
}

std::vector<double> InputValues::list() const {
  if (!bytes_) return doubles_;
  std::vector<double> out(size());
  copy(0, out);
  return out;
}

void InputValues::copy(std::size_t first, std::span<double> to) const {
  if (!bytes_) {
    std::copy_n(doubles_.begin() + long(first), to.size(), to.begin());
    return;
  }
  std::size_t column = first % period();
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = levels_[column * byte_values + (*bytes_)[first + i]];
    column = column + 1 == period() ? 0 : column + 1;
  }
}

bool operator==(const InputValues& a, const InputValues& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

std::vector<double>& InputValues::doubles() {
  if (bytes_) *this = InputValues(list());
  return doubles_;
}

void InputValues::keep_first(std::size_t count) {
  if (bytes_) count_ = std::min(count_, count);
  else doubles_.resize(std::min(doubles_.size(), count));
}

void InputValues::append(const InputValues& more) {
  if (empty()) {
    *this = more;
  } else if (bytes_ && more.bytes_ && levels_ == more.levels_) {
    std::vector<std::uint8_t> all;
    all.reserve(count_ + more.count_);
    all.assign(bytes_->begin(), bytes_->begin() + long(count_));
    all.insert(all.end(), more.bytes_->begin(), more.bytes_->begin() + long(more.count_));
    count_ = all.size();
    bytes_ = std::make_shared<const std::vector<std::uint8_t>>(std::move(all));
  } else {
    std::vector<double>& all = doubles();
    all.insert(all.end(), more.begin(), more.end());
  }
}

void InputValues::standardise(std::span<const double> mean, std::span<const double> scale) {
  const std::size_t width = mean.size();
  if (width == 0) return;
  if (!bytes_) {
    for (std::size_t i = 0; i < doubles_.size(); i += width)
      for (std::size_t j = 0; j < width; ++j) doubles_[i + j] = (doubles_[i + j] - mean[j]) / scale[j];
    return;
  }
  const std::size_t columns = period_of(mean, scale, period());
  std::vector<double> levels(columns * byte_values);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t byte = 0; byte < byte_values; ++byte)
      levels[j * byte_values + byte] = (level(j, std::uint8_t(byte)) - mean[j]) / scale[j];
  levels_ = std::move(levels);
}

InputValues InputValues::rows(std::span<const std::size_t> wanted, std::size_t width) const {
  const auto gathered = [&]<class T>(const std::vector<T>& from) {
    std::vector<T> out(wanted.size() * width);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      std::copy_n(from.begin() + long(wanted[i] * width), width, out.begin() + long(i * width));
    return out;
  };
  if (!bytes_) return gathered(doubles_);
  InputValues out(gathered(*bytes_), 1);
  out.levels_ = levels_;
  return out;
}

InputValues InputValues::columns(std::span<const std::size_t> wanted, std::size_t width) const {
  const std::size_t count = size() / width;
  const auto gathered = [&]<class T>(const std::vector<T>& from) {
    std::vector<T> out(count * wanted.size());
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < wanted.size(); ++j) out[i * wanted.size() + j] = from[i * width + wanted[j]];
    return out;
  };
  if (!bytes_) return gathered(doubles_);
  InputValues out(gathered(*bytes_), 1);
  const bool alike = period() == 1;
  out.levels_.resize((alike ? 1 : wanted.size()) * byte_values);
  for (std::size_t j = 0; j * byte_values < out.levels_.size(); ++j)
    std::copy_n(levels_.begin() + long((alike ? 0 : wanted[j] % period()) * byte_values), byte_values,
                out.levels_.begin() + long(j * byte_values));
  return out;
}

}  // namespace kelvin
