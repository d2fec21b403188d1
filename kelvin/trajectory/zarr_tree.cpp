// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/zarr_tree.h"

#include <algorithm>

#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

std::string bytes_of_numbers(const ZarrType& type, const std::vector<double>& numbers) {
  std::string bytes(numbers.size() * type.width, '\0');
  for (std::size_t i = 0; i < numbers.size(); ++i) type.put(numbers[i], bytes.data() + i * type.width);
  return bytes;
}

// A file that stays as it is.
void ZarrTree::keep(const std::filesystem::path& file, std::string_view bytes) {
  write_file(file, bytes, false);
  sums_[file.lexically_relative(root_).string()] = sum_of(bytes);
}

void ZarrTree::write_with(PendingFiles& others, const std::filesystem::path& chunk, std::string_view packed) {
  others.add(chunk, packed);
  sums_[chunk.lexically_relative(root_).string()] = sum_of(packed);
}

void ZarrTree::tell(const std::string& file, Value about) {
  keep(root_ / file, to_json(about, 2));
  told_[file] = std::move(about);
}

void ZarrTree::group(const std::string& name, const Value& attributes) {
  const std::string below = name.empty() ? "" : name + "/";
  make_directories(root_ / name);
  tell(below + ".zgroup", Value::Group{{"zarr_format", 2}});
  tell(below + ".zattrs", attributes);
}

void ZarrTree::describe(const std::string& array, const ZarrAbout& about) {
  make_directories(root_ / array);
  tell(array + "/.zattrs", about.attributes);
  tell(array + "/.zarray", about.array);
}

void ZarrTree::describe_growing(const std::string& array, const ZarrAbout& about) {
  describe(array, about);
  sums_.erase(array + "/.zarray");
}

void ZarrTree::lengthen(const std::string& array, std::size_t dimension, std::uint64_t length) {
  Value about = told_.at(array + "/.zarray");
  Value& shape = std::get<Value::Group>(about.is).at("shape");
  std::get<Value::List>(shape.is).at(dimension) = length;
  write_file(root_ / array / ".zarray", to_json(about, 2), false);
  told_[array + "/.zarray"] = std::move(about);
}

void ZarrTree::consolidate() {
  const Value all = Value::Group{{"zarr_consolidated_format", 1}, {"metadata", told_}};
  write_file(root_ / ".zmetadata", to_json(all, 2), false);
}

void ZarrTree::write(const std::string& array, std::string_view type, const std::vector<std::size_t>& shape,
                     const std::vector<std::string>& dimensions, const std::string& bytes) {
  describe(array, zarr_about(type, shape, shape, dimensions));
  keep(zarr_chunk(root_ / array, shape.size(), 0, 0), pack(bytes));
}

void ZarrTree::write_numbers(const std::string& array, std::string_view type, const std::vector<std::size_t>& shape,
                             const std::vector<std::string>& dimensions, const std::vector<double>& numbers) {
  write(array, type, shape, dimensions, bytes_of_numbers(zarr_type(type), numbers));
}

void ZarrTree::write_rows(const std::string& array, const InputValues& stored, const Units& units, std::size_t columns,
                          const std::vector<std::string>& dimensions) {
  constexpr std::size_t most = std::size_t(1) << 20;  // numbers of a chunk, if a row has no more
  const ZarrType& type = zarr_type("<f8");
  const std::size_t rows = stored.size() / columns;
  const std::size_t chunk = std::min(rows, std::max<std::size_t>(1, most / columns));
  describe(array, zarr_about(type.name, {rows, columns}, {chunk, columns}, dimensions));
  std::vector<double> piece;
  for (std::size_t first = 0; first < stored.size(); first += chunk * columns) {
    piece.resize(std::min(chunk * columns, stored.size() - first));
    stored.copy(first, piece);
    for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = units.original(i % columns, piece[i]);
    piece.resize(chunk * columns);  // the last chunk is a whole one too
    keep(zarr_chunk(root_ / array, 2, first / (chunk * columns), 0), pack(bytes_of_numbers(type, piece)));
  }
}

void ZarrTree::write_names(const std::string& coordinate, const std::vector<std::string>& names) {
  std::size_t longest = 1;
  for (const std::string& text : names) longest = std::max(longest, text.size());
  std::string bytes(names.size() * longest * 4, '\0');
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t k = 0; k < names[i].size(); ++k) bytes[(i * longest + k) * 4] = names[i][k];
  write(coordinate, fmt::format("<U{}", longest), {names.size()}, {coordinate.substr(coordinate.rfind('/') + 1)},
        bytes);
}

}  // namespace kelvin
