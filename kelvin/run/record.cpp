// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/record.h"

#include <cmath>

#include "kelvin/io/json.h"

namespace kelvin {

const ScoreRecord* LogLine::score(std::string_view split) const {
  for (const auto& [name, score] : {std::pair{"train", &train}, {"validation", &validation}, {"test", &test}})
    if (name == split && *score) return &**score;
  return nullptr;
}

std::optional<double> logged(const LogLine& line, std::string_view name) {
  if (name == "step") return double(line.step);
  if (name == "potential") return line.potential;
  const std::size_t dot = name.find('.');
  const ScoreRecord* score = dot == name.npos ? nullptr : line.score(name.substr(0, dot));
  const std::string_view measure = score ? name.substr(dot + 1) : "";
  if (measure == "loss") return score->loss;
  if (measure == "accuracy") return score->accuracy;
  if (measure == "rmse") return score->rmse;
  return {};
}

void read_recorded(RunSettings& settings, const Value& v, const std::string&) {
  settings = read_run_settings(recorded_settings(v));
}

Value recorded(const RunRecord& record) { return recorded<RunRecord>(record); }
Value recorded(const LogLine& line) { return recorded<LogLine>(line); }
void read_recorded(LogLine& line, const Value& v, const std::string& key) { read_recorded<LogLine>(line, v, key); }

RunRecord parse_record(std::string_view text, const std::string& file) {
  RunRecord record;
  read_recorded(record, parse_json(text, file), "");
  return record;
}

LogLine parse_log_line(std::string_view text, const std::string& file) {
  LogLine line;
  read_recorded(line, parse_json(text, file), "");
  return line;
}

}  // namespace kelvin
