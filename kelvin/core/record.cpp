// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/record.h"

#include <cmath>

namespace kelvin {

nlohmann::json as_json(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

nlohmann::json as_json(const Value& v) {
  return std::visit(
      [](const auto& x) -> nlohmann::json {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, Value::Group>) {
          auto out = nlohmann::json::object();
          for (const auto& [key, child] : x) out[key] = as_json(child);
          return out;
        } else {
          return as_json(x);
        }
      },
      v.is);
}

nlohmann::json as_json(const Choice& choice) {
  if (!choice.given()) return nullptr;
  if (choice.name == "constant" && choice.values.size() == 1) return as_json(choice.values.begin()->second);
  if (choice.values.empty()) return choice.name;
  Value group;
  group.is = choice.values;
  auto out = as_json(group);
  out["name"] = choice.name;
  return out;
}

std::vector<std::size_t> sizes_in(const nlohmann::json& list) {
  std::vector<std::size_t> sizes;
  for (const auto& x : list)
    if (x.is_number_unsigned()) sizes.push_back(x.get<std::size_t>());
  if (!list.is_array() || sizes.size() != list.size())
    throw Error("{} is not a list of whole numbers",
                list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return sizes;
}

Value as_value(const nlohmann::json& json, const std::string& source) {
  Value v;
  v.where = source;
  if (json.is_object()) {
    Value::Group group;
    for (const auto& [key, child] : json.items())
      if (!child.is_null()) group.emplace(key, as_value(child, source));
    v.is = std::move(group);
  } else if (json.is_array()) {
    Value::List list;
    for (const auto& child : json) list.push_back(as_value(child, source));
    v.is = std::move(list);
  } else if (json.is_boolean()) {
    v.is = json.get<bool>();
  } else if (json.is_number_integer()) {
    v.is = json.get<long>();
  } else if (json.is_number()) {
    v.is = json.get<double>();
  } else if (json == "inf" || json == "-inf") {
    v.is = json == "inf" ? HUGE_VAL : -HUGE_VAL;
  } else {
    v.is = json.get<std::string>();
  }
  return v;
}

}  // namespace kelvin
