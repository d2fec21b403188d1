// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

// Called by the parser for every token; what is open lies on a stack, the outermost first.
class ValueBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  ValueBuilder(std::string_view text, const std::string& source) : text_(text), source_(source) {}
  Value result;

  bool null() override {
    if (Value::Numbers* numbers = open_numbers()) numbers->push_back(std::numeric_limits<double>::quiet_NaN());
    else add({});
    return true;
  }
  bool boolean(bool x) override {
    add(x);
    return true;
  }
  bool number_integer(number_integer_t x) override {
    add(long(x));
    return true;
  }
  bool number_unsigned(number_unsigned_t x) override {
    if (x <= number_unsigned_t(std::numeric_limits<long>::max())) add(long(x));
    else add(double(x));
    return true;
  }
  bool number_float(number_float_t x, const string_t&) override {
    if (!open_.empty())
      if (auto* list = std::get_if<Value::List>(&open_.back().is); list && list->empty())
        open_.back().is = Value::Numbers();
    if (Value::Numbers* numbers = open_numbers()) numbers->push_back(x);
    else add(x);
    return true;
  }
  bool string(string_t& x) override {
    add(std::move(x));
    return true;
  }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool start_object(std::size_t) override { return open(Value::Group()); }
  bool start_array(std::size_t) override { return open(Value::List()); }
  bool key(string_t& name) override {
    keys_.back() = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    const auto end = text_.begin() + std::ptrdiff_t(std::min(position, text_.size()));
    throw Error("\"{}\" is damaged: line {} is not JSON; put back a copy of the file, or make it anew", source_,
                1 + std::count(text_.begin(), end, '\n'));
  }

 private:
  Value::Numbers* open_numbers() { return open_.empty() ? nullptr : std::get_if<Value::Numbers>(&open_.back().is); }

  bool open(Value container) {
    constexpr std::size_t deepest = 500;  // values are torn down by recursion
    if (open_.size() >= deepest)
      throw Error("\"{}\" is damaged: it nests more than {} levels deep; put back a copy of the file, or make it anew",
                  source_, deepest);
    if (Value::Numbers* numbers = open_numbers()) open_.back().is = expanded(*numbers);
    open_.push_back(std::move(container));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    Value closed = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    add(std::move(closed));
    return true;
  }

  void add(Value x) {
    x.where = source_;
    if (open_.empty()) {
      result = std::move(x);
      return;
    }
    if (Value::Numbers* numbers = open_numbers()) open_.back().is = expanded(*numbers);
    if (auto* list = std::get_if<Value::List>(&open_.back().is)) list->push_back(std::move(x));
    else std::get<Value::Group>(open_.back().is).insert_or_assign(keys_.back(), std::move(x));
  }

  // A list that began with numbers and goes on with something else.
  Value::List expanded(const Value::Numbers& numbers) const {
    Value::List list;
    for (const double x : numbers) list.push_back(placed(std::isnan(x) ? Value() : Value(x), source_));
    return list;
  }

  std::string_view text_;
  const std::string& source_;
  std::vector<Value> open_;
  std::vector<std::string> keys_;  // of each that is open, the key whose value comes next
};

nlohmann::json library_tree(const Value& v) {
  return std::visit(
      []<class T>(const T& x) -> nlohmann::json {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, Value::Group>) {
          auto out = nlohmann::json::object();
          for (const auto& [key, child] : x) out[key] = library_tree(child);
          return out;
        } else if constexpr (std::is_same_v<T, Value::List>) {
          auto out = nlohmann::json::array();
          for (const Value& item : x) out.push_back(library_tree(item));
          return out;
        } else {
          return x;
        }
      },
      v.is);
}

}  // namespace

Value parse_json(std::string_view text, const std::string& source) {
  ValueBuilder builder(text, source);
  nlohmann::json::sax_parse(text, &builder);
  return std::move(builder.result);
}

std::string to_json(const Value& v, int indent) {
  return library_tree(v).dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace kelvin
