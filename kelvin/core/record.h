// SPDX-License-Identifier: Apache-2.0
// Settings written out: as JSON in the record of a run, and as lines for help and docs.
#pragma once

#include "kelvin/core/json.h"
#include "kelvin/core/settings.h"

namespace kelvin {

nlohmann::json as_json(const Value&);
inline nlohmann::json as_json(bool x) { return x; }
inline nlohmann::json as_json(long x) { return x; }
nlohmann::json as_json(double);  // infinity as the text "inf"
inline nlohmann::json as_json(const std::string& x) { return x; }
nlohmann::json as_json(const Choice&);
template <Settings S>
nlohmann::json as_json(const S& settings);
template <class T>
nlohmann::json as_json(const std::vector<T>& list) {
  auto out = nlohmann::json::array();
  for (const T& item : list) out.push_back(as_json(item));
  return out;
}
template <Settings S>
nlohmann::json as_json(const std::map<std::string, S>& named) {
  auto out = nlohmann::json::object();
  for (const auto& [name, settings] : named) out[name] = as_json(settings);
  return out;
}
template <Settings S>
nlohmann::json as_json(const S& settings) {
  nlohmann::json out = nlohmann::json::object();
  S copy = settings;  // `fields` hands out references to its fields; a copy keeps this one untouched
  copy.fields([&](std::string_view name, auto& field, std::string_view) { out[std::string(name)] = as_json(field); });
  return out;
}

// A list of sizes from a file; the library's own conversion would bend -1 and 1e30 into sizes too.
std::vector<std::size_t> sizes_in(const nlohmann::json&);

// The same record as a value that `read` accepts.
Value as_value(const nlohmann::json&, const std::string& source);

// One line per field.
struct FieldLine {
  std::string path, standard, meaning;
};
template <Settings S>
void describe(S settings, const std::string& path, std::vector<FieldLine>& lines) {
  settings.fields([&]<class T>(std::string_view name, T& field, std::string_view meaning) {
    const std::string here = detail::below(path, name);
    if constexpr (Settings<T>) {
      describe(field, here, lines);
    } else if constexpr (requires { requires Settings<typename T::mapped_type>; }) {
      describe(typename T::mapped_type(), here + ".NAME", lines);
    } else if constexpr (requires { requires Settings<typename T::value_type>; }) {
      describe(typename T::value_type(), here, lines);
    } else {
      lines.push_back({here, as_json(field).dump(), std::string(meaning)});
    }
  });
}

}  // namespace kelvin
