// SPDX-License-Identifier: Apache-2.0
// Structs that list their fields, as bytes and back: for checkpoints, and between ranks.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
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
  void operator()(const std::string& text) {
    (*this)(std::uint64_t(text.size()));
    bytes += text;
  }
  void operator()(const std::map<std::string, std::string>& table) {
    (*this)(std::uint64_t(table.size()));
    for (const auto& [key, value] : table) {
      (*this)(key);
      (*this)(value);
    }
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
  void operator()(std::string& text) {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > bytes.size()) throw Error("it is cut short");
    text.assign(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  void operator()(std::map<std::string, std::string>& table) {
    std::uint64_t size = 0;
    (*this)(size);
    for (table.clear(); size > 0; --size) {
      std::string key;
      (*this)(key);
      (*this)(table[key]);
    }
  }
};

// Fields by name, as bytes and back: what objects that do not know each other keep in one checkpoint.
class Archive {
 public:
  Archive() = default;  // to be written
  explicit Archive(std::map<std::string, std::string> fields) : fields_(std::move(fields)), reads_(true) {}

  template <class T>
  void operator()(std::string_view name, T& value) {
    const std::string key = prefix + std::string(name);
    if (!reads_) {
      Packer pack;
      pack(value);
      fields_[key] = std::move(pack.bytes);
      return;
    }
    const auto at = fields_.find(key);
    if (at == fields_.end()) throw Error("it has no \"{}\"", key);
    Unpacker unpack{at->second};
    unpack(value);
    if (!unpack.bytes.empty()) throw Error("its \"{}\" has another size", key);
  }
  bool reads() const { return reads_; }
  const std::map<std::string, std::string>& fields() const { return fields_; }

  std::string prefix;  // of the names

 private:
  std::map<std::string, std::string> fields_;
  bool reads_ = false;
};

}  // namespace kelvin
