// SPDX-License-Identifier: Apache-2.0
// The file `chunks` of a run: of every chunk of draws whose it is, and a checksum of its draws. It only grows, a record
// for each time a chunk is written; the last one of a chunk counts. manifest.json says up to where it counts, so that
// a commit writes no more than what is new.
#pragma once
#include <span>
#include <vector>

#include "kelvin/trajectory/files.h"

namespace kelvin {

struct ChunkSum {
  std::uint32_t array = 0, walker = 0;  // `array` counts the arrays of the manifest, by name
  std::uint64_t number = 0;
  std::uint32_t draws = 0, checksum = 0;  // of these draws, unpacked: a chunk may have more of them by now
};

class ChunkSums {
 public:
  ChunkSums() = default;
  ChunkSums(const std::filesystem::path& run, const FileSum&);  // as far as a manifest goes
  // The draws of a chunk; nullptr if it has none.
  const ChunkSum* find(std::size_t array, std::size_t walker, std::uint64_t number) const;
  std::span<const ChunkSum> all() const { return sums_; }

 private:
  std::vector<ChunkSum> sums_;  // one of each chunk, in order
};

// An Error that names `file` unless the bytes begin with the draws that were written.
void check_chunk(std::string_view bytes, std::size_t bytes_of_draw, const ChunkSum*, std::uint64_t draws,
                 const std::filesystem::path& file);

// Writes the file.
class ChunkSumsFile {
 public:
  ChunkSumsFile(const std::filesystem::path& run, const FileSum& so_far);  // what lies behind that goes
  void add(const ChunkSum& sum) { waiting_.push_back(sum); }
  void write();  // those that were added; not yet forced to the disk
  const FileSum& sum() const { return sum_; }

 private:
  GrowingFile file_;
  FileSum sum_;
  std::vector<ChunkSum> waiting_;
};

}  // namespace kelvin
