// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/settings.h"

#include <cmath>

namespace kelvin {

void unknown_key(const Value& from, const std::string& path, const std::string& key,
                 const std::vector<std::string>& known) {
  std::string list;
  for (const auto& k : known) list += (list.empty() ? "" : ", ") + k;
  throw Error("{}: no setting \"{}\"; known here: {}{}", from.where, detail::below(path, key), list,
              suggestion(key, known));
}

void not_a_table(const Value& from, const std::string& path) {
  if (from.group())
    throw Error("{}: {} must be a list of tables; write [[{}]] before the settings of each", from.where, path, path);
  throw Error("{}: {} must be a table of settings, not {}; write [{}] and its settings below", from.where, path,
              from.kind(), path);
}

Value as_value(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

Value as_value(const std::vector<double>& numbers) {
  if (std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); })) return numbers;
  Value::List out;
  for (const double x : numbers) out.push_back(as_value(x));
  return out;
}

Value as_value(const Value& v) {
  if (const auto* group = std::get_if<Value::Group>(&v.is)) {
    Value::Group out;
    for (const auto& [key, child] : *group) out[key] = as_value(child);
    return out;
  }
  if (const auto* list = std::get_if<Value::List>(&v.is)) return as_value(*list);
  if (const auto* numbers = std::get_if<Value::Numbers>(&v.is)) return as_value(*numbers);
  if (const auto* number = std::get_if<double>(&v.is)) return as_value(*number);
  return v;
}

Value as_value(const Choice& choice) {
  if (!choice.given()) return {};
  if (choice.name == "constant" && choice.values.size() == 1) return as_value(choice.values.begin()->second);
  if (choice.values.empty()) return choice.name;
  Value::Group out;
  for (const auto& [key, value] : choice.values) out[key] = as_value(value);
  out["name"] = choice.name;
  return out;
}

Value recorded_settings(const Value& v) {
  Value out = v;
  if (auto* group = std::get_if<Value::Group>(&out.is)) {
    std::erase_if(*group, [](const auto& entry) { return entry.second.null(); });
    for (auto& [key, child] : *group) child = recorded_settings(child);
  } else if (auto* list = std::get_if<Value::List>(&out.is)) {
    for (Value& item : *list) item = recorded_settings(item);
  } else if (v == "inf" || v == "-inf") {
    out.is = v == "inf" ? HUGE_VAL : -HUGE_VAL;
  }
  return out;
}

}  // namespace kelvin
