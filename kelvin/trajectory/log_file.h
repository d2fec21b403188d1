// SPDX-License-Identifier: Apache-2.0
// log.jsonl: a line at a time, each with a checksum of all lines up to it, so that no line can be changed, left out or
// be of another run. The manifest names the lines that a commit found; those behind them are the newest.
#pragma once
#include "kelvin/trajectory/manifest.h"

namespace kelvin {

// The text of a line, with its line break; `so_far` is of the lines before it, and then has this one too.
std::string text_of(const LogLine&, FileSum& so_far);

// Where a log begins.
FileSum empty_log(const RunRecord&);

struct StoredLog {
  std::vector<LogLine> lines;
  std::vector<FileSum> ends;  // of the file, up to each line
};

// A damaged line that no manifest names, as a machine that lost its power leaves it, is refused or is the end.
enum class Newest { must_fit, may_be_lost };
StoredLog read_stored_log(const std::filesystem::path& run, const RunRecord&, Newest = Newest::must_fit);
std::vector<LogLine> read_log(const std::filesystem::path& run);

// The last whole line, if there is one. Only the end of the file is read.
std::optional<LogLine> last_log_line(const std::filesystem::path& run, const RunRecord&);

}  // namespace kelvin
