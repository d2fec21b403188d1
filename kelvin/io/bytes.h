// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, unpacked if it is gzip or xz, and the numbers inside them.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace kelvin {

std::string read_bytes(const std::string& file);

// The number of entries of an array of this shape whose entries of `width` bytes fill `bytes` exactly; checked before
// anything is allocated, so that a false shape is an error and not a request for memory.
std::size_t checked_count(std::span<const std::size_t> shape, std::size_t width, std::size_t bytes,
                          const std::string& file);

template <class T>
T number_at(std::string_view bytes, std::size_t at, std::endian order) {
  std::array<char, sizeof(T)> raw;
  std::memcpy(raw.data(), bytes.data() + at, sizeof(T));
  if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

}  // namespace kelvin
