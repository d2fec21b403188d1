// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/sheet.h"

#include <cmath>
#include <span>

#include "kelvin/io/bytes.h"
#include "kelvin/io/cifar.h"
#include "kelvin/io/idx.h"
#include "kelvin/io/image_folder.h"
#include "kelvin/io/npy.h"

namespace kelvin {
namespace {

struct HeaderWord {
  std::string_view name;
  Header header;
};
constexpr HeaderWord header_words[] = {{"auto", Header::automatic}, {"yes", Header::yes}, {"no", Header::no}};

Header header_of(const DataSettings& s) {
  return row_named(s.header, std::span<const HeaderWord>(header_words), "header").header;
}

// Arrays of more than two dimensions are images; their channels come last in memory.
void see_images(Sheet& sheet, const std::vector<std::size_t>& extents, const DataSettings& s) {
  const bool last = layout_of(s) == Layout::channels_last;
  if (extents.size() == 3) sheet.shape = {1, extents[1], extents[2]};
  if (extents.size() != 4) return;
  sheet.shape = last ? Shape{extents[3], extents[1], extents[2]} : Shape{extents[1], extents[2], extents[3]};
  if (!last && sheet.shape[0] > 1)
    sheet.values = sheet.values.columns(channels_last_order(sheet.shape), sheet.shape.size());
}

Sheet sheet_of(InputArray array, const std::string& file, std::string_view stem, std::string_view last) {
  Sheet sheet;
  sheet.file = file;
  if (array.shape.empty() || array.values.empty()) throw Error("{}: no rows of data", file);
  sheet.rows = array.shape[0];
  const std::size_t columns = array.values.size() / sheet.rows;
  sheet.names = columns == 1 ? std::vector<std::string>{std::string(stem)} : column_names(columns, stem, last);
  sheet.values = std::move(array.values);
  return sheet;
}
Sheet inputs_of(InputArray array, const std::string& file, const DataSettings& s) {
  const std::vector<std::size_t> extents = array.shape;
  Sheet sheet = sheet_of(std::move(array), file, "x", "");
  see_images(sheet, extents, s);
  if (sheet.columns() == 1) sheet.names = {"x1"};
  return sheet;
}
Sheet targets_of(InputArray array, const std::string& file) { return sheet_of(std::move(array), file, "y", ""); }
Sheet columns_of(InputArray array, const std::string& file) { return sheet_of(std::move(array), file, "x", "y"); }

Sheet sheet_of(Csv csv) {
  Sheet sheet;
  sheet.file = csv.file;
  sheet.names = csv.names;
  sheet.names_given = csv.has_header;
  sheet.rows = csv.rows();
  sheet.csv = std::move(csv);
  return sheet;
}

InputArray take_array(std::map<std::string, InputArray>& arrays, const std::string& name, const std::string& file) {
  const auto at = arrays.find(name);
  if (at != arrays.end()) return std::move(at->second);
  std::vector<std::string> known;
  for (const auto& [key, array] : arrays) known.push_back(key);
  throw Error("{}: no array \"{}\"; it has {}{}", file, name, listed(known), suggestion(name, known));
}

// The arrays of an NPZ file: those that the settings name, else x or X and y, else the only two, the wider one first.
std::pair<std::string, std::string> array_names(const std::map<std::string, InputArray>& arrays, const DataSettings& s,
                                                const std::string& file) {
  if (!s.inputs.empty() || !s.targets.empty()) {
    if (s.inputs.size() != 1 || s.targets.size() != 1)
      throw Error(
          "{}: an NPZ file needs one array for inputs and one for targets; write inputs = \"x\", targets = \"y\"",
          file);
    return {s.inputs[0].text, s.targets[0].text};
  }
  for (const auto& [x, y] : {std::pair{"x", "y"}, std::pair{"X", "y"}})
    if (arrays.contains(x) && arrays.contains(y)) return {x, y};
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  if (names.size() == 2) {
    const std::size_t first = arrays.at(names[0]).values.size(), second = arrays.at(names[1]).values.size();
    if (first > second) return {names[0], names[1]};
    if (first < second) return {names[1], names[0]};
  }
  throw Error("{}: which of the arrays {} are inputs and targets? write inputs = \"...\", targets = \"...\"", file,
              listed(names));
}

Source read_file(const std::string& file, const DataSettings& s, bool has_labels_file) {
  std::string bytes = read_bytes(file);
  Source source;
  if (is_idx(bytes)) {
    source.inputs = inputs_of(parse_idx(bytes, file, 255), file, s);
    if (!has_labels_file)
      throw Error("{}: an IDX file has no targets; give them with labels_file, or give the directory of all files",
                  file);
  } else if (is_npy(bytes)) {
    InputArray array = parse_npy(bytes, file);
    source.inputs = has_labels_file ? inputs_of(std::move(array), file, s) : columns_of(std::move(array), file);
  } else if (is_npz(bytes)) {
    auto arrays = parse_npz(bytes, file);
    if (arrays.size() == 1 && has_labels_file) {
      source.inputs = inputs_of(std::move(arrays.begin()->second), file, s);
    } else if (arrays.size() == 1) {
      source.inputs = columns_of(std::move(arrays.begin()->second), file);
    } else {
      const auto [x, y] = array_names(arrays, s, file);
      source.inputs = inputs_of(take_array(arrays, x, file), file, s);
      source.targets = targets_of(take_array(arrays, y, file), file);
      source.chosen = true;
    }
  } else if (is_cifar(file, bytes)) {
    source = read_cifar(bytes, file, s);
  } else {
    Csv table = parse_csv(std::move(bytes), file, header_of(s));
    if (!has_labels_file && is_image_list(table)) return read_image_list(table);
    source.inputs = sheet_of(std::move(table));
  }
  return source;
}

Sheet read_labels(const std::string& file, const DataSettings& s) {
  std::string bytes = read_bytes(file);
  if (is_idx(bytes)) return targets_of(parse_idx(bytes, file), file);
  if (is_npy(bytes)) return targets_of(parse_npy(bytes, file), file);
  if (is_npz(bytes)) {
    auto arrays = parse_npz(bytes, file);
    return targets_of(take_array(arrays, arrays.size() == 1 ? arrays.begin()->first : "y", file), file);
  }
  Sheet sheet = sheet_of(parse_csv(std::move(bytes), file, header_of(s)));
  if (!sheet.names_given)
    sheet.names = sheet.columns() == 1 ? std::vector<std::string>{"y"} : column_names(sheet.columns(), "y");
  if (sheet.csv) sheet.csv->names = sheet.names;
  return sheet;
}

// ---- shapes

struct LayoutWord {
  std::string_view name;
  Layout layout;
};
constexpr LayoutWord layout_words[] = {{"channels_first", Layout::channels_first},
                                       {"channels_last", Layout::channels_last}};

}  // namespace

Layout layout_of(const DataSettings& s) {
  return row_named(s.layout, std::span<const LayoutWord>(layout_words), "data.layout").layout;
}

std::vector<std::size_t> channels_last_order(const Shape& image) {
  const std::size_t channels = image[0], pixels = image[1] * image[2];
  std::vector<std::size_t> order;
  for (std::size_t pixel = 0; pixel < pixels; ++pixel)
    for (std::size_t c = 0; c < channels; ++c) order.push_back(c * pixels + pixel);
  return order;
}

double Sheet::number(std::size_t row, std::size_t column) const {
  if (csv) return csv->number(row, column);
  const double x = values[row * columns() + column];
  if (!std::isfinite(x))
    throw Error("{} row {}: column \"{}\" holds {}; every number must be finite", file, row + 1, names[column], x);
  return x;
}

Source read_source(const std::string& file, const std::string& labels_file, const DataSettings& s,
                   bool targets_needed) {
  Source source = read_file(file, s, !labels_file.empty() || !targets_needed);
  if (labels_file.empty()) return source;
  if (source.targets) throw Error("{}: has targets of its own; leave out labels_file", file);
  source.targets = read_labels(labels_file, s);
  return source;
}

}  // namespace kelvin
