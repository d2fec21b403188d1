// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kelvin/data/derived.h"
#include "kelvin/io/classes.h"

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

InputValues numbers(Sheet& sheet, const Columns& wanted) {
  const bool all = !sheet.csv && wanted == all_but({}, sheet);
  const auto& known = sheet.values.numbers();  // bytes are always finite
  if (all && std::all_of(known.begin(), known.end(), [](double x) { return std::isfinite(x); }))
    return std::move(sheet.values);
  if (sheet.values.bytes()) return sheet.values.columns(wanted, sheet.columns());
  std::vector<double> out;
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
  if (!sheet.texts.empty()) return true;
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
    rows.labels = std::move(y.texts);
    for (std::size_t i = rows.labels.size(); i < y.rows; ++i) {
      const std::string_view cell = y.csv->cell(i, out[0]);
      if (cell.empty() || !std::isfinite(as_number(cell).value_or(0))) y.csv->number(i, out[0]);  // throws
      rows.labels.emplace_back(cell);
    }
  } else {
    rows.data.targets = numbers(y, out).list();
  }
  rows.data.inputs = numbers(x, wanted.inputs);
  if (derived.empty()) rows.data.shape = wanted.shape;
  add_derived(rows.data, derived, x.file);
  return rows;
}

std::string RawRows::where(std::size_t row) const {
  std::size_t first = 0;
  std::string_view in = file;
  for (const auto& [begins, name] : later_files)
    if (row >= begins) {
      first = begins;
      in = name;
    }
  return lines.empty() ? fmt::format("{} row {}", in, row - first + 1) : fmt::format("{} line {}", in, lines[row]);
}

void append(RawRows& to, RawRows more) {
  if (to.labels.empty() != more.labels.empty()) {  // one file has texts, the other numbers
    label(to);
    label(more);
  }
  const auto add = []<class T>(std::vector<T>& all, const std::vector<T>& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  to.later_files.emplace_back(to.data.rows, more.file);
  to.data.rows += more.data.rows;
  to.data.inputs.append(more.data.inputs);
  add(to.data.targets, more.data.targets);
  add(to.labels, more.labels);
  if (to.lines.size() + more.lines.size() == to.data.rows) add(to.lines, more.lines);
  else to.lines.clear();
}

Shape arrange_images(Columns& inputs, const DataSettings& s, const Sheet& sheet) {
  if (s.shape.empty()) return inputs == all_but({}, sheet) ? sheet.shape : Shape();
  if (s.shape.size() != 3 || std::ranges::any_of(s.shape, [](long extent) { return extent < 1; }))
    throw Error("data.shape is [{}]; it must be [channels, height, width] of an image, each at least 1",
                fmt::join(s.shape, ", "));
  const Shape shape = {std::size_t(s.shape[0]), std::size_t(s.shape[1]), std::size_t(s.shape[2])};
  if (sheet.shape.rank() > 0 && sheet.shape != shape)
    throw Error("{}: its images are {}, but data.shape says {}; leave out data.shape", sheet.file, sheet.shape.text(),
                shape.text());
  if (!s.derived.empty()) throw Error("data.shape does not go with data.derived: an image has no further numbers");
  if (double(shape[0]) * double(shape[1]) * double(shape[2]) != double(inputs.size()))
    throw Error("{}: data.shape = [{}] does not fit rows of {} numbers; their product must be that", sheet.file,
                fmt::join(s.shape, ", "), inputs.size());
  if (sheet.shape.rank() > 0 || shape[0] == 1 || layout_of(s) == Layout::channels_last) return shape;
  Columns turned;
  for (const std::size_t at : channels_last_order(shape)) turned.push_back(inputs[at]);
  inputs = std::move(turned);
  return shape;
}

}  // namespace kelvin
