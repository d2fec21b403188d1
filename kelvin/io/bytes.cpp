// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/bytes.h"

#include <fmt/ranges.h>
#include <lzma.h>
#include <zlib.h>

#include <cerrno>
#include <filesystem>
#include <limits>
#include <memory>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

bool is_xz(std::string_view bytes) {
  return bytes.starts_with(
      std::string_view("\xfd"
                       "7zXZ\0",
                       6));
}

std::string unpacked_xz(std::string_view packed, const std::string& file) {
  constexpr std::uint64_t most_memory = std::uint64_t(1) << 28;  // of the decoder; the largest preset takes 65 MiB
  constexpr std::size_t piece = 1 << 22;
  lzma_stream stream = LZMA_STREAM_INIT;
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> ended(&stream, lzma_end);
  lzma_ret status = lzma_stream_decoder(&stream, most_memory, LZMA_CONCATENATED);
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  std::string bytes;
  while (status == LZMA_OK) {
    const std::size_t had = bytes.size();
    bytes.resize(had + piece);
    stream.next_out = reinterpret_cast<std::uint8_t*>(bytes.data()) + had;
    stream.avail_out = piece;
    status = lzma_code(&stream, LZMA_FINISH);
    bytes.resize(had + piece - stream.avail_out);
  }
  if (status != LZMA_STREAM_END) throw Error("cannot unpack \"{}\": the file is damaged or cut short", file);
  return bytes;
}

}  // namespace

std::string read_bytes(const std::string& file) {
  if (std::filesystem::is_directory(file)) throw Error("\"{}\" is a directory, not a file", file);
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> opened(gzopen(file.c_str(), "rb"), gzclose_r);
  if (!opened) throw Error("cannot read \"{}\": {}; check the path", file, std::strerror(errno ? errno : ENOMEM));
  gzbuffer(opened.get(), 1 << 18);
  constexpr std::size_t piece = 1 << 22;
  std::string bytes;
  for (;;) {
    const std::size_t had = bytes.size();
    bytes.resize(had + piece);
    const int got = gzread(opened.get(), bytes.data() + had, piece);
    bytes.resize(had + std::size_t(std::max(got, 0)));
    if (got <= 0) break;
  }
  int status = Z_OK;
  const char* reason = gzerror(opened.get(), &status);
  if (status != Z_OK && status != Z_STREAM_END)
    throw Error("cannot unpack \"{}\": {}; the file is damaged or cut short", file, reason);
  return is_xz(bytes) ? unpacked_xz(bytes, file) : bytes;
}

std::size_t checked_count(std::span<const std::size_t> shape, std::size_t width, std::size_t bytes,
                          const std::string& file) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    if (extent > 0 && count > std::numeric_limits<std::size_t>::max() / width / extent)
      throw Error("{}: the shape ({}) is too large to be true; the file is damaged", file, fmt::join(shape, ", "));
    count *= extent;
  }
  if (count * width != bytes)
    throw Error("{}: the shape ({}) takes {} bytes but the file has {}; it is {}", file, fmt::join(shape, ", "),
                count * width, bytes, bytes < count * width ? "cut short" : "too long");
  return count;
}

}  // namespace kelvin
