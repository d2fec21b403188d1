// SPDX-License-Identifier: Apache-2.0
// manifest.json: the draws that are certainly on the disk. It is written after everything it names.
#pragma once
#include <map>

#include "kelvin/trajectory/files.h"

namespace kelvin {

struct Manifest {
  std::vector<std::uint64_t> draws, warmup_draws;  // on the disk, for each walker
  double seconds = 0;                              // spent so far
  std::map<std::string, std::string> arrays;       // group/name -> fingerprint of its .zarray
};

Manifest read_manifest(const std::filesystem::path& run);
std::string manifest_bytes(const Manifest&);

}  // namespace kelvin
