// SPDX-License-Identifier: Apache-2.0
// Structs that list their fields, as bytes and back: for checkpoints, and between ranks.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "kelvin/core/error.h"

namespace kelvin {

struct Packer {
  std::string bytes;
  template <class T>
  void operator()(const T& x) {
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  template <class T, class Memory>
  void operator()(const std::vector<T, Memory>& list) {
    (*this)(std::uint64_t(list.size()));
    bytes.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
  }
};

struct Unpacker {
  std::string_view bytes;
  void take(void* to, std::uint64_t size) {
    if (size > bytes.size()) throw Error("it is cut short");
    if (size) std::memcpy(to, bytes.data(), size);
    bytes.remove_prefix(size);
  }
  template <class T>
  void operator()(T& x) {
    take(&x, sizeof x);
  }
  template <class T, class Memory>
  void operator()(std::vector<T, Memory>& list) {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > bytes.size() / sizeof(T)) throw Error("it is cut short");
    list.resize(size);
    take(list.data(), size * sizeof(T));
  }
};

}  // namespace kelvin
