// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/record.h"

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
  if (measure == "perplexity") return score->perplexity;
  return {};
}

void read_recorded(RunSettings& settings, const Value& v, const std::string&) {
  settings = read_run_settings(recorded_settings(v));
}

void read_recorded(PhaseSettings& phase, const Value& v, const std::string& key) {
  read(phase, recorded_settings(v), key);
}

Value recorded(const RunRecord& record) { return recorded<RunRecord>(record); }
void read_recorded(RunRecord& record, const Value& v, const std::string& key) {
  read_recorded<RunRecord>(record, v, key);
}

// What couplings tell stands beside the fields, each under its own name.
Value recorded(const LogLine& line) {
  Value out = recorded<LogLine>(line);
  for (const auto& [name, told] : line.others) std::get<Value::Group>(out.is).emplace(name, told);
  return out;
}

void read_recorded(LogLine& line, const Value& v, const std::string& key) {
  read_recorded<LogLine>(line, v, key);
  line.others = v.entries();
  line.fields([&](std::string_view name, auto&, std::string_view) { line.others.erase(std::string(name)); });
}

}  // namespace kelvin
