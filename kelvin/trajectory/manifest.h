// SPDX-License-Identifier: Apache-2.0
// manifest.json: the draws that are certainly on the disk, and what every other file of the run must hold. It is
// written after everything it names, and ends with its own checksum.
#pragma once
#include <map>

#include "kelvin/run/record.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

struct Manifest {
  std::vector<std::uint64_t> draws, warmup_draws;  // on the disk, for each walker
  double seconds = 0;                              // spent so far
  std::uint32_t run = 0;                           // identity_of the record it belongs to
  std::map<std::string, std::string> arrays;       // group/name -> fingerprint of its .zarray
  bool checkpoint = false;                         // there was one when it was written
  std::map<std::string, FileSum> files;            // by their names in the run; of a file that grows, its beginning
  FileSum sum_of(const std::string& file) const;   // nothing, if it is not named
};

// Names of files that grow.
inline constexpr std::string_view log_file = "log.jsonl", chunks_file = "chunks";

// A checksum of what a run is from its beginning to its end: settings, data, when and how it was started.
std::uint32_t identity_of(const RunRecord&);

bool has_manifest(const std::filesystem::path& run);
Manifest read_manifest(const std::filesystem::path& run);
Manifest parse_manifest(std::string_view text, const std::filesystem::path& file);  // named in errors
std::string manifest_bytes(const Manifest&);
// A file that it names, as it must be; one that it does not name is refused.
std::string read_named(const std::filesystem::path& run, const Manifest&, const std::string& file);

// Refuses a manifest and a record that are of different runs.
void check_same_run(const std::filesystem::path& run, const Manifest&, const RunRecord&);

}  // namespace kelvin
