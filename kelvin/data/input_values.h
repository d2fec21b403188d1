// SPDX-License-Identifier: Apache-2.0
// The numbers of many rows: doubles, or the bytes they came in, each of which stands for a number of its column.
#pragma once
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

namespace kelvin {

class InputValues {
 public:
  using value_type = double;
  class const_iterator;
  using iterator = const_iterator;

  InputValues() = default;
  InputValues(std::vector<double> numbers) : doubles_(std::move(numbers)) {}
  InputValues(std::initializer_list<double> numbers) : doubles_(numbers) {}
  InputValues(std::vector<std::uint8_t> bytes, double white);  // byte / white

  std::size_t size() const { return bytes_ ? count_ : doubles_.size(); }
  bool empty() const { return size() == 0; }
  double operator[](std::size_t i) const { return bytes_ ? level(i, (*bytes_)[i]) : doubles_[i]; }
  inline const_iterator begin() const;
  inline const_iterator end() const;
  std::vector<double> list() const;
  void copy(std::size_t first, std::span<double> to) const;  // as many as there is room for
  friend bool operator==(const InputValues& a, const InputValues& b);

  // To be changed: bytes become doubles first.
  std::vector<double>& doubles();
  void keep_first(std::size_t count);
  void append(const InputValues&);
  void standardise(std::span<const double> mean, std::span<const double> scale);  // (x - mean) / scale of each column
  // Of rows of so many numbers, these, in this order.
  InputValues rows(std::span<const std::size_t> wanted, std::size_t width) const;
  InputValues columns(std::span<const std::size_t> wanted, std::size_t width) const;

  // Number i is levels()[i % period() * 256 + bytes()[i]].
  const std::shared_ptr<const std::vector<std::uint8_t>>& bytes() const { return bytes_; }  // null: there are doubles
  const std::vector<double>& levels() const { return levels_; }
  std::size_t period() const { return levels_.size() / 256; }
  const std::vector<double>& numbers() const { return doubles_; }  // where there are no bytes

 private:
  double level(std::size_t i, std::uint8_t byte) const { return levels_[i % period() * 256 + byte]; }

  std::vector<double> doubles_;
  std::shared_ptr<const std::vector<std::uint8_t>> bytes_;
  std::size_t count_ = 0;  // of the bytes, from the first on
  std::vector<double> levels_;
};

class InputValues::const_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = double;
  using difference_type = std::ptrdiff_t;
  using pointer = const double*;
  using reference = double;

  const_iterator() = default;
  const_iterator(const InputValues& of, std::size_t at) : of_(&of), at_(std::ptrdiff_t(at)) {}
  double operator*() const { return (*of_)[std::size_t(at_)]; }
  double operator[](std::ptrdiff_t n) const { return (*of_)[std::size_t(at_ + n)]; }
  const_iterator& operator+=(std::ptrdiff_t n) {
    at_ += n;
    return *this;
  }
  const_iterator& operator-=(std::ptrdiff_t n) { return *this += -n; }
  const_iterator& operator++() { return *this += 1; }
  const_iterator& operator--() { return *this -= 1; }
  const_iterator operator++(int) {
    const const_iterator before = *this;
    ++*this;
    return before;
  }
  const_iterator operator--(int) {
    const const_iterator before = *this;
    --*this;
    return before;
  }
  friend const_iterator operator+(const_iterator i, std::ptrdiff_t n) { return i += n; }
  friend const_iterator operator+(std::ptrdiff_t n, const_iterator i) { return i += n; }
  friend const_iterator operator-(const_iterator i, std::ptrdiff_t n) { return i -= n; }
  friend std::ptrdiff_t operator-(const const_iterator& a, const const_iterator& b) { return a.at_ - b.at_; }
  bool operator==(const const_iterator& other) const { return at_ == other.at_; }
  auto operator<=>(const const_iterator& other) const { return at_ <=> other.at_; }

 private:
  const InputValues* of_ = nullptr;
  std::ptrdiff_t at_ = 0;
};

inline InputValues::const_iterator InputValues::begin() const { return {*this, 0}; }
inline InputValues::const_iterator InputValues::end() const { return {*this, size()}; }

}  // namespace kelvin
