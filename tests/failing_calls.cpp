// SPDX-License-Identifier: Apache-2.0
// Loaded before the C library (LD_PRELOAD), so that a call of the system fails as it would on a bad or full disk. Of
// the calls that touch what is FAIL_UNDER a directory, the FAIL_AT-th fails with the error number FAIL_WITH, or all
// from there on if FAIL_ON is set; FAIL_WITH=0 makes a write a short one instead. Their number goes to the file
// FAIL_COUNT.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const char* const under = std::getenv("FAIL_UNDER");
long number_in(const char* name) {
  const char* const text = std::getenv(name);
  return text ? std::atol(text) : 0;
}
const long fail_at = number_in("FAIL_AT"), fail_with = number_in("FAIL_WITH"), fail_on = number_in("FAIL_ON");
std::atomic<long> calls = 0;
std::atomic<bool> ours[1024];  // descriptors of files in that directory

bool is_under(const char* path) { return under && path && std::strncmp(path, under, std::strlen(under)) == 0; }
bool is_ours(int descriptor) { return descriptor >= 0 && descriptor < 1024 && ours[descriptor]; }

bool fails() {
  const long n = ++calls;
  return fail_at > 0 && (n == fail_at || (fail_on && n > fail_at));
}

bool fails_plainly() {
  const bool failing = fails() && fail_with != 0;
  if (failing) errno = int(fail_with);
  return failing;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

struct Count {
  ~Count() {
    const char* const file = std::getenv("FAIL_COUNT");
    if (!file) return;
    if (std::FILE* out = std::fopen(file, "w")) {
      std::fprintf(out, "%ld\n", calls.load());
      std::fclose(out);
    }
  }
} count;

int opened(const char* name, const char* path, int flags, unsigned mode) {
  if (is_under(path) && fails_plainly()) return -1;
  const int descriptor = next<int (*)(const char*, int, unsigned)>(name)(path, flags, mode);
  if (descriptor >= 0 && descriptor < 1024) ours[descriptor] = is_under(path);
  return descriptor;
}

ssize_t written(const char* name, int descriptor, const void* bytes, size_t size, off_t at) {
  if (is_ours(descriptor) && fails()) {
    if (fail_with != 0) {
      errno = int(fail_with);
      return -1;
    }
    size = (size + 1) / 2;
  }
  return next<ssize_t (*)(int, const void*, size_t, off_t)>(name)(descriptor, bytes, size, at);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return opened("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return opened("open64", path, flags, mode);
}

int close(int descriptor) {
  const bool failing = is_ours(descriptor) && fails_plainly();
  if (descriptor >= 0 && descriptor < 1024) ours[descriptor] = false;
  const int reason = errno, closed = next<int (*)(int)>("close")(descriptor);
  if (failing) errno = reason;
  return failing ? -1 : closed;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t at) {
  return written("pwrite", descriptor, bytes, size, at);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
  return written("pwrite64", descriptor, bytes, size, at);
}

ssize_t read(int descriptor, void* bytes, size_t size) {
  if (is_ours(descriptor) && fails_plainly()) return -1;
  return next<ssize_t (*)(int, void*, size_t)>("read")(descriptor, bytes, size);
}

int fsync(int descriptor) {
  if (is_ours(descriptor) && fails_plainly()) return -1;
  return next<int (*)(int)>("fsync")(descriptor);
}

int syncfs(int descriptor) noexcept {
  if (is_ours(descriptor) && fails_plainly()) return -1;
  return next<int (*)(int)>("syncfs")(descriptor);
}

int ftruncate(int descriptor, off_t size) noexcept {
  if (is_ours(descriptor) && fails_plainly()) return -1;
  return next<int (*)(int, off_t)>("ftruncate")(descriptor, size);
}

int rename(const char* from, const char* to) noexcept {
  if (is_under(to) && fails_plainly()) return -1;
  return next<int (*)(const char*, const char*)>("rename")(from, to);
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (is_under(path) && fails_plainly()) return -1;
  return next<int (*)(const char*, mode_t)>("mkdir")(path, mode);
}

}  // extern "C"
