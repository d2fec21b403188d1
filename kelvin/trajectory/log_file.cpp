// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/log_file.h"

#include <algorithm>
#include <fstream>

#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/sealed.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

fs::path log_of(const fs::path& run) { return run / std::string(log_file); }

// What the manifest says of the log.
FileSum named_log(const fs::path& run, const RunRecord& record) {
  if (!has_manifest(run)) return {};
  const Manifest manifest = read_manifest(run);
  check_same_run(run, manifest, record);
  return manifest.sum_of(std::string(log_file));
}

LogLine unsealed_log_line(std::string_view text, const fs::path& file, FileSum& so_far) {
  LogLine line;
  read_recorded(line, unsealed_line(text, file.string(), so_far.checksum, so_far.checksum), "");
  so_far.bytes += text.size() + 1;
  return line;
}

}  // namespace

std::string text_of(const LogLine& line, FileSum& so_far) {
  const std::string text = sealed_line(recorded(line).entries(), so_far.checksum, so_far.checksum);
  so_far.bytes += text.size();
  return text;
}

FileSum empty_log(const RunRecord& record) { return {0, identity_of(record)}; }

StoredLog read_stored_log(const fs::path& run, const RunRecord& record, Newest newest) {
  const fs::path file = log_of(run);
  StoredLog log;
  const FileSum named = named_log(run, record);
  if (named.bytes == 0 && !fs::exists(file)) return log;
  const std::string text = read_file(file);
  std::string_view rest = text;  // after the last line break: what a run that is under way, or was killed, has begun
  FileSum so_far = empty_log(record);
  bool found = named.bytes == 0;
  for (std::size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) try {
      log.lines.push_back(unsealed_log_line(rest.substr(0, end), file, so_far));
      log.ends.push_back(so_far);
      found |= so_far == named;
    } catch (const Error&) {
      if (found && newest == Newest::may_be_lost) break;
      throw damaged(file, fmt::format("line {} is not the one that was written there", log.lines.size() + 1));
    }
  if (!found) throw damaged(file, fmt::format("it does not have the {} bytes that manifest.json names", named.bytes));
  return log;
}

std::vector<LogLine> read_log(const fs::path& run) { return read_stored_log(run, read_record(run)).lines; }

std::optional<LogLine> last_log_line(const fs::path& run, const RunRecord& record) {
  const fs::path file = log_of(run);
  const FileSum named = named_log(run, record);
  std::ifstream stream(file, std::ios::binary);
  if (!stream && named.bytes == 0) return {};
  stream.seekg(0, std::ios::end);
  const std::streamoff size = stream.tellg();
  if (!stream || std::uint64_t(size) < named.bytes)
    throw damaged(file, fmt::format("it does not have the {} bytes that manifest.json names", named.bytes));
  std::string text;
  for (std::streamoff tail = 1 << 16;; tail *= 2) {
    tail = std::min(tail, size);
    text.resize(std::size_t(tail));
    stream.seekg(size - tail);
    stream.read(text.data(), tail);
    text.resize(std::size_t(stream.gcount()));
    if (tail == size || std::count(text.begin(), text.end(), '\n') > 2) break;
  }
  const std::string_view whole = std::string_view(text).substr(0, text.rfind('\n') + 1);
  if (whole.empty()) return {};
  const std::string_view lines = whole.substr(0, whole.size() - 1);
  const std::size_t before = lines.rfind('\n');  // the end of the line before
  FileSum so_far = empty_log(record);
  if (before != lines.npos) {
    const std::string_view earlier = lines.substr(0, before);
    if (!claimed_by_line(earlier.substr(earlier.rfind('\n') + 1), so_far.checksum))
      throw damaged(file, "a line is not the one that was written there");
  }
  const LogLine line = unsealed_log_line(lines.substr(before + 1), file, so_far);
  if (std::uint64_t(size) - (text.size() - whole.size()) == named.bytes && so_far.checksum != named.checksum)
    throw damaged(file, "its checksum is not the one that manifest.json names");
  return line;
}

}  // namespace kelvin
