// SPDX-License-Identifier: Apache-2.0
// Files that survive a crash: written under another name, forced to the disk, then renamed. And the lock of a run
// directory.
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

[[noreturn]] void cannot_write(const std::filesystem::path&, int reason);  // errno
// All of them, from a place in the file.
void write_all(int descriptor, std::string_view bytes, const std::filesystem::path&, std::uint64_t from = 0);

// A file is not what was written.
struct DamagedError : Error {
  using Error::Error;
};
DamagedError damaged(const std::filesystem::path&, std::string_view why);  // half a sentence

// Of a file, or of its beginning.
struct FileSum {
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;  // CRC-32C
  bool operator==(const FileSum&) const = default;
};
FileSum sum_of(std::string_view bytes);

// Files on their way to the disk, many at a time: the disk is waited for once for all of them, and by those of its
// file system that were written before.
class PendingFiles {
 public:
  PendingFiles() = default;
  PendingFiles(const PendingFiles&) = delete;
  ~PendingFiles();  // those that were not published are removed
  void add(const std::filesystem::path&, std::string_view bytes);
  bool empty() const { return files_.empty(); }
  void publish();  // their bytes, and names published before, are on the disk; then they get their names
  void settle();   // the same, and their names are on the disk too when it returns

 private:
  std::vector<std::filesystem::path> files_;
  int file_system_ = -1;  // a directory on it
};

// A file to whose end pieces are added. It reaches the disk when others are published, or by itself.
class GrowingFile {
 public:
  GrowingFile(std::filesystem::path, std::uint64_t kept);  // of its bytes; what lies behind them goes
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  void add(std::string_view bytes);  // all of them, or none that count

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_;
};

// How often this process has waited for the disk.
std::uint64_t disk_waits();

// One such file. One that can be made again need not be `durable`: a reader still never sees half of it.
void write_file(const std::filesystem::path&, std::string_view bytes, bool durable = true);
std::string read_file(const std::filesystem::path&);
void read_file(const std::filesystem::path&, std::string& to);  // whose memory is used again
std::string read_file(const std::filesystem::path&, const FileSum&);  // refused if it is not that
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
