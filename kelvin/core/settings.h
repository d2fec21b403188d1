// SPDX-License-Identifier: Apache-2.0
// Settings are structs that list their fields once, in `fields`. Reading a run file, the resolved record of a run and
// the settings page all walk that list:
//
//   struct PartSettings {
//     double step = 0.01;
//     template <class Visit> void fields(Visit&& field) { field("step", step, "time of one pass through the scheme"); }
//   };
#pragma once
#include <algorithm>
#include <map>

#include "kelvin/core/choice.h"
#include "kelvin/core/value.h"

namespace kelvin {

namespace detail {
struct AnyField {
  template <class T>
  void operator()(std::string_view, T&, std::string_view) {}
};
}  // namespace detail

template <class S>
concept Settings = requires(S& s) {
  s.fields(detail::AnyField{});
};

template <Settings S>
void read(S& settings, const Value& from, const std::string& path);

[[noreturn]] void unknown_key(const Value& from, const std::string& path, const std::string& key,
                              const std::vector<std::string>& known);
[[noreturn]] void not_a_table(const Value& from, const std::string& path);

namespace detail {
inline std::string below(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

template <class T>
void read_field(T& field, const Value& v, const std::string& path) {
  if constexpr (Settings<T>) read(field, v, path);
  else assign(field, v, path);
}

// [part.hidden], [part.output]: any names, each with the same settings.
template <Settings S>
void read_field(std::map<std::string, S>& named, const Value& v, const std::string& path) {
  if (!v.group()) not_a_table(v, path);
  for (const auto& [name, child] : std::get<Value::Group>(v.is)) read(named[name], child, below(path, name));
}

// [[phase]]: a list of tables.
template <Settings S>
void read_field(std::vector<S>& list, const Value& v, const std::string& path) {
  const auto* items = std::get_if<Value::List>(&v.is);
  if (!items) not_a_table(v, path);
  list.clear();
  for (const Value& item : *items) read(list.emplace_back(), item, path);
}
}  // namespace detail

// Overwrites the fields that `from` gives. A key that no field has is an error that names the nearest one.
// A struct with a `shorthand` member names the field that a value which is not a table stands for: data = "file.csv".
template <Settings S>
void read(S& settings, const Value& from, const std::string& path) {
  if (!from.group()) {
    if constexpr (requires { S::shorthand; }) {
      return read(settings, placed(Value::Group{{S::shorthand, from}}, from.where), path);
    } else {
      not_a_table(from, path);
    }
  }
  const auto& group = std::get<Value::Group>(from.is);
  std::vector<std::string> known;
  settings.fields([&](std::string_view name, auto& field, std::string_view) {
    known.emplace_back(name);
    if (const auto at = group.find(known.back()); at != group.end())
      detail::read_field(field, at->second, detail::below(path, name));
  });
  for (const auto& [key, value] : group)
    if (std::find(known.begin(), known.end(), key) == known.end()) unknown_key(value, path, key, known);
}

// Settings written out, every field of them. Infinity is the text "inf", which JSON has no number for.
Value as_value(const Value&);
inline Value as_value(bool x) { return x; }
inline Value as_value(long x) { return x; }
Value as_value(double);
inline Value as_value(const std::string& x) { return x; }
Value as_value(const Choice&);  // null if none is given
Value as_value(const std::vector<double>&);
template <Settings S>
Value as_value(const S& settings);
template <class T>
Value as_value(const std::vector<T>& list) {
  Value::List out;
  for (const T& item : list) out.push_back(as_value(item));
  return out;
}
template <Settings S>
Value as_value(const std::map<std::string, S>& named) {
  Value::Group out;
  for (const auto& [name, settings] : named) out[name] = as_value(settings);
  return out;
}
template <Settings S>
Value as_value(const S& settings) {
  Value::Group out;
  S copy = settings;  // `fields` hands out references to its fields; a copy keeps this one untouched
  copy.fields([&](std::string_view name, auto& field, std::string_view) { out[std::string(name)] = as_value(field); });
  return out;
}

// What as_value made of settings, as a value that `read` takes: nothing is null, "inf" is infinity again.
Value recorded_settings(const Value&);

// One line per field.
struct FieldLine {
  std::string path;
  Value standard;
  std::string meaning;
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
      lines.push_back({here, as_value(field), std::string(meaning)});
    }
  });
}

}  // namespace kelvin
