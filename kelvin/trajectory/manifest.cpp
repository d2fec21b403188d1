// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/manifest.h"

#include "kelvin/io/json.h"

namespace kelvin {

Manifest read_manifest(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "manifest.json";
  Value value = parse_json(read_file(file), file.string());
  const auto claimed = value.as<std::string>("checksum");
  std::get<Value::Group>(value.is).erase("checksum");
  if (fmt::format("{:08x}", checksum(to_json(value))) != claimed)
    throw Error("\"{}\" is damaged: its checksum does not fit; put back a copy of it", file.string());
  Manifest m;
  m.draws = value.as<std::vector<std::uint64_t>>("draws");
  m.warmup_draws = value.as<std::vector<std::uint64_t>>("warmup_draws");
  m.seconds = value.as<double>("seconds");
  m.arrays = value.as<std::map<std::string, std::string>>("arrays");
  if (m.draws.empty() || m.draws.size() != m.warmup_draws.size())
    throw Error("\"{}\" is damaged: it names no walkers; put back a copy of it", file.string());
  return m;
}

std::string manifest_bytes(const Manifest& m) {
  Value::Group value = {
      {"draws", m.draws}, {"warmup_draws", m.warmup_draws}, {"seconds", m.seconds}, {"arrays", m.arrays}};
  value["checksum"] = fmt::format("{:08x}", checksum(to_json(value)));
  return to_json(value, 2) + "\n";
}

}  // namespace kelvin
