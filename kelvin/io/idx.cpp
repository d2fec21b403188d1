// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/idx.h"

#include <cstdint>

#include "kelvin/core/error.h"
#include "kelvin/io/bytes.h"

namespace kelvin {
namespace {

template <class T>
void decode_idx(std::string_view bytes, std::vector<double>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = double(number_at<T>(bytes, i * sizeof(T), std::endian::big));
}

struct IdxType {
  unsigned char code;
  std::size_t width;
  void (*decode)(std::string_view, std::vector<double>&);
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

Array parse_idx(std::string_view bytes, const std::string& file, double white) {
  const IdxType* type = type_of(bytes);
  if (!type)
    throw Error("{}: not an IDX file; it must begin with 0, 0, a type (8, 9, 11 ... 14) and the number of dimensions",
                file);
  const std::size_t dimensions = static_cast<unsigned char>(bytes[3]), start = 4 + 4 * dimensions;
  if (bytes.size() < start) throw Error("{}: cut short inside the header", file);
  Array array;
  for (std::size_t d = 0; d < dimensions; ++d)
    array.shape.push_back(number_at<std::uint32_t>(bytes, 4 + 4 * d, std::endian::big));
  array.values.resize(checked_count(array.shape, type->width, bytes.size() - start, file));
  type->decode(bytes.substr(start), array.values);
  if (type->code == idx_types[0].code && white != 1)
    for (double& x : array.values) x /= white;
  return array;
}

Array read_idx(const std::string& file, double white) { return parse_idx(read_bytes(file), file, white); }

}  // namespace kelvin
