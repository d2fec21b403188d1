// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/rows.h"

#include <algorithm>
#include <cmath>

#include "kelvin/data/derived.h"

namespace kelvin {
namespace {

std::size_t column(const Word& wanted, const Sheet& sheet) {
  const auto named = std::find(sheet.names.begin(), sheet.names.end(), wanted.text);
  if (named != sheet.names.end()) return std::size_t(named - sheet.names.begin());
  const bool digits = !wanted.text.empty() && wanted.text.size() < 10 &&
                      std::all_of(wanted.text.begin(), wanted.text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && std::stoul(wanted.text) < sheet.columns()) return std::stoul(wanted.text);
  throw Error("{}: no column \"{}\"; its columns are {}, or 0 to {} by number{}", sheet.file, wanted.text,
              listed(sheet.names), sheet.columns() - 1, suggestion(wanted.text, sheet.names));
}

std::vector<double> numbers(Sheet& sheet, const Columns& wanted) {
  std::vector<double> out;
  const bool all = !sheet.csv && wanted == all_but({}, sheet);
  if (all && std::all_of(sheet.values.begin(), sheet.values.end(), [](double x) { return std::isfinite(x); }))
    return std::move(sheet.values);
  out.reserve(sheet.rows * wanted.size());
  for (std::size_t i = 0; i < sheet.rows; ++i)
    for (const std::size_t j : wanted) out.push_back(sheet.number(i, j));
  return out;
}

std::vector<std::string> names_of(const Sheet& sheet, const Columns& wanted) {
  std::vector<std::string> names;
  for (const std::size_t j : wanted) names.push_back(sheet.names[j]);
  return names;
}

// A column with texts but no numbers holds labels; one with both holds labels only if classes are wanted.
bool holds_labels(const Sheet& sheet, std::size_t j, bool classes) {
  if (!sheet.csv) return false;
  std::size_t texts = 0;
  for (std::size_t i = 0; i < sheet.rows; ++i) texts += !as_number(sheet.csv->cell(i, j));
  return texts == sheet.rows || (classes && texts > 0);
}

}  // namespace

Columns columns(const std::vector<Word>& wanted, const Sheet& sheet) {
  Columns list;
  for (const Word& w : wanted) list.push_back(column(w, sheet));
  return list;
}

Columns all_but(const Columns& left_out, const Sheet& sheet) {
  Columns list;
  for (std::size_t j = 0; j < sheet.columns(); ++j)
    if (std::find(left_out.begin(), left_out.end(), j) == left_out.end()) list.push_back(j);
  return list;
}

Columns named(const std::vector<std::string>& names, const Sheet& sheet) {
  Columns list;
  for (const std::string& name : names) {
    const auto at = std::find(sheet.names.begin(), sheet.names.end(), name);
    if (at == sheet.names.end()) return {};
    list.push_back(std::size_t(at - sheet.names.begin()));
  }
  return list;
}

RawRows rows_of(Source& source, const Wanted& wanted, const std::vector<std::string>& derived) {
  Sheet& x = source.inputs;
  Sheet& y = source.targets ? *source.targets : x;
  const Columns& out = wanted.targets;
  if (x.rows != y.rows)
    throw Error("\"{}\" has {} rows but \"{}\" has {} targets; they must be equally many", x.file, x.rows, y.file,
                y.rows);
  RawRows rows;
  rows.data.rows = x.rows;
  rows.data.input_names = names_of(x, wanted.inputs);
  rows.data.target_names = names_of(y, out);
  rows.file = y.file;
  if (y.csv) rows.lines = y.csv->lines;
  if (out.size() == 1 && wanted.texts_allowed && holds_labels(y, out[0], wanted.classes)) {
    for (std::size_t i = 0; i < y.rows; ++i) {
      const std::string_view cell = y.csv->cell(i, out[0]);
      if (cell.empty() || !std::isfinite(as_number(cell).value_or(0))) y.csv->number(i, out[0]);  // throws
      rows.labels.emplace_back(cell);
    }
  } else {
    rows.data.targets = numbers(y, out);
  }
  rows.data.inputs = numbers(x, wanted.inputs);
  add_derived(rows.data, derived, x.file);
  return rows;
}

}  // namespace kelvin
