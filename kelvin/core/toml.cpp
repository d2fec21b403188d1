// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/toml.h"

#include <toml++/toml.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

Value converted(const toml::node& node, const std::string& source) {
  Value v;
  v.where = node.source().begin ? fmt::format("{} line {}", source, node.source().begin.line) : source;
  if (const auto* table = node.as_table()) {
    Value::Group group;
    for (const auto& [key, child] : *table) group.emplace(std::string(key.str()), converted(child, source));
    v.is = std::move(group);
  } else if (const auto* array = node.as_array()) {
    Value::List list;
    for (const auto& child : *array) list.push_back(converted(child, source));
    v.is = std::move(list);
  } else if (const auto* b = node.as_boolean()) {
    v.is = b->get();
  } else if (const auto* i = node.as_integer()) {
    v.is = long(i->get());
  } else if (const auto* d = node.as_floating_point()) {
    v.is = d->get();
  } else if (const auto* s = node.as_string()) {
    v.is = s->get();
  } else {
    throw Error("{}: dates and times are not settings; write a number or a text in quotes", v.where);
  }
  return v;
}

// Dotted names make tables inside tables, which are built and torn down by recursion.
void check_depth(std::string_view text, const std::string& where) {
  constexpr std::size_t deepest = 1000;
  std::size_t dots = 0;
  for (const char c : text) {
    if (std::string_view(",=[]{}#\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots > deepest)
      throw Error("{}: a name has more than {} dots; settings are not nested so deep", where, deepest);
  }
}

// The element of a list that `key` counts to, from 1.
Value& element(Value::List& list, const std::string& key, const std::string& where) {
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), n);
  if (error != std::errc() || end != key.data() + key.size() || n < 1 || n > list.size())
    throw Error("{}: \"{}\" is in the place of one of {} entries, which are counted from 1", where, key, list.size());
  return list[n - 1];
}

}  // namespace

Value parse_toml(std::string_view text, const std::string& source) {
  check_depth(text, source);
  try {
    return converted(toml::parse(text, source), source);
  } catch (const toml::parse_error& e) {
    throw Error("{} line {}: {}", source, e.source().begin.line, e.description());
  }
}

Value read_toml(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    throw Error("cannot read the run file \"{}\"; give the path of a TOML file, or make one with `kelvin new`", path);
  return parse_toml(text.str(), path);
}

void override_with(Value& root, const std::string& assignment) {
  const std::string where = "--set " + assignment;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error("{}: an override is written key=value, for example --set part.hidden.step=0.1", where);
  check_depth(assignment.substr(0, equals), where);
  const std::string right = assignment.substr(equals + 1);
  Value value;
  try {
    value = std::get<Value::Group>(parse_toml("it = " + right, where).is).at("it");
  } catch (const Error&) {
    value.is = right;
  }
  Value* at = &root;
  std::stringstream path(assignment.substr(0, equals));
  for (std::string key; std::getline(path, key, '.');) {
    if (auto* list = std::get_if<Value::List>(&at->is)) {
      at = &element(*list, key, where);
      continue;
    }
    if (!at->group()) at->is = Value::Group();
    if (at->where.empty()) at->where = where;
    at = &std::get<Value::Group>(at->is)[key];
  }
  *at = std::move(value);
  at->where = where;
}

}  // namespace kelvin
