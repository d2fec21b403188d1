// SPDX-License-Identifier: Apache-2.0
// An array on disk: the input is its .zarray, a NUL, and the bytes of its first chunk.
#include "kelvin/trajectory/zarr.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fuzz/target.h"

namespace {

struct Directory {
  std::filesystem::path path;
  Directory() {
    std::string pattern = std::filesystem::temp_directory_path() / "kelvin_fuzz_XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Directory() { std::filesystem::remove_all(path); }
  void write(const std::filesystem::path& file, std::string_view bytes) const {
    std::ofstream(file, std::ios::binary) << bytes;
  }
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  static const Directory array;
  const std::string_view text = text_of(data, size), about = text.substr(0, text.find('\0')),
                         chunk = text.substr(std::min(about.size() + 1, text.size()));
  return survives([&] {
    const ZarrShape shape = parse_zarr_metadata(about, "f/.zarray");
    must(unpack(chunk, shape.chunk * shape.bytes(), "f/0.0").size() == shape.chunk * shape.bytes());
    array.write(array.path / ".zarray", about);
    const auto file = zarr_chunk(array.path, 2 + shape.each.size(), 0, 0);
    array.write(file, chunk);
    survives([&] { must(read_zarr(array.path, 0).size() == shape.draws * shape.size()); });
    std::filesystem::remove(file);
  });
}
