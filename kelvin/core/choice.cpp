// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/choice.h"

#include <algorithm>

#include "kelvin/core/toml.h"

namespace kelvin {
namespace {

const Value& parameter_of(const Choice& choice, std::string_view parameter) {
  const auto at = choice.values.find(std::string(parameter));
  if (at == choice.values.end())
    throw Error("{}{}\"{}\" needs {}; write {{ name = \"{}\", {} = ... }}", choice.where,
                choice.where.empty() ? "" : ": ", choice.name, parameter, choice.name, parameter);
  return at->second;
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace

Choice::Choice() = default;
Choice::Choice(const Choice&) = default;
Choice::Choice(Choice&&) noexcept = default;
Choice& Choice::operator=(const Choice&) = default;
Choice& Choice::operator=(Choice&&) noexcept = default;
Choice::~Choice() = default;

Choice Choice::number_of(std::string row, std::string_view parameter, double x) {
  Choice choice(std::move(row));
  choice.values[std::string(parameter)].is = x;
  return choice;
}

double Choice::number(std::string_view parameter) const {
  double x = 0;
  assign(x, parameter_of(*this, parameter), fmt::format("{} of \"{}\"", parameter, name));
  return x;
}

std::vector<double> Choice::numbers(std::string_view parameter) const {
  std::vector<double> list;
  assign(list, parameter_of(*this, parameter), fmt::format("{} of \"{}\"", parameter, name));
  return list;
}

std::string Choice::text(std::string_view parameter) const {
  std::string s;
  assign(s, parameter_of(*this, parameter), fmt::format("{} of \"{}\"", parameter, name));
  return s;
}

Choice Choice::completed(std::span<const Parameter> parameters, std::string_view what) const {
  std::vector<std::string> known;
  Choice full = *this;
  for (const Parameter& p : parameters) {
    known.emplace_back(p.name);
    if (p.standard.empty() || full.values.contains(known.back())) continue;
    const Value parsed = parse_toml(fmt::format("it = {}", p.standard), "default");
    full.values.emplace(known.back(), std::get<Value::Group>(parsed.is).at("it"));
  }
  for (const auto& [key, value] : values)
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Error("{}: {} \"{}\" has no parameter \"{}\"; it takes {}{}", value.where, what, name, key,
                  known.empty() ? "none" : listed(known), suggestion(key, known));
  return full;
}

void assign(Choice& choice, const Value& v, const std::string& key) {
  choice = Choice();
  choice.where = v.where;
  if (const auto* text = std::get_if<std::string>(&v.is)) {
    choice.name = *text;
  } else if (const auto* group = std::get_if<Value::Group>(&v.is)) {
    choice.values = *group;
    auto name = choice.values.extract("name");
    if (!name) throw Error("{}: {} must say which: write {} = {{ name = \"...\", ... }}", v.where, key, key);
    assign(choice.name, name.mapped(), key + ".name");
  } else {
    double x = 0;
    assign(x, v, key);
    choice.name = "constant";
    choice.values["value"] = v;
  }
  if (choice.name.empty()) throw Error("{}: {} is empty; give a name", v.where, key);
}

void refuse_row(std::string_view name, const std::vector<std::string>& known, std::string_view what,
                std::string_view where) {
  throw Error("{}{}no {} \"{}\"; known: {}{}", where, where.empty() ? "" : ": ", what, name, listed(known),
              suggestion(name, known));
}

}  // namespace kelvin
