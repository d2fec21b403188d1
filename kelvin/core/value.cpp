// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/value.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kelvin/core/error.h"
#include "kelvin/core/tati.h"

namespace kelvin {
namespace {

// The beginning of a message, if the place is known.
std::string stated(const std::string& where) { return where.empty() ? "" : where + ": "; }

[[noreturn]] void wrong_type(const Value& v, const std::string& key, std::string_view wanted) {
  throw Error("{}{} must be {}, not {}", stated(v.where), key, wanted, v.kind());
}

// Null is a number that is not known.
double number_or_nan(const Value& v) {
  if (const auto* whole = std::get_if<long>(&v.is)) return double(*whole);
  const auto* number = std::get_if<double>(&v.is);
  return number ? *number : NAN;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;
Value::Value(Group x) : is(std::move(x)) {}
Value::Value(List x) : is(std::move(x)) {}
Value::Value(Numbers x) : is(std::move(x)) {}
Value::Value(std::string x) : is(std::move(x)) {}
Value::Value(std::string_view x) : is(std::string(x)) {}
Value::Value(const char* x) : is(std::string(x)) {}

std::string_view Value::kind() const {
  constexpr std::string_view names[] = {"nothing",       "a table",        "a list",   "a list of numbers",
                                        "true or false", "a whole number", "a number", "a text"};
  return names[is.index()];
}

const Value* Value::find(const std::string& key) const {
  const auto* group = std::get_if<Group>(&is);
  if (!group) return nullptr;
  const auto at = group->find(key);
  return at == group->end() ? nullptr : &at->second;
}

const Value& Value::at(const std::string& key) const {
  if (const Value* child = find(key)) return *child;
  throw Error("\"{}\" is damaged: \"{}\" is missing; put back a copy of the file, or make it anew", where, key);
}

const Value::Group& Value::entries() const {
  if (!group()) wrong_type(*this, "the value", "a table");
  return std::get<Group>(is);
}

const Value::List& Value::list() const {
  const auto* items = std::get_if<List>(&is);
  if (!items) wrong_type(*this, "the value", "a list of other things than numbers");
  return *items;
}

std::size_t Value::size() const {
  if (const auto* items = std::get_if<List>(&is)) return items->size();
  if (const auto* numbers = std::get_if<Numbers>(&is)) return numbers->size();
  return entries().size();
}

Value placed(Value value, std::string where) {
  value.where = std::move(where);
  return value;
}

bool operator==(const Value& a, const Value& b) {
  const auto *list_a = std::get_if<Value::List>(&a.is), *list_b = std::get_if<Value::List>(&b.is);
  const auto *numbers_a = std::get_if<Value::Numbers>(&a.is), *numbers_b = std::get_if<Value::Numbers>(&b.is);
  const auto all = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const Value& here, const Value& there) { return here == there; });
  };
  if (numbers_a && numbers_b) return all(*numbers_a, *numbers_b);
  if (numbers_a && list_b) return all(*numbers_a, *list_b);
  if (list_a && numbers_b) return all(*list_a, *numbers_b);
  if ((a.number() || a.null()) && (b.number() || b.null()) && a.is != b.is) {
    const double x = number_or_nan(a), y = number_or_nan(b);
    return x == y || (std::isnan(x) && std::isnan(y));
  }
  return a.is == b.is;
}

void assign(bool& out, const Value& v, const std::string& key) {
  if (const bool* b = std::get_if<bool>(&v.is)) out = *b;
  else wrong_type(v, key, "true or false");
}

void assign(long& out, const Value& v, const std::string& key) {
  const double* d = std::get_if<double>(&v.is);
  if (const long* i = std::get_if<long>(&v.is)) out = *i;
  else if (d && *d == std::floor(*d) && std::abs(*d) < 0x1p53) out = long(*d);  // 1e6 is a whole number too
  else wrong_type(v, key, "a whole number");
}

void assign(unsigned long& out, const Value& v, const std::string& key) {
  long x = 0;
  assign(x, v, key);
  if (x < 0) throw Error("{}{} must be a whole number of at least 0, not {}", stated(v.where), key, x);
  out = std::size_t(x);
}

void assign(double& out, const Value& v, const std::string& key) {
  if (const double* d = std::get_if<double>(&v.is)) out = *d;
  else if (const long* i = std::get_if<long>(&v.is)) out = double(*i);
  else wrong_type(v, key, "a number");
  if (std::isnan(out)) throw Error("{}{} must be a number, not nan", stated(v.where), key);
}

void assign(std::string& out, const Value& v, const std::string& key) {
  if (const std::string* s = std::get_if<std::string>(&v.is)) out = *s;
  else wrong_type(v, key, "a text in quotes");
}

void assign(std::vector<double>& out, const Value& v, const std::string& key) {
  out.clear();
  if (const auto* numbers = std::get_if<Value::Numbers>(&v.is)) {
    out = *numbers;
  } else if (const auto* items = std::get_if<Value::List>(&v.is)) {
    for (const Value& item : *items)
      if (item.null()) out.push_back(NAN);
      else assign(out.emplace_back(), item, key);
  } else {
    assign(out.emplace_back(), v, key);  // one item needs no brackets
  }
}

std::string suggestion(std::string_view given, const std::vector<std::string>& known) {
  const std::size_t dashes = std::min(given.find_first_not_of('-'), given.size());
  if (const TatiName* from = tati_name(given.substr(dashes)))
    return fmt::format("; the {} \"{}\" of TATi is here: {}", from->kind, from->name, from->here);
  if (given.size() > 100) return "";  // no name is near, and the distance would take long to find
  const auto near = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return edit_distance(given, a) < edit_distance(given, b);
  });
  if (near == known.end() || edit_distance(given, *near) > std::max<std::size_t>(2, given.size() / 2)) return "";
  return fmt::format("; did you mean \"{}\"?", *near);
}

}  // namespace kelvin
