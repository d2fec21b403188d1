// SPDX-License-Identifier: Apache-2.0
// A setting as it was written, with the place it was written at: what a run file and --set flags become before they are
// read into settings.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kelvin {

struct Value {
  using List = std::vector<Value>;
  using Group = std::map<std::string, Value>;
  std::variant<Group, List, bool, long, double, std::string> is;
  std::string where;  // "run.toml line 3", "--set seed=2"

  bool group() const { return std::holds_alternative<Group>(is); }
  std::string_view kind() const;  // "a table", "a list", "a number", ...
};

Value parse_toml(std::string_view text, const std::string& source);
Value read_toml(const std::string& path);

// "part.hidden.step=0.1" puts 0.1 at part.hidden.step; a right-hand side that is not TOML is taken as text. Entries of
// a list are counted from 1: "phase.2.steps=500".
void override_with(Value& root, const std::string& assignment);

// Readers: each throws an Error naming `key` and the place when the value has another type.
inline void assign(Value& to, const Value& from, const std::string&) { to = from; }
void assign(bool&, const Value&, const std::string& key);
void assign(long&, const Value&, const std::string& key);
void assign(double&, const Value&, const std::string& key);
void assign(std::string&, const Value&, const std::string& key);

template <class T>
void assign(std::vector<T>& list, const Value& v, const std::string& key) {
  list.clear();
  if (const auto* items = std::get_if<Value::List>(&v.is)) {
    for (const Value& item : *items) assign(list.emplace_back(), item, key);
  } else {
    assign(list.emplace_back(), v, key);  // one item needs no brackets
  }
}

// The name of `known` nearest to `given` by edit distance, as a phrase: `; did you mean "step"?` - or nothing if none
// is near.
std::string suggestion(std::string_view given, const std::vector<std::string>& known);

}  // namespace kelvin
