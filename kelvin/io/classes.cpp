// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/classes.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace kelvin {
namespace {

// A single 1 in every row of the target columns, else 0.
bool one_hot(const Dataset& data) {
  const std::size_t k = data.target_count();
  for (std::size_t i = 0; i < data.rows; ++i) {
    const double* row = data.targets.data() + i * k;
    if (std::count(row, row + k, 1.0) != 1 || std::size_t(std::count(row, row + k, 0.0)) != k - 1) return false;
  }
  return true;
}

}  // namespace

void label(RawRows& rows) {
  Dataset& data = rows.data;
  const std::size_t k = data.target_count();
  if (!rows.labels.empty()) return;
  if (k > 1 && !one_hot(data))
    throw Error(
        "{}: the {} target columns ({}) are not one-hot; classes need one column, or a single 1 in every row - or "
        "write targets_are = \"numbers\"",
        rows.file, k, listed(data.target_names));
  for (std::size_t i = 0; i < data.rows; ++i) {
    const double* row = data.targets.data() + i * k;
    if (k > 1) {
      rows.labels.push_back(data.target_names[std::size_t(std::find(row, row + k, 1.0) - row)]);
    } else {
      if (*row != std::floor(*row))
        throw Error(
            "{}: target {} is no class; classes are whole numbers or texts - or write targets_are = \"numbers\"",
            rows.where(i), *row);
      rows.labels.push_back(fmt::format("{:.0f}", *row + 0.0));  // -0 is 0
    }
  }
}

// Numbers in ascending order, else texts in alphabetical order.
std::vector<std::string> classes_in(const std::vector<std::string>& labels) {
  std::vector<std::string> classes = labels;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  if (std::all_of(classes.begin(), classes.end(), [](const auto& c) { return as_number(c).has_value(); }))
    std::stable_sort(classes.begin(), classes.end(),
                     [](const auto& a, const auto& b) { return *as_number(a) < *as_number(b); });
  return classes;
}

std::vector<std::string> kept_classes(const DataSettings& s, const std::vector<std::string>& found,
                                      const std::string& file) {
  std::vector<std::string> kept;
  for (const Word& w : s.classes) {
    if (std::find(found.begin(), found.end(), w.text) == found.end())
      throw Error("{}: nothing is left of class \"{}\": no training row has it; the classes are {}{}", file, w.text,
                  listed(found), suggestion(w.text, found));
    if (std::find(kept.begin(), kept.end(), w.text) != kept.end())
      throw Error("classes: \"{}\" is given twice; each class is given once", w.text);
    kept.push_back(w.text);
  }
  return kept;
}

Dataset subset(const Dataset& from, const RowList& rows) {
  Dataset out;
  out.rows = rows.size();
  out.input_names = from.input_names;
  out.target_names = from.target_names;
  out.classes = from.classes;
  out.shape = from.shape;
  out.steps = from.steps;
  out.vocabulary = from.vocabulary;
  out.inputs = from.inputs.rows(rows, from.input_count());
  const std::size_t width = from.target_count();
  for (const std::size_t i : rows)
    out.targets.insert(out.targets.end(), from.targets.begin() + long(i * width),
                       from.targets.begin() + long((i + 1) * width));
  return out;
}

Dataset numbered(RawRows rows, const std::vector<std::string>& classes, bool some_go) {
  std::unordered_map<std::string_view, double> number;
  for (const std::string& c : classes) number.emplace(c, double(number.size()));
  RowList kept;
  rows.data.targets.assign(rows.data.rows, 0.0);
  for (std::size_t i = 0; i < rows.data.rows; ++i) {
    const auto at = number.find(rows.labels[i]);
    if (at != number.end()) rows.data.targets[i] = at->second, kept.push_back(i);
    else if (!some_go)
      throw Error("{}: label \"{}\" does not occur in the training rows; their labels are {}", rows.where(i),
                  rows.labels[i], listed(classes));
  }
  if (rows.data.target_count() > 1) rows.data.target_names = {"class"};
  rows.data.classes = classes;
  return kept.size() == rows.data.rows ? std::move(rows.data) : subset(rows.data, kept);
}

}  // namespace kelvin
