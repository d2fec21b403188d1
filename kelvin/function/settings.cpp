// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/settings.h"

#include <algorithm>

namespace kelvin {

bool LayerList::are_sizes() const {
  return std::ranges::all_of(items_, [](const Value& item) { return item.number(); });
}

std::vector<long> LayerList::sizes() const {
  if (!are_sizes())
    throw Error("model.layers names its layers; this needs a network given by sizes, such as [2, 100, 1]");
  std::vector<long> out;
  for (const Value& item : items_) assign(out.emplace_back(), item, "model.layers");
  return out;
}

void assign(LayerList& list, const Value& given, const std::string& key) {
  Value::List items;
  assign(items, given, key);
  list = LayerList(std::move(items));
  if (list.are_sizes()) {
    list = LayerList(list.sizes());  // whole numbers, or an error that says so
    return;
  }
  for (const Value& item : list.items())
    if (!item.text() && !item.group())
      throw Error("{}: {} mixes sizes and named layers; give sizes only, or names such as \"dense 100\"", given.where,
                  key);
}

Value as_value(const LayerList& list) { return Value(list.items()); }

}  // namespace kelvin
