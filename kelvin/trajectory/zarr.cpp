// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/zarr.h"

#include <zstd.h>

#include <bit>
#include <cstring>
#include <memory>
#include <limits>
#include <memory>

#include "kelvin/core/choice.h"
#include "kelvin/io/json.h"
#include "kelvin/numeric/half.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are written as they lie in memory, marked little-endian");

constexpr int level = 1;  // weights hardly shrink at any level, padding vanishes at all of them
constexpr int fastest = -64;

template <class T>
void put(double x, char* to) {
  const T value = T(x);
  std::memcpy(to, &value, sizeof value);
}
template <class T>
double number(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return double(value);
}
template <double (*number)(const char*), std::size_t width>
void numbers(const char* from, std::span<double> to) {
  for (double& x : to) x = number(from), from += width;
}
void put_half(double x, char* to) {
  const std::uint16_t bits = half_of(float(x));
  std::memcpy(to, &bits, sizeof bits);
}
double half_at(const char* from) {
  std::uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return double(number_of_half(bits));
}

const ZarrType types[] = {
    {"<f2", 2, true, put_half, numbers<half_at, 2>},
    {"<f4", 4, true, put<float>, numbers<number<float>, 4>},
    {"<f8", 8, true, put<double>, numbers<number<double>, 8>},
    {"<i8", 8, false, put<std::int64_t>, numbers<number<std::int64_t>, 8>},
    {"|b1", 1, false, put<std::uint8_t>, numbers<number<std::uint8_t>, 1>},
};

std::size_t product(const std::vector<std::size_t>& extents) {
  std::size_t n = 1;
  for (const std::size_t k : extents) n *= k;
  return n;
}

// The true size of anything could not be larger.
void check_plausible(const std::vector<std::size_t>& extents, const std::string& file) {
  std::size_t n = 1;
  for (const std::size_t k : extents) {
    if (k == 0 || n > (std::size_t(1) << 40) / k) throw damaged(file, "its shape cannot be true");
    n *= k;
  }
}

}  // namespace

std::span<const ZarrType> zarr_types() { return types; }
const ZarrType& zarr_type(std::string_view name) { return row_named(name, zarr_types(), "type of numbers"); }

std::size_t ZarrShape::size() const { return product(each); }
std::size_t ZarrShape::bytes() const { return size() * type->width; }

ZarrAbout zarr_about(std::string_view type, const std::vector<std::size_t>& shape,
                     const std::vector<std::size_t>& chunks, const std::vector<std::string>& dimensions) {
  const bool nan = type.starts_with("<f");
  return {.array = Value::Group{{"zarr_format", 2},
                                {"shape", shape},
                                {"chunks", chunks},
                                {"dtype", type},
                                {"order", "C"},
                                {"fill_value", nan ? Value("NaN") : Value()},
                                {"filters", Value()},
                                {"compressor", Value::Group{{"id", "zstd"}, {"level", level}}}},
          .attributes = Value::Group{{"_ARRAY_DIMENSIONS", dimensions}}};
}

ZarrAbout zarr_about(const ZarrShape& shape) {
  std::vector<std::size_t> whole = {shape.walkers, shape.draws}, chunks = {1, shape.chunk};
  whole.insert(whole.end(), shape.each.begin(), shape.each.end());
  chunks.insert(chunks.end(), shape.each.begin(), shape.each.end());
  std::vector<std::string> names = {"chain", "draw"};
  names.insert(names.end(), shape.dimensions.begin(), shape.dimensions.end());
  return zarr_about(shape.type->name, whole, chunks, names);
}

std::string zarr_fingerprint(const Value& array) {
  Value::Group fixed = array.entries();
  if (const auto shape = fixed.find("shape"); shape != fixed.end())
    if (auto* extents = std::get_if<Value::List>(&shape->second.is); extents && extents->size() > 1) (*extents)[1] = 0;
  return fmt::format("{:08x}", checksum(to_json(fixed)));
}

fs::path zarr_chunk(const fs::path& array, std::size_t dimensions, std::size_t walker, std::size_t chunk) {
  std::string name = std::to_string(walker);
  for (std::size_t k = 1; k < dimensions; ++k) name += k == 1 ? "." + std::to_string(chunk) : ".0";
  return array / name;
}

std::string_view pack(std::string_view bytes) {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  thread_local std::string room;  // kept, or clearing it anew would cost as much as packing
  room.resize(std::max(room.size(), ZSTD_compressBound(bytes.size())));
  const auto compressed = [&](std::string_view what, int at_level) {
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, at_level);
    return ZSTD_compress2(context.get(), room.data(), room.size(), what.data(), what.size());
  };
  // Weights of a noisy chain hardly compress; a piece tells, and then the search for repeats is left out.
  const std::string_view piece = bytes.substr(bytes.size() / 2, 1 << 15);
  const bool worth_it = compressed(piece, level) < piece.size() - piece.size() / 8;
  const std::size_t size = compressed(bytes, worth_it ? level : fastest);
  if (ZSTD_isError(size)) throw Error("cannot pack {} bytes; is there enough memory?", bytes.size());
  return std::string_view(room).substr(0, size);
}

std::string unpack(std::string_view packed, std::size_t bytes, const std::string& file) {
  std::string out;
  unpack(packed, bytes, file, out);
  return out;
}

void unpack(std::string_view packed, std::size_t bytes, const std::string& file, std::string& out) {
  const auto refused = [&](std::string_view why) { return damaged(file, why); };
  const unsigned long long claimed = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR || claimed == ZSTD_CONTENTSIZE_UNKNOWN) throw refused("it is no zstd frame");
  if (bytes / 65536 > packed.size()) throw refused("it is shorter than zstd can make it");  // a block holds 2^17 bytes
  if (claimed != bytes) throw refused(fmt::format("it holds {} bytes where {} are due", claimed, bytes));
  // The descriptor's bit 2 says that a checksum follows; without it nothing would be verified.
  if (packed.size() < 5 || !(packed[4] & 4)) throw refused("it has no checksum");
  thread_local const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) throw std::bad_alloc();
  out.resize(bytes);
  const std::size_t size = ZSTD_decompressDCtx(context.get(), out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(size)) throw refused("it cannot be unpacked");
  if (size != bytes) throw refused("it is cut short");
}

ZarrShape parse_zarr_metadata(std::string_view text, const std::string& file) {
  const Value about = parse_json(text, file);
  const auto whole = about.as<std::vector<std::size_t>>("shape");
  const auto chunks = about.as<std::vector<std::size_t>>("chunks");
  if (whole.size() < 2 || chunks.size() != whole.size() || chunks[0] != 1 || chunks[1] == 0 ||
      !std::equal(chunks.begin() + 2, chunks.end(), whole.begin() + 2) || about.at("compressor").at("id") != "zstd" ||
      !about.at("filters").null() || about.at("order") != "C")
    throw damaged(file, "it is not an array of draws as kelvin writes them");
  check_plausible(chunks, file);
  ZarrShape s;
  s.walkers = whole[0];
  s.draws = whole[1];
  s.chunk = chunks[1];
  s.each.assign(whole.begin() + 2, whole.end());
  s.type = &row_named(about.as<std::string>("dtype"), zarr_types(), "type of numbers", file);
  return s;
}

ZarrShape read_zarr_metadata(const fs::path& array) {
  return parse_zarr_metadata(read_file(array / ".zarray"), (array / ".zarray").string());
}

std::string read_zarr_chunk(const fs::path& chunk, const ZarrShape& shape) {
  return unpack(read_file(chunk), shape.chunk * shape.bytes(), chunk.string());
}

std::vector<double> read_zarr(const fs::path& array, const ZarrShape& shape, std::size_t walker, std::size_t first,
                              std::size_t count, const ChunkCheck& check) {
  const std::size_t each = shape.size(), width = shape.type->width;
  thread_local std::string packed, bytes;  // new memory for each chunk would cost more than reading it
  std::vector<double> out;
  constexpr std::size_t most_at_first = std::size_t(1) << 24;  // what is claimed beyond that has to be read first
  out.reserve(std::min(count * each, most_at_first));
  for (std::size_t draw = first; draw < first + count;) {
    const std::size_t chunk = draw / shape.chunk;
    const fs::path file = zarr_chunk(array, 2 + shape.each.size(), walker, chunk);
    read_file(file, packed);
    unpack(packed, shape.chunk * shape.bytes(), file.string(), bytes);
    if (check) check(chunk, bytes, file);
    const std::size_t begin = draw % shape.chunk, end = std::min(shape.chunk, begin + first + count - draw);
    const std::size_t before = out.size(), more = (end - begin) * each;
    out.resize(before + more);
    shape.type->numbers(bytes.data() + begin * each * width, std::span(out).subspan(before, more));
    draw += end - begin;
  }
  return out;
}

std::vector<double> read_zarr(const fs::path& array, std::size_t walker) {
  const ZarrShape shape = read_zarr_metadata(array);
  return read_zarr(array, shape, walker, 0, shape.draws);
}

}  // namespace kelvin
