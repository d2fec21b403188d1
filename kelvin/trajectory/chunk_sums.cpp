// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/chunk_sums.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "kelvin/core/crc32c.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

static_assert(sizeof(ChunkSum) == 24, "records are written as they lie in memory");

auto place_of(const ChunkSum& sum) { return std::tuple(sum.array, sum.walker, sum.number); }

fs::path chunks_of(const fs::path& run) { return run / "chunks"; }

}  // namespace

ChunkSums::ChunkSums(const fs::path& run, const FileSum& so_far) {
  const fs::path file = chunks_of(run);
  const std::string bytes = read_file(file);
  const std::size_t size = so_far.bytes;
  if (bytes.size() < size)
    throw damaged(file, fmt::format("it has {} bytes where manifest.json names {}", bytes.size(), size));
  if (size % sizeof(ChunkSum) != 0 || crc32c(std::string_view(bytes).substr(0, size)) != so_far.checksum)
    throw damaged(file, "its checksum is not the one that manifest.json names");
  sums_.resize(size / sizeof(ChunkSum));
  if (size) std::memcpy(sums_.data(), bytes.data(), size);
  const auto before = [](const ChunkSum& a, const ChunkSum& b) { return place_of(a) < place_of(b); };
  std::reverse(sums_.begin(), sums_.end());  // the last of each is kept
  std::stable_sort(sums_.begin(), sums_.end(), before);
  const auto same = [](const ChunkSum& a, const ChunkSum& b) { return place_of(a) == place_of(b); };
  sums_.erase(std::unique(sums_.begin(), sums_.end(), same), sums_.end());
}

const ChunkSum* ChunkSums::find(std::size_t array, std::size_t walker, std::uint64_t number) const {
  const auto wanted = std::tuple(std::uint32_t(array), std::uint32_t(walker), number);
  const auto at = std::lower_bound(sums_.begin(), sums_.end(), wanted,
                                   [](const ChunkSum& sum, const auto& place) { return place_of(sum) < place; });
  return at != sums_.end() && place_of(*at) == wanted ? &*at : nullptr;
}

void check_chunk(std::string_view bytes, std::size_t bytes_of_draw, const ChunkSum* sum, std::uint64_t draws,
                 const fs::path& file) {
  if (!sum || sum->draws < draws || sum->draws > bytes.size() / bytes_of_draw)
    throw damaged(file,
                  fmt::format("manifest.json names {} draws of it, the file `chunks` {}", draws, sum ? sum->draws : 0));
  if (crc32c(bytes.substr(0, sum->draws * bytes_of_draw)) != sum->checksum)
    throw damaged(file, "its draws are not those that were written there");
}

ChunkSumsFile::ChunkSumsFile(const fs::path& run, const FileSum& so_far)
    : file_(chunks_of(run), so_far.bytes), sum_(so_far) {}

void ChunkSumsFile::write() {
  if (waiting_.empty()) return;
  const std::string_view bytes(reinterpret_cast<const char*>(waiting_.data()), waiting_.size() * sizeof(ChunkSum));
  file_.add(bytes);
  sum_ = {sum_.bytes + bytes.size(), crc32c(bytes, sum_.checksum)};
  waiting_.clear();
}

}  // namespace kelvin
