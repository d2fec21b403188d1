// SPDX-License-Identifier: Apache-2.0
// Findings that need no draws: what was run, and how it learned.
#pragma once

#include "kelvin/analysis/finding.h"
#include "kelvin/run/record.h"

namespace kelvin {

// What a section says about a run comes from here.
struct RunFiles {
  std::filesystem::path run;
  std::string name;
  RunRecord record;          // run.json
  std::vector<LogLine> log;  // the lines of log.jsonl
};
RunFiles read_run_files(const std::filesystem::path& run);

Finding what_was_run(const RunFiles&);
Finding learning(const RunFiles&);

}  // namespace kelvin
