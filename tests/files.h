// SPDX-License-Identifier: Apache-2.0
// For tests of file formats: a directory that vanishes with the test, and errors checked by a piece of their message.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "kelvin/core/error.h"

namespace kelvin {

class Directory {
 public:
  explicit Directory(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string pattern = parent / "kelvin_XXXXXX";
    if (!mkdtemp(pattern.data())) throw Error("no temporary directory");
    path_ = pattern;
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string write_gz(const std::string& name, const std::string& bytes) const {
    const gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, bytes.data(), unsigned(bytes.size()));
    gzclose(file);
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

// Where waiting for the disk takes no time, if there is such a place.
inline std::filesystem::path in_memory() {
  std::error_code none;
  const bool roomy = access("/dev/shm", W_OK) == 0 && std::filesystem::space("/dev/shm", none).available > 1u << 30;
  return roomy ? "/dev/shm" : std::filesystem::temp_directory_path();
}

inline std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The message of the Error that `act` throws; empty if it throws none.
template <class Act>
std::string error_of(Act&& act) {
  try {
    act();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace kelvin
