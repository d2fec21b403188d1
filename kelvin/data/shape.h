// SPDX-License-Identifier: Apache-2.0
// Extents of an array.
#pragma once
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace kelvin {

// The slowest first.
class Shape {
 public:
  static constexpr std::size_t most = 5;
  Shape() = default;
  Shape(std::initializer_list<std::size_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const std::size_t> extents);
  std::size_t rank() const { return rank_; }
  std::size_t operator[](std::size_t k) const { return extents_[k]; }
  std::span<const std::size_t> extents() const { return std::span(extents_).first(rank_); }
  std::vector<std::size_t> list() const { return {extents().begin(), extents().end()}; }
  std::size_t size() const {
    std::size_t n = 1;
    for (const std::size_t extent : extents()) n *= extent;
    return n;
  }
  std::string text() const;  // "50 x 784"
  bool operator==(const Shape&) const = default;

 private:
  std::array<std::size_t, most> extents_{};
  std::size_t rank_ = 0;
};

}  // namespace kelvin
