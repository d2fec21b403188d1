// SPDX-License-Identifier: Apache-2.0
// What two runs of the same settings must have in common.
#pragma once
#include <map>
#include <sstream>

#include "kelvin/io/json.h"
#include "tests/files.h"

namespace kelvin {

// Everything that must not depend on interruptions: all of samples.zarr but times, the checkpoint, the log but times.
inline std::map<std::string, std::string> contents(const std::string& run) {
  std::map<std::string, std::string> all;
  for (const char* part : {"samples.zarr", "checkpoint"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(run) / part)) {
      const std::string name = entry.path().string().substr(run.size());
      const bool times = name.find("/time/") != std::string::npos || name.ends_with(".zattrs") ||
                         name.ends_with(".zmetadata") || name.ends_with(".part");
      if (entry.is_regular_file() && !times) all[name] = bytes_of(entry.path().string());
    }
  std::stringstream lines(bytes_of(run + "/log.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    Value::Group state = parse_json(line, "log.jsonl").entries();
    state.erase("seconds");
    state.erase("rate");
    state.erase("checksum");  // of all lines, times included
    all["log.jsonl"] += to_json(state) + "\n";
  }
  return all;
}

inline void expect_same(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b,
                        const std::string& what) {
  EXPECT_EQ(a.size(), b.size()) << what;
  EXPECT_GT(a.size(), 20u);
  for (const auto& [name, bytes] : a) {
    ASSERT_TRUE(b.contains(name)) << what << ": " << name;
    EXPECT_TRUE(bytes == b.at(name)) << what << ": " << name;
  }
}

}  // namespace kelvin
