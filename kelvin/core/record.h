// SPDX-License-Identifier: Apache-2.0
// Records are structs that list their fields once, as settings do, and are written to files and read back. What they
// say was measured, not asked for: a number that is not finite is written as null and read as nan, entries that no
// field has are passed over, and what is optional is left out where there is none. A field that is a map, or a list of
// records or of lists, is left out when it is empty.
#pragma once
#include <limits>
#include <optional>

#include "kelvin/core/settings.h"

namespace kelvin {

// ---- writing

template <class T>
requires std::is_constructible_v<Value, T> Value recorded(const T& x) { return x; }
template <Settings Record>
Value recorded(const Record&);

template <class T>
Value recorded(const std::vector<T>& list) {
  if constexpr (std::is_same_v<T, double>) return list;
  Value::List out;
  for (const T& item : list) out.push_back(recorded(item));
  return out;
}

template <class T>
Value recorded(const std::map<std::string, T>& named) {
  Value::Group out;
  for (const auto& [name, item] : named) out[name] = recorded(item);
  return out;
}

namespace detail {
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsLeftOutWhenEmpty : std::false_type {};
template <class T>
struct IsLeftOutWhenEmpty<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsLeftOutWhenEmpty<std::vector<std::vector<T>>> : std::true_type {};
template <Settings T>
struct IsLeftOutWhenEmpty<std::vector<T>> : std::true_type {};
}  // namespace detail

// A record of which every field is left out is null.
template <Settings Record>
Value recorded(const Record& record) {
  Value::Group out;
  Record copy = record;  // `fields` hands out references to its fields
  copy.fields([&]<class T>(std::string_view name, T& field, std::string_view) {
    if constexpr (detail::IsOptional<T>::value) {
      if (field) out[std::string(name)] = recorded(*field);
    } else if constexpr (detail::IsLeftOutWhenEmpty<T>::value) {
      if (!field.empty()) out[std::string(name)] = recorded(field);
    } else {
      out[std::string(name)] = recorded(field);
    }
  });
  return out.empty() ? Value() : Value(std::move(out));
}

// ---- reading

template <class T>
void read_recorded(T& field, const Value& v, const std::string& key) {
  assign(field, v, key);
}
inline void read_recorded(double& field, const Value& v, const std::string& key) {
  if (v.null()) field = std::numeric_limits<double>::quiet_NaN();
  else assign(field, v, key);
}
template <Settings Record>
void read_recorded(Record&, const Value&, const std::string& key);

template <class T>
void read_recorded(std::vector<T>& list, const Value& v, const std::string& key) {
  list.clear();
  if constexpr (std::is_same_v<T, double>) return assign(list, v, key);
  for (const Value& item : v.list()) read_recorded(list.emplace_back(), item, key);
}

template <class T>
void read_recorded(std::map<std::string, T>& named, const Value& v, const std::string& key) {
  named.clear();
  for (const auto& [name, child] : v.entries()) read_recorded(named[name], child, detail::below(key, name));
}

template <Settings Record>
void read_recorded(Record& record, const Value& v, const std::string& key) {
  record.fields([&]<class T>(std::string_view name, T& field, std::string_view) {
    const Value* child = v.find(std::string(name));
    const std::string here = detail::below(key, name);
    if constexpr (detail::IsOptional<T>::value) {
      if (child) read_recorded(field.emplace(), *child, here);
      else field.reset();
    } else if constexpr (detail::IsLeftOutWhenEmpty<T>::value) {
      if (child) read_recorded(field, *child, here);
      else field.clear();
    } else {
      read_recorded(field, v.at(std::string(name)), here);
    }
  });
}

}  // namespace kelvin
