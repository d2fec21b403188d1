// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/idx.h"

#include <cstdint>

#include "kelvin/core/error.h"
#include "kelvin/io/bytes.h"

namespace kelvin {
namespace {

template <class T>
InputValues decode_idx(std::string_view bytes, std::size_t count) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = double(number_at<T>(bytes, i * sizeof(T), std::endian::big));
  return out;
}

struct IdxType {
  unsigned char code;
  std::size_t width;
  InputValues (*decode)(std::string_view, std::size_t count);
};
constexpr IdxType idx_types[] = {
    {0x08, 1, decode_idx<std::uint8_t>}, {0x09, 1, decode_idx<std::int8_t>}, {0x0b, 2, decode_idx<std::int16_t>},
    {0x0c, 4, decode_idx<std::int32_t>}, {0x0d, 4, decode_idx<float>},       {0x0e, 8, decode_idx<double>},
};

const IdxType* type_of(std::string_view bytes) {
  if (bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 && bytes[3] > 0)
    for (const IdxType& type : idx_types)
      if (type.code == static_cast<unsigned char>(bytes[2])) return &type;
  return nullptr;
}

}  // namespace

bool is_idx(std::string_view bytes) { return type_of(bytes); }

InputArray parse_idx(std::string_view bytes, const std::string& file, double white) {
  const IdxType* type = type_of(bytes);
  if (!type)
    throw Error("{}: not an IDX file; it must begin with 0, 0, a type (8, 9, 11 ... 14) and the number of dimensions",
                file);
  const std::size_t dimensions = static_cast<unsigned char>(bytes[3]), start = 4 + 4 * dimensions;
  if (bytes.size() < start) throw Error("{}: cut short inside the header", file);
  InputArray array;
  for (std::size_t d = 0; d < dimensions; ++d)
    array.shape.push_back(number_at<std::uint32_t>(bytes, 4 + 4 * d, std::endian::big));
  const std::size_t count = checked_count(array.shape, type->width, bytes.size() - start, file);
  const std::string_view numbers = bytes.substr(start);
  const bool unsigned_bytes = type->code == idx_types[0].code;
  array.values = unsigned_bytes ? InputValues(std::vector<std::uint8_t>(numbers.begin(), numbers.end()), white)
                                : type->decode(numbers, count);
  return array;
}

InputArray read_idx(const std::string& file, double white) { return parse_idx(read_bytes(file), file, white); }

}  // namespace kelvin
