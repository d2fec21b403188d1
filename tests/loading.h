// SPDX-License-Identifier: Apache-2.0
// Rows as [data] asks for them.
#pragma once
#include "kelvin/core/settings.h"
#include "kelvin/core/toml.h"
#include "kelvin/io/load.h"
#include "tests/files.h"

namespace kelvin {

// Settings as a run file gives them; FILE stands for the path.
inline DataSettings settings(std::string toml, const std::string& file = "") {
  for (std::size_t at; (at = toml.find("FILE")) != std::string::npos;) toml.replace(at, 4, file);
  DataSettings s;
  read(s, parse_toml(toml, "run.toml"), "data");
  return s;
}

struct Loaded : Splits {
  std::vector<std::string> remarks;
};
inline Loaded loaded(const DataSettings& s, bool wants_classes = false, std::uint64_t seed = 1) {
  Loaded out;
  static_cast<Splits&>(out) = load(s, wants_classes, seed, [&](std::string_view r) { out.remarks.emplace_back(r); });
  return out;
}
inline std::string message(const DataSettings& s, bool wants_classes = false) {
  return error_of([&] { loaded(s, wants_classes); });
}

struct Load : testing::Test {
  Directory dir;
  Loaded csv(const std::string& text, const std::string& toml = "", bool wants_classes = false,
             std::uint64_t seed = 1) {
    return loaded(settings("file = \"FILE\"\n" + toml, dir.write("d.csv", text)), wants_classes, seed);
  }
  std::string csv_error(const std::string& text, const std::string& toml = "", bool wants_classes = false) {
    return error_of([&] { csv(text, toml, wants_classes); });
  }
  std::string file(const std::string& name, const std::string& text) { return dir.write(name, text); }
};

}  // namespace kelvin
