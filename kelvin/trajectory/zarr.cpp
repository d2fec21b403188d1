// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/zarr.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

static_assert(std::endian::native == std::endian::little,
              "chunks are written as they lie in memory, marked little-endian");

template <class Real>
constexpr const char* type_name = sizeof(Real) == 4 ? "<f4" : "<f8";

std::filesystem::path chunk_path(const std::filesystem::path& array, const ZarrShape& shape, std::size_t walker,
                                 std::size_t chunk) {
  std::string name = fmt::format("{}.{}", walker, chunk);
  for (std::size_t k = 0; k < shape.each.size(); ++k) name += ".0";
  return array / name;
}

template <class Real>
void append_chunk(std::vector<double>& out, const std::string& bytes, std::size_t numbers) {
  const std::size_t first = out.size();
  out.resize(first + numbers);
  for (std::size_t i = 0; i < numbers; ++i) {
    Real x;
    std::memcpy(&x, bytes.data() + i * sizeof(Real), sizeof(Real));
    out[first + i] = double(x);
  }
}

}  // namespace

std::size_t ZarrShape::size() const {
  std::size_t n = 1;
  for (const std::size_t k : each) n *= k;
  return n;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path unfinished = path.string() + ".part";
  std::ofstream file(unfinished, std::ios::binary);
  file.write(bytes.data(), std::streamsize(bytes.size()));
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(unfinished, path, failed);
  if (!file || failed) {
    std::filesystem::remove(unfinished, failed);
    throw Error("cannot write \"{}\"; check that the directory may be written to and the disk is not full",
                path.string());
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || std::filesystem::is_directory(path))
    throw Error("cannot read \"{}\"; is it a run of kelvin?", path.string());
  text << file.rdbuf();
  return text.str();
}

void write_zarr_group(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) throw Error("cannot make the directory \"{}\": {}", path.string(), failed.message());
  write_file(path / ".zgroup", nlohmann::json{{"zarr_format", 2}}.dump(2));
}

template <class Real>
void write_zarr_metadata(const std::filesystem::path& path, const ZarrShape& shape) {
  std::filesystem::create_directories(path);
  std::vector<std::size_t> whole = {shape.walkers, shape.draws}, chunk = {1, shape.chunk};
  whole.insert(whole.end(), shape.each.begin(), shape.each.end());
  chunk.insert(chunk.end(), shape.each.begin(), shape.each.end());
  const nlohmann::json about = {{"zarr_format", 2},         {"shape", whole},       {"chunks", chunk},
                                {"dtype", type_name<Real>}, {"order", "C"},         {"fill_value", "NaN"},
                                {"filters", nullptr},       {"compressor", nullptr}};
  std::vector<std::string> names = {"chain", "draw"};
  names.insert(names.end(), shape.dimensions.begin(), shape.dimensions.end());
  write_file(path / ".zattrs", nlohmann::json{{"_ARRAY_DIMENSIONS", names}}.dump(2));
  write_file(path / ".zarray", about.dump(2));
}

template <class Real>
void write_zarr_chunk(const std::filesystem::path& path, const ZarrShape& shape, std::size_t walker, std::size_t chunk,
                      std::span<const Real> values) {
  std::vector<Real> padded(shape.chunk * shape.size(), std::numeric_limits<Real>::quiet_NaN());
  std::copy(values.begin(), values.end(), padded.begin());
  write_file(chunk_path(path, shape, walker, chunk),
             {reinterpret_cast<const char*>(padded.data()), padded.size() * sizeof(Real)});
}

namespace {

struct Stored {
  ZarrShape shape;
  bool single = false;
};

Stored read_metadata(const std::filesystem::path& path) {
  try {
    const auto about = nlohmann::json::parse(read_file(path / ".zarray"));
    const auto whole = about.at("shape").get<std::vector<std::size_t>>();
    const auto chunks = about.at("chunks").get<std::vector<std::size_t>>();
    const auto type = about.at("dtype").get<std::string>();
    if (whole.size() < 2 || chunks.size() != whole.size() || chunks[1] == 0 || !about.at("compressor").is_null() ||
        (type != type_name<float> && type != type_name<double>))
      throw Error("it is not an array of kelvin");
    Stored s;
    s.shape.walkers = whole[0], s.shape.draws = whole[1], s.shape.chunk = chunks[1];
    s.shape.each.assign(whole.begin() + 2, whole.end());
    s.single = type == type_name<float>;
    return s;
  } catch (const std::exception& e) {
    throw Error("cannot read the array \"{}\": {}", path.string(), e.what());
  }
}

}  // namespace

ZarrShape read_zarr_metadata(const std::filesystem::path& path) { return read_metadata(path).shape; }

std::vector<double> read_zarr(const std::filesystem::path& path, std::size_t walker) {
  const auto [shape, single] = read_metadata(path);
  const std::size_t each = shape.size(), width = single ? sizeof(float) : sizeof(double);
  std::vector<double> out;
  for (std::size_t first = 0; first < shape.draws; first += shape.chunk) {
    const auto file = chunk_path(path, shape, walker, first / shape.chunk);
    const std::string bytes = read_file(file);
    if (bytes.size() != shape.chunk * each * width)
      throw Error("\"{}\" holds {} bytes where {} are due; the run was damaged", file.string(), bytes.size(),
                  shape.chunk * each * width);
    const std::size_t numbers = std::min(shape.chunk, shape.draws - first) * each;
    if (single) append_chunk<float>(out, bytes, numbers);
    else append_chunk<double>(out, bytes, numbers);
  }
  return out;
}

template void write_zarr_metadata<float>(const std::filesystem::path&, const ZarrShape&);
template void write_zarr_metadata<double>(const std::filesystem::path&, const ZarrShape&);
template void write_zarr_chunk<float>(const std::filesystem::path&, const ZarrShape&, std::size_t, std::size_t,
                                      std::span<const float>);
template void write_zarr_chunk<double>(const std::filesystem::path&, const ZarrShape&, std::size_t, std::size_t,
                                       std::span<const double>);

}  // namespace kelvin
