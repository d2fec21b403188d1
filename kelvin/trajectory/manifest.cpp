// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/manifest.h"

#include <charconv>

#include "kelvin/core/crc32c.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/sealed.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

std::string text_of(const FileSum& sum) { return fmt::format("{} {:08x}", sum.bytes, sum.checksum); }

FileSum file_sum(const std::string& text, const fs::path& file) {
  FileSum sum;
  const char* const end = text.data() + text.size();
  const auto length = std::from_chars(text.data(), end, sum.bytes);
  if (length.ec == std::errc() && length.ptr != end && *length.ptr == ' ')
    if (const auto rest = std::from_chars(length.ptr + 1, end, sum.checksum, 16);
        rest.ec == std::errc() && rest.ptr == end)
      return sum;
  throw damaged(file, fmt::format("\"{}\" is no length and checksum", text));
}

}  // namespace

FileSum Manifest::sum_of(const std::string& file) const {
  const auto at = files.find(file);
  return at == files.end() ? FileSum() : at->second;
}

std::uint32_t identity_of(const RunRecord& record) {
  const Value about = Value::Group{{"settings", recorded(record.settings)},
                                   {"created_at", record.created_at},
                                   {"command_line", record.command_line},
                                   {"directory", record.directory},
                                   {"data_checksum", record.data_checksum}};
  return crc32c(to_json(about));
}

bool has_manifest(const fs::path& run) { return fs::exists(run / "manifest.json"); }

Manifest read_manifest(const fs::path& run) {
  const fs::path file = run / "manifest.json";
  return parse_manifest(read_file(file), file);
}

Manifest parse_manifest(std::string_view text, const fs::path& file) {
  const Value value = unsealed(text, file.string());
  Manifest m;
  m.draws = value.as<std::vector<std::uint64_t>>("draws");
  m.warmup_draws = value.as<std::vector<std::uint64_t>>("warmup_draws");
  m.seconds = value.as<double>("seconds");
  m.run = std::uint32_t(value.as<unsigned long>("run"));
  m.checkpoint = value.as<bool>("checkpoint");
  m.arrays = value.as<std::map<std::string, std::string>>("arrays");
  for (const auto& [name, sum] : value.as<std::map<std::string, std::string>>("files"))
    m.files[name] = file_sum(sum, file);
  if (m.draws.empty() || m.draws.size() != m.warmup_draws.size()) throw damaged(file, "it names no walkers");
  return m;
}

std::string manifest_bytes(const Manifest& m) {
  std::map<std::string, std::string> files;
  for (const auto& [name, sum] : m.files) files[name] = text_of(sum);
  return sealed({{"draws", m.draws},
                 {"warmup_draws", m.warmup_draws},
                 {"seconds", m.seconds},
                 {"run", m.run},
                 {"checkpoint", m.checkpoint},
                 {"arrays", m.arrays},
                 {"files", files}});
}

std::string read_named(const fs::path& run, const Manifest& manifest, const std::string& file) {
  const auto at = manifest.files.find(file);
  if (at == manifest.files.end()) throw damaged(run / file, "manifest.json does not name it");
  return read_file(run / file, at->second);
}

void check_same_run(const fs::path& run, const Manifest& manifest, const RunRecord& record) {
  if (manifest.run != identity_of(record))
    throw damaged(run / "run.json", "it is not of the same run as manifest.json");
}

}  // namespace kelvin
