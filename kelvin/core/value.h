// SPDX-License-Identifier: Apache-2.0
// A tree of values with the place they were written at: what run files, --set flags and records become before they are
// read into structs, and what findings and records become before they are written.
#pragma once
#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace kelvin {

struct Value {
  using Group = std::map<std::string, Value>;
  using List = std::vector<Value>;
  using Numbers = std::vector<double>;  // a list of nothing but numbers; nan stands for one that is not known
  std::variant<std::monostate, Group, List, Numbers, bool, long, double, std::string> is;
  std::string where;  // "run.toml line 3", "--set seed=2", "runs/a/run.json"

  // What many sources call is compiled in one: inlined, these are a tenth of what compiling all of them takes.
  Value();  // null
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(Group);
  Value(List);
  Value(Numbers);
  Value(std::string);
  Value(std::string_view);
  Value(const char*);
  Value(std::nullptr_t) = delete;  // Value() is null
  Value(std::same_as<bool> auto x) : is(x) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Value(Integer x) : is(long(x)) {}
  Value(std::floating_point auto x) : is(double(x)) {}
  template <class T>
  Value(const std::vector<T>& items) : is(List(items.begin(), items.end())) {}
  template <class T>
  Value(const std::map<std::string, T>& named) : is(Group(named.begin(), named.end())) {}

  bool null() const { return std::holds_alternative<std::monostate>(is); }
  bool group() const { return std::holds_alternative<Group>(is); }
  bool text() const { return std::holds_alternative<std::string>(is); }
  bool number() const { return std::holds_alternative<long>(is) || std::holds_alternative<double>(is); }
  std::string_view kind() const;  // "a table", "a list", "a number", ...

  // Of a group. `find` gives nullptr where there is no such key, `at` an Error that names it and the place.
  const Value* find(const std::string& key) const;
  bool contains(const std::string& key) const { return find(key); }
  const Value& at(const std::string& key) const;

  const Group& entries() const;  // of a group
  const List& list() const;      // of a list that is not one of numbers
  std::size_t size() const;      // of a list or a group

  // What it is as a T, or what is at a key; an Error names the key and the place. The last form takes `otherwise` where
  // there is nothing, or null.
  template <class T>
  T as() const;
  template <class T>
  T as(const std::string& key) const;
  template <class T>
  T as(const std::string& key, T otherwise) const;
};

Value placed(Value, std::string where);  // the same, at that place

// Numbers are compared as numbers, 1 as 1.0; nan is the same as null, and places do not count.
bool operator==(const Value&, const Value&);

// Readers: each throws an Error naming `key` and the place when the value has another type.
inline void assign(Value& to, const Value& from, const std::string&) { to = from; }
void assign(bool&, const Value&, const std::string& key);
void assign(long&, const Value&, const std::string& key);
void assign(unsigned long&, const Value&, const std::string& key);
void assign(double&, const Value&, const std::string& key);
void assign(std::string&, const Value&, const std::string& key);
void assign(std::vector<double>&, const Value&, const std::string& key);  // null is nan

template <class T>
void assign(std::vector<T>& list, const Value& v, const std::string& key) {
  list.clear();
  if (const auto* items = std::get_if<Value::List>(&v.is)) {
    for (const Value& item : *items) assign(list.emplace_back(), item, key);
  } else if (const auto* numbers = std::get_if<Value::Numbers>(&v.is)) {
    for (const double x : *numbers) assign(list.emplace_back(), placed(x, v.where), key);
  } else {
    assign(list.emplace_back(), v, key);  // one item needs no brackets
  }
}

template <class T>
void assign(std::map<std::string, T>& named, const Value& v, const std::string& key) {
  named.clear();
  for (const auto& [name, child] : v.entries()) assign(named[name], child, key + "." + name);
}

template <class T>
T Value::as() const {
  T x{};
  assign(x, *this, "the value");
  return x;
}

template <class T>
T Value::as(const std::string& key) const {
  T x{};
  assign(x, at(key), key);
  return x;
}

template <class T>
T Value::as(const std::string& key, T otherwise) const {
  if (const Value* child = find(key); child && !child->null()) assign(otherwise, *child, key);
  return otherwise;
}

// The name of `known` nearest to `given` by edit distance, as a phrase: `; did you mean "step"?` - or nothing if none
// is near.
std::string suggestion(std::string_view given, const std::vector<std::string>& known);

}  // namespace kelvin
