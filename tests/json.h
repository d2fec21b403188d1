// SPDX-License-Identifier: Apache-2.0
// What a command printed as JSON, for tests to ask in few words: found["tables"][0]["rows"]. Asking for what is not
// there is an error that names it.
#pragma once
#include <cmath>
#include <memory>
#include <ostream>

#include "kelvin/core/error.h"
#include "kelvin/io/json.h"

namespace kelvin {

class Json {
 public:
  Json(Value value = {}) : Json(std::make_shared<const Value>(std::move(value))) {}
  static Json parse(std::string_view text) { return parse_json(text, "JSON of a test"); }
  std::string dump() const { return to_json(*value_); }
  const Value& value() const { return *value_; }

  bool null() const { return value_->null(); }
  bool group() const { return value_->group(); }
  bool contains(const std::string& key) const { return value_->contains(key); }
  std::size_t size() const { return value_->size(); }
  bool empty() const { return size() == 0; }
  Json at(const std::string& key) const { return Json(root_, &value_->at(key)); }
  Json at(std::size_t k) const {
    if (k >= size()) throw Error("{} has no entry {}", dump(), k);
    if (const auto* numbers = std::get_if<Value::Numbers>(&value_->is)) return std::isnan((*numbers)[k]) ? Value() : Value((*numbers)[k]);
    return Json(root_, &value_->list()[k]);
  }
  Json operator[](const std::string& key) const { return at(key); }
  Json operator[](const char* key) const { return at(std::string(key)); }
  Json operator[](std::size_t k) const { return at(k); }
  Json operator[](int k) const { return at(std::size_t(k)); }
  Json front() const { return at(std::size_t(0)); }
  Json back() const { return at(size() - 1); }

  struct Iterator {
    const Json* of;
    std::size_t k;
    Json operator*() const { return of->at(k); }
    Iterator& operator++() {
      ++k;
      return *this;
    }
    bool operator==(const Iterator& other) const { return k == other.k; }
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  std::map<std::string, Json> entries() const {
    std::map<std::string, Json> out;
    for (const auto& [key, child] : value_->entries()) out.emplace(key, Json(root_, &child));
    return out;
  }

  template <class T>
  T as() const {
    return value_->as<T>();
  }
  operator double() const { return std::holds_alternative<bool>(value_->is) ? as<bool>() : as<double>(); }
  operator std::string() const { return as<std::string>(); }
  operator std::vector<double>() const { return as<std::vector<double>>(); }
  operator std::vector<std::string>() const { return as<std::vector<std::string>>(); }

  friend bool operator==(const Json& a, const Json& b) { return *a.value_ == *b.value_; }
  template <class T>
  requires std::constructible_from<Value, T>
  friend bool operator==(const Json& a, const T& b) { return *a.value_ == Value(b); }
  friend std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.dump(); }

 private:
  explicit Json(std::shared_ptr<const Value> root) : root_(std::move(root)), value_(root_.get()) {}
  Json(std::shared_ptr<const Value> root, const Value* value) : root_(std::move(root)), value_(value) {}

  std::shared_ptr<const Value> root_;  // keeps the whole tree
  const Value* value_;
};

}  // namespace kelvin
