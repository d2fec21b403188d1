// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/npy.h"

#include <zip.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>

#include "kelvin/core/error.h"
#include "kelvin/io/bytes.h"

namespace kelvin {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

// IEEE half precision: a sign bit, 5 of exponent, 10 of fraction.
struct Half {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction ? NAN : HUGE_VAL)
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -size : size;
  }
};

template <class T>
void decode_npy(std::string_view bytes, std::endian order, std::vector<double>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = double(number_at<T>(bytes, i * sizeof(T), order));
}

struct NpyType {
  std::string_view name;
  std::size_t width;
  void (*decode)(std::string_view, std::endian, std::vector<double>&);
};
constexpr NpyType npy_types[] = {
    {"f2", 2, decode_npy<Half>},          {"f4", 4, decode_npy<float>},         {"f8", 8, decode_npy<double>},
    {"i1", 1, decode_npy<std::int8_t>},   {"i2", 2, decode_npy<std::int16_t>},  {"i4", 4, decode_npy<std::int32_t>},
    {"i8", 8, decode_npy<std::int64_t>},  {"u1", 1, decode_npy<std::uint8_t>},  {"u2", 2, decode_npy<std::uint16_t>},
    {"u4", 4, decode_npy<std::uint32_t>}, {"u8", 8, decode_npy<std::uint64_t>}, {"b1", 1, decode_npy<std::uint8_t>},
};

// The header is a Python literal: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
struct HeaderText {
  std::string_view rest;
  const std::string& file;

  [[noreturn]] void wrong() const {
    throw Error("{}: the NPY header is not {{'descr': ..., 'fortran_order': ..., 'shape': ...}}; the file is damaged",
                file);
  }
  void skip() { rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size())); }
  bool take(std::string_view token) {
    skip();
    if (!rest.starts_with(token)) return false;
    rest.remove_prefix(token.size());
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) wrong();
  }
  std::string_view quoted() {
    const std::string_view mark = take("'") ? "'" : "\"";
    if (mark == "\"") need(mark);
    const std::size_t end = rest.find(mark);
    if (end == rest.npos) wrong();
    const std::string_view inside = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return inside;
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> list;
    need("(");
    while (!take(")")) {
      skip();
      std::size_t n = 0;
      const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
      if (status == std::errc::result_out_of_range) throw Error("{}: the NPY shape is too large to be true", file);
      if (status != std::errc()) wrong();
      rest.remove_prefix(std::size_t(end - rest.data()));
      take("L");  // Python 2 wrote long numbers so
      list.push_back(n);
      if (!take(",") && !rest.starts_with(")")) wrong();
    }
    return list;
  }
};

struct NpyHeader {
  std::string_view descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

NpyHeader parse_header(std::string_view text, const std::string& file) {
  HeaderText at{text, file};
  NpyHeader header;
  bool described = false, ordered = false, shaped = false;
  at.need("{");
  while (!at.take("}")) {
    const std::string_view key = at.quoted();
    at.need(":");
    if (key == "descr") {
      if (at.take("[")) throw Error("{}: an NPY file of records; store each field as an array of numbers", file);
      header.descr = at.quoted();
      described = true;
    } else if (key == "fortran_order") {
      header.fortran_order = at.take("True");
      ordered = true;
      if (!header.fortran_order) at.need("False");
    } else if (key == "shape") {
      header.shape = at.tuple();
      shaped = true;
    } else {
      at.wrong();
    }
    if (!at.take(",") && !at.rest.starts_with("}")) at.wrong();
  }
  if (!described || !ordered || !shaped) at.wrong();
  return header;
}

const NpyType& type_named(std::string_view descr, const std::string& file) {
  std::string known;
  for (const NpyType& type : npy_types) {
    if (descr.size() == 3 && descr.substr(1) == type.name && std::string_view("<>|=").find(descr[0]) != descr.npos)
      return type;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", type.name);
  }
  throw Error("{}: numbers of type \"{}\" cannot be read; known types: {}", file, descr, known);
}

// From first-index-fastest to last-index-fastest.
std::vector<double> c_order(const std::vector<double>& values, const std::vector<std::size_t>& shape) {
  std::vector<double> out(values.size());
  std::vector<std::size_t> index(shape.size(), 0), stride(shape.size(), 1);
  for (std::size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * shape[d - 1];
  std::size_t from = 0;
  for (double& x : out) {
    x = values[from];
    for (std::size_t d = shape.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return out;
}

template <class Real>
std::string npy_bytes(const ArrayView<Real>& array, const std::string& file) {
  std::string shape;
  std::size_t count = 1;
  for (const std::size_t n : array.shape) shape += fmt::format("{}, ", n), count *= n;
  if (count != array.values.size())
    throw Error("{}: an array of {} numbers cannot have the shape ({})", file, array.values.size(), shape);
  std::string header = fmt::format("{{'descr': '{}f{}', 'fortran_order': False, 'shape': ({}), }}",
                                   std::endian::native == std::endian::little ? '<' : '>', sizeof(Real), shape);
  header.append(63 - (magic.size() + 4 + header.size()) % 64, ' ') += '\n';  // the numbers start at a multiple of 64
  std::string bytes(magic);
  bytes += {'\1', '\0', char(header.size() & 255), char(header.size() >> 8)};
  bytes += header;
  return bytes.append(reinterpret_cast<const char*>(array.values.data()), count * sizeof(Real));
}

[[noreturn]] void zip_failed(const std::string& file, std::string_view reason) {
  throw Error("{}: cannot read the NPZ archive ({}); the file is damaged or cut short", file, reason);
}

std::string unpacked(zip_t* archive, zip_uint64_t i, const std::string& file) {
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> entry(zip_fopen_index(archive, i, 0), zip_fclose);
  if (!entry) zip_failed(file, zip_strerror(archive));
  constexpr std::size_t piece = 1 << 20;  // grows with what is there, not with what the archive claims
  std::string bytes;
  for (;;) {
    const std::size_t had = bytes.size();
    bytes.resize(had + piece);
    const zip_int64_t got = zip_fread(entry.get(), bytes.data() + had, piece);
    if (got < 0) zip_failed(file, zip_file_strerror(entry.get()));
    bytes.resize(had + std::size_t(got));
    if (got == 0) return bytes;
  }
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(magic); }
bool is_npz(std::string_view bytes) { return bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6"); }

InputArray parse_npy(std::string_view bytes, const std::string& file) {
  if (!is_npy(bytes)) throw Error("{}: not an NPY file", file);
  const int version = bytes.size() > magic.size() ? bytes[magic.size()] : 1;
  if (version < 1 || version > 3) throw Error("{}: NPY version {} is not known; 1, 2 and 3 are", file, version);
  const std::size_t at = magic.size() + 2, text = at + (version == 1 ? 2 : 4);
  if (bytes.size() < text) throw Error("{}: cut short inside the NPY header", file);
  const std::size_t length = version == 1 ? number_at<std::uint16_t>(bytes, at, std::endian::little)
                                          : number_at<std::uint32_t>(bytes, at, std::endian::little);
  const std::size_t start = text + length;
  if (bytes.size() < start) throw Error("{}: cut short inside the NPY header", file);
  const NpyHeader header = parse_header(bytes.substr(text, length), file);
  const NpyType& type = type_named(header.descr, file);
  InputArray array;
  array.shape = header.shape;
  const std::size_t count = checked_count(array.shape, type.width, bytes.size() - start, file);
  const std::string_view numbers = bytes.substr(start);
  if (type.name == "u1" && !header.fortran_order) {
    array.values = InputValues(std::vector<std::uint8_t>(numbers.begin(), numbers.end()), 1);
    return array;
  }
  std::vector<double> values(count);
  const std::endian order = header.descr[0] == '>'   ? std::endian::big
                            : header.descr[0] == '<' ? std::endian::little
                                                     : std::endian::native;
  type.decode(numbers, order, values);
  if (header.fortran_order && array.shape.size() > 1) values = c_order(values, array.shape);
  array.values = std::move(values);
  return array;
}

std::map<std::string, InputArray> parse_npz(std::string_view bytes, const std::string& file) {
  if (!is_npz(bytes)) throw Error("{}: not an NPZ file", file);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  const std::unique_ptr<zip_t, void (*)(zip_t*)> archive(
      source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr, zip_discard);
  if (!archive) {
    const std::string reason = zip_error_strerror(&error);
    if (source) zip_source_free(source);
    zip_error_fini(&error);
    zip_failed(file, reason);
  }
  std::map<std::string, InputArray> arrays;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    const char* entry = zip_get_name(archive.get(), zip_uint64_t(i), 0);
    if (!entry) zip_failed(file, zip_strerror(archive.get()));
    std::string name = entry;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    arrays.emplace(name,
                   parse_npy(unpacked(archive.get(), zip_uint64_t(i), file), fmt::format("{} ({})", file, entry)));
  }
  return arrays;
}

Array read_npy(const std::string& file) { return parse_npy(read_bytes(file), file); }
std::map<std::string, Array> read_npz(const std::string& file) {
  std::map<std::string, Array> arrays;
  for (const auto& [name, array] : parse_npz(read_bytes(file), file)) arrays.emplace(name, array);
  return arrays;
}

template <class Real>
void write_npy(const std::string& file, const ArrayView<Real>& array) {
  const std::string bytes = npy_bytes(array, file);
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), std::streamsize(bytes.size()));
  out.close();
  if (!out) throw Error("cannot write \"{}\"; check that its directory exists and has room", file);
}

template <class Real>
void write_npz(const std::string& file, const std::map<std::string, ArrayView<Real>>& arrays) {
  const auto check = [&](bool good) {
    if (!good) throw Error("cannot write \"{}\"; check that its directory exists and has room", file);
  };
  if (arrays.empty()) throw Error("{}: an NPZ archive needs at least one array", file);
  std::vector<std::string> contents;  // must stay until the archive is closed
  contents.reserve(arrays.size());
  std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr),
                                                   zip_discard);
  check(archive != nullptr);
  for (const auto& [name, array] : arrays) {
    contents.push_back(npy_bytes(array, file));
    zip_source_t* source = zip_source_buffer(archive.get(), contents.back().data(), contents.back().size(), 0);
    const zip_int64_t i = source ? zip_file_add(archive.get(), (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (source && i < 0) zip_source_free(source);
    check(i >= 0);
    constexpr std::uint16_t midnight = 0, first_day_of_1980 = 33;  // no clock: equal arrays give equal bytes
    check(zip_set_file_compression(archive.get(), zip_uint64_t(i), ZIP_CM_STORE, 0) == 0);
    check(zip_file_set_dostime(archive.get(), zip_uint64_t(i), midnight, first_day_of_1980, 0) == 0);
  }
  check(zip_close(archive.get()) == 0);
  archive.release();
}

template void write_npy(const std::string&, const ArrayView<float>&);
template void write_npy(const std::string&, const ArrayView<double>&);
template void write_npz(const std::string&, const std::map<std::string, ArrayView<float>>&);
template void write_npz(const std::string&, const std::map<std::string, ArrayView<double>>&);

}  // namespace kelvin
