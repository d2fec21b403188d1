// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/manifest.h"

#include "kelvin/core/json.h"

namespace kelvin {

Manifest read_manifest(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "manifest.json";
  const std::string text = read_file(file);
  try {
    auto json = nlohmann::json::parse(text);
    const auto claimed = json.at("checksum").get<std::string>();
    json.erase("checksum");
    if (fmt::format("{:08x}", checksum(json.dump())) != claimed) throw Error("its checksum does not fit");
    Manifest m;
    json.at("draws").get_to(m.draws);
    json.at("warmup_draws").get_to(m.warmup_draws);
    json.at("seconds").get_to(m.seconds);
    json.at("arrays").get_to(m.arrays);
    if (m.draws.empty() || m.draws.size() != m.warmup_draws.size()) throw Error("it names no walkers");
    return m;
  } catch (const std::exception& e) {
    throw Error("\"{}\" is damaged: {}", file.string(), e.what());
  }
}

void write_manifest(const std::filesystem::path& run, const Manifest& m) {
  nlohmann::json json = {
      {"draws", m.draws}, {"warmup_draws", m.warmup_draws}, {"seconds", m.seconds}, {"arrays", m.arrays}};
  json["checksum"] = fmt::format("{:08x}", checksum(json.dump()));
  write_file(run / "manifest.json", json.dump(2) + "\n");
}

}  // namespace kelvin
