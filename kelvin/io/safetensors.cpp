// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "kelvin/core/choice.h"
#include "kelvin/io/bytes.h"
#include "kelvin/io/json.h"

namespace kelvin {
namespace {

constexpr const char* metadata = "__metadata__";  // the one name in a header that is not an array

// The upper half of a float.
struct BrainFloat {
  std::uint16_t bits;
  explicit operator double() const { return double(std::bit_cast<float>(std::uint32_t(bits) << 16)); }
};

template <class T>
void decode_tensor(std::string_view bytes, std::vector<double>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = double(number_at<T>(bytes, i * sizeof(T), std::endian::little));
}

struct TensorType {
  std::string_view name;
  std::size_t width;
  void (*decode)(std::string_view, std::vector<double>&);
};
constexpr TensorType tensor_types[] = {
    {"F32", 4, decode_tensor<float>},
    {"F64", 8, decode_tensor<double>},
    {"BF16", 2, decode_tensor<BrainFloat>},
};

// Where the numbers of an array lie among those of all.
struct TensorPlace {
  std::string type;
  std::vector<std::size_t> shape;
  std::size_t first, last;
};

// Every byte belongs to one array, so a small file cannot ask for much memory.
std::map<std::string, TensorPlace> places_in(std::string_view header, std::size_t bytes, const std::string& file) {
  std::map<std::string, TensorPlace> places;
  std::size_t left = bytes;
  const Value all = parse_json(header, file);
  for (const auto& [name, entry] : all.entries()) {
    if (name == metadata) continue;
    const auto offsets = entry.as<std::vector<std::size_t>>("data_offsets");
    if (offsets.size() != 2) throw Error("data_offsets are two numbers, not {}", offsets.size());
    const std::size_t first = offsets[0], last = offsets[1];
    if (first > last || last > bytes || last - first > left)
      throw Error("{} should lie at bytes {} to {} of {}; the file is cut short or damaged", name, first, last, bytes);
    left -= last - first;
    places.emplace(
        name, TensorPlace{entry.as<std::string>("dtype"), entry.as<std::vector<std::size_t>>("shape"), first, last});
  }
  if (left > 0) throw Error("{} bytes belong to no array; the file is too long", left);
  return places;
}

Array tensor_at(const TensorPlace& place, std::string_view bytes, const std::string& name) {
  const auto& type = row_named<TensorType>(place.type, tensor_types, "number type", name);
  Array array;
  array.shape = place.shape;
  array.values.resize(checked_count(array.shape, type.width, bytes.size(), name));
  type.decode(bytes, array.values);
  return array;
}

constexpr std::size_t length_prefix = sizeof(std::uint64_t);

// The length of the header, if so many bytes have room for it.
std::uint64_t header_length(std::string_view prefix, std::size_t bytes, const std::string& file) {
  const std::uint64_t length =
      prefix.size() < length_prefix ? 0 : number_at<std::uint64_t>(prefix, 0, std::endian::little);
  if (prefix.size() < length_prefix || length > bytes - length_prefix)
    throw Error("{}: not a safetensors file, or cut short inside its header", file);
  return length;
}

// Arrays of a file for which `wanted` is true; `read` gives some of the bytes behind the header.
template <class Wanted, class Read>
std::map<std::string, Array> some_tensors(std::string_view header, std::size_t bytes, const std::string& file,
                                          Wanted&& wanted, Read&& read) {
  std::map<std::string, Array> arrays;
  try {
    for (const auto& [name, place] : places_in(header, bytes, file))
      if (wanted(name)) arrays.emplace(name, tensor_at(place, read(place.first, place.last - place.first), name));
  } catch (const Error& e) {
    throw Error("{}: not a safetensors file, or a damaged one ({})", file, e.what());
  }
  return arrays;
}

}  // namespace

std::map<std::string, Array> parse_safetensors(std::string_view bytes, const std::string& file) {
  const std::uint64_t length = header_length(bytes.substr(0, length_prefix), bytes.size(), file);
  const std::string_view data = bytes.substr(length_prefix + length);
  return some_tensors(
      bytes.substr(length_prefix, length), data.size(), file, [](const std::string&) { return true; },
      [&](std::size_t first, std::size_t count) { return data.substr(first, count); });
}

std::map<std::string, Array> read_safetensors(const std::string& file) {
  return parse_safetensors(read_bytes(file), file);
}

std::map<std::string, Array> read_safetensors(const std::string& file, const std::set<std::string>& names) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) throw Error("cannot read \"{}\"; check the path", file);
  const auto size = std::size_t(in.tellg());
  std::string piece;
  const auto read = [&](std::size_t first, std::size_t count) -> std::string_view {
    piece.resize(count);
    in.seekg(std::streamoff(first));
    if (!in.read(piece.data(), std::streamsize(count))) throw Error("cannot read \"{}\" to its end", file);
    return piece;
  };
  const std::uint64_t length = header_length(read(0, std::min(size, length_prefix)), size, file);
  const std::size_t data = length_prefix + length;
  const std::string header(read(length_prefix, length));
  return some_tensors(
      header, size - data, file, [&](const std::string& name) { return names.contains(name); },
      [&](std::size_t first, std::size_t count) { return read(data + first, count); });
}

template <class Real>
void write_safetensors(const std::string& file, const std::map<std::string, ArrayView<Real>>& arrays,
                       const std::map<std::string, std::string>& about) {
  static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");
  Value::Group header = {{metadata, about}};
  std::size_t at = 0;
  for (const auto& [name, array] : arrays) {
    const std::size_t end = at + array.values.size_bytes();
    checked_count(array.shape, sizeof(Real), end - at, file);
    header[name] = Value::Group{
        {"dtype", sizeof(Real) == 4 ? "F32" : "F64"}, {"shape", array.shape}, {"data_offsets", Value::List{at, end}}};
    at = end;
  }
  std::string text = to_json(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the numbers start at a multiple of 8
  const std::uint64_t length = text.size();
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length) << text;
  for (const auto& [name, array] : arrays)
    out.write(reinterpret_cast<const char*>(array.values.data()), std::streamsize(array.values.size_bytes()));
  out.close();
  if (!out) throw Error("cannot write \"{}\"; check that its directory exists and has room", file);
}

template void write_safetensors(const std::string&, const std::map<std::string, ArrayView<float>>&,
                                const std::map<std::string, std::string>&);
template void write_safetensors(const std::string&, const std::map<std::string, ArrayView<double>>&,
                                const std::map<std::string, std::string>&);

}  // namespace kelvin
