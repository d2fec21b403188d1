// SPDX-License-Identifier: Apache-2.0
// Files that survive: written under another name, forced to the disk, then renamed. And the lock of a run directory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kelvin/core/error.h"

namespace kelvin {

// The disk is full, the directory is read-only, ...: what was written before is intact.
struct WriteError : Error {
  using Error::Error;
};

// Files on their way to the disk, many at a time: one wait for all costs little more than one for each.
class PendingFiles {
 public:
  PendingFiles() = default;
  PendingFiles(const PendingFiles&) = delete;
  ~PendingFiles();  // those that were not settled are removed
  void add(const std::filesystem::path&, std::string_view bytes);
  void settle();  // all are on the disk under their names when it returns

 private:
  struct File {
    std::filesystem::path path;
    int descriptor;
  };
  std::vector<File> files_;
};

// One such file. One that can be made again need not be `durable`: a reader still never sees half of it.
void write_file(const std::filesystem::path&, std::string_view bytes, bool durable = true);
std::string read_file(const std::filesystem::path&);
void make_directories(const std::filesystem::path&);

std::uint32_t checksum(std::string_view bytes, std::uint32_t so_far = 0);  // CRC-32

// Holds a run directory for this process; it vanishes with the process, however that ends. A second one is refused.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& run);
  RunLock(RunLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  ~RunLock();
  static bool held(const std::filesystem::path& run);  // by any process

 private:
  int descriptor_ = -1;
};

}  // namespace kelvin
