// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "kelvin/core/crc32c.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

std::atomic<std::uint64_t> waits = 0;

fs::path unfinished(const fs::path& path) { return path.string() + ".part"; }

bool on_the_disk(int descriptor) {
  ++waits;
  return ::fsync(descriptor) == 0;
}

void sync_directory(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && on_the_disk(descriptor);
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) cannot_write(path, reason);
}

void sync_file_system(int descriptor, const fs::path& path) {
  ++waits;
  if (::syncfs(descriptor) != 0) cannot_write(path, errno);
}

fs::path directory_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

void cannot_write(const fs::path& path, int reason) {
  throw WriteError("cannot write \"{}\": {}; check that the directory may be written to and the disk is not full",
                   path.string(), std::strerror(reason));
}

void write_all(int descriptor, std::string_view bytes, const fs::path& path, std::uint64_t from) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), off_t(from));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) cannot_write(path, written ? errno : ENOSPC);
    bytes.remove_prefix(std::size_t(written));
    from += std::uint64_t(written);
  }
}

std::uint64_t disk_waits() { return waits; }

PendingFiles::~PendingFiles() {
  std::error_code ignored;
  for (const fs::path& file : files_) fs::remove(unfinished(file), ignored);
  if (file_system_ >= 0) ::close(file_system_);
}

namespace {

// Under its unfinished name, and on the disk too if `durable`; else the disk may begin with it.
void write_unfinished(const fs::path& path, std::string_view bytes, bool durable) {
  const int descriptor = ::open(unfinished(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_write(path, errno);
  try {
    write_all(descriptor, bytes, path);
    if (durable && !on_the_disk(descriptor)) cannot_write(path, errno);
    if (!durable) ::sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
  } catch (...) {
    ::close(descriptor);
    ::unlink(unfinished(path).c_str());
    throw;
  }
  if (::close(descriptor) != 0) cannot_write(path, errno);
}

void finish_name(const fs::path& path) {
  if (::rename(unfinished(path).c_str(), path.c_str()) != 0) cannot_write(path, errno);
}

}  // namespace

void PendingFiles::add(const fs::path& path, std::string_view bytes) {
  if (file_system_ < 0) {  // opened first: it tells of what fails from now on
    file_system_ = ::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file_system_ < 0) cannot_write(path, errno);
  }
  files_.push_back(path);
  write_unfinished(path, bytes, false);
}

void PendingFiles::publish() {
  if (files_.empty()) return;
  sync_file_system(file_system_, files_.front());
  for (const fs::path& file : files_) finish_name(file);
  files_.clear();
}

void PendingFiles::settle() {
  if (files_.empty()) return;
  const fs::path first = files_.front();
  publish();
  sync_file_system(file_system_, first);
}

GrowingFile::GrowingFile(fs::path path, std::uint64_t kept)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)), size_(kept) {
  if (descriptor_ < 0) cannot_write(path_, errno);
  if (::ftruncate(descriptor_, off_t(kept)) == 0) return;
  const int reason = errno;
  ::close(descriptor_);
  cannot_write(path_, reason);
}

GrowingFile::~GrowingFile() { ::close(descriptor_); }

void GrowingFile::add(std::string_view bytes) {
  write_all(descriptor_, bytes, path_, size_);
  size_ += bytes.size();
}

void write_file(const fs::path& path, std::string_view bytes, bool durable) {
  write_unfinished(path, bytes, durable);
  finish_name(path);
  if (durable) sync_directory(directory_of(path));
}

DamagedError damaged(const fs::path& path, std::string_view why) {
  return DamagedError("\"{}\" is damaged: {}; put back a copy of it, or see what `kelvin verify` says of the run",
                      path.string(), why);
}

FileSum sum_of(std::string_view bytes) { return {bytes.size(), crc32c(bytes)}; }

std::string read_file(const fs::path& path) {
  std::string text;
  read_file(path, text);
  return text;
}

void read_file(const fs::path& path, std::string& text) {
  struct Descriptor {
    int number;
    ~Descriptor() {
      if (number >= 0) ::close(number);
    }
  };
  const auto cannot_read = [&](int reason) {
    return DamagedError("cannot read \"{}\": {}; is it a run of kelvin, and whole?", path.string(),
                        std::strerror(reason));
  };
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat about = {};
  if (file.number < 0 || ::fstat(file.number, &about) != 0) throw cannot_read(errno);
  if (S_ISDIR(about.st_mode)) throw cannot_read(EISDIR);
  constexpr std::size_t piece = 1 << 16;  // of what does not know its size, or grows
  text.resize(std::size_t(about.st_size) + 1);
  for (std::size_t filled = 0;;) {
    const ssize_t more = ::read(file.number, text.data() + filled, text.size() - filled);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) throw cannot_read(errno);
    filled += std::size_t(more);
    if (more == 0) return text.resize(filled);
    if (filled == text.size()) text.resize(filled + piece);
  }
}

std::string read_file(const fs::path& path, const FileSum& sum) {
  std::string bytes = read_file(path);
  if (bytes.size() != sum.bytes)
    throw damaged(path, fmt::format("it has {} bytes where manifest.json names {}", bytes.size(), sum.bytes));
  if (crc32c(bytes) != sum.checksum) throw damaged(path, "its checksum is not the one that manifest.json names");
  return bytes;
}

void make_directories(const fs::path& path) {
  std::error_code failed;
  if (path.empty() || fs::is_directory(path, failed)) return;
  make_directories(path.parent_path());
  fs::create_directory(path, failed);
  if (failed)
    throw WriteError("cannot make the directory \"{}\": {}; give a place that may be written to", path.string(),
                     failed.message());
}

std::uint32_t checksum(std::string_view bytes, std::uint32_t so_far) {
  if (bytes.empty()) return so_far;  // zlib takes a null pointer for a wish to begin anew
  return std::uint32_t(crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

RunLock::RunLock(const fs::path& run)
    : descriptor_(::open((run / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) cannot_write(run / "lock", errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  ::close(descriptor_);
  if (reason != EWOULDBLOCK) throw Error("cannot lock \"{}\": {}", run.string(), std::strerror(reason));
  throw Error("\"{}\" is being written by another process; wait for it, stop it, or give another directory",
              run.string());
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool RunLock::held(const fs::path& run) {
  const int descriptor = ::open((run / "lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool free = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  ::close(descriptor);
  return !free;
}

}  // namespace kelvin
