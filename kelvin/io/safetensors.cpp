// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/safetensors.h"

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

Array array_of(const Value& entry, std::string_view data, std::size_t& left, const std::string& where) {
  const auto& type = row_named<TensorType>(entry.as<std::string>("dtype"), tensor_types, "number type", where);
  Array array;
  array.shape = entry.as<std::vector<std::size_t>>("shape");
  const auto offsets = entry.as<std::vector<std::size_t>>("data_offsets");
  if (offsets.size() != 2) throw Error("data_offsets are two numbers, not {}", offsets.size());
  const std::size_t first = offsets[0], last = offsets[1];
  if (first > last || last > data.size() || last - first > left)
    throw Error("{} should lie at bytes {} to {} of {}; the file is cut short or damaged", where, first, last,
                data.size());
  left -= last - first;
  array.values.resize(checked_count(array.shape, type.width, last - first, where));
  type.decode(data.substr(first, last - first), array.values);
  return array;
}

}  // namespace

std::map<std::string, Array> parse_safetensors(std::string_view bytes, const std::string& file) {
  constexpr std::size_t prefix = sizeof(std::uint64_t);
  const std::uint64_t length = bytes.size() < prefix ? 0 : number_at<std::uint64_t>(bytes, 0, std::endian::little);
  if (bytes.size() < prefix || length > bytes.size() - prefix)
    throw Error("{}: not a safetensors file, or cut short inside its header", file);
  const std::string_view data = bytes.substr(prefix + length);
  std::size_t left = data.size();  // every byte belongs to one array, so a small file cannot ask for much memory
  std::map<std::string, Array> arrays;
  try {
    const Value header = parse_json(bytes.substr(prefix, length), file);
    for (const auto& [name, entry] : header.entries())
      if (name != metadata) arrays.emplace(name, array_of(entry, data, left, name));
  } catch (const Error& e) {
    throw Error("{}: not a safetensors file, or a damaged one ({})", file, e.what());
  }
  if (left > 0) throw Error("{}: {} bytes belong to no array; the file is too long or damaged", file, left);
  return arrays;
}

std::map<std::string, Array> read_safetensors(const std::string& file) {
  return parse_safetensors(read_bytes(file), file);
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
