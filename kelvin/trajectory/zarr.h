// SPDX-License-Identifier: Apache-2.0
// Arrays on disk in Zarr v2 layout: JSON beside chunk files, each packed by zstd with a checksum of its contents.
// Readable by zarr and xarray.
#pragma once
#include <functional>
#include <span>

#include "kelvin/core/value.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

// A kind of number that arrays hold. To add one, add a row in zarr.cpp.
struct ZarrType {
  std::string_view name;  // as .zarray spells it
  std::size_t width;      // bytes
  bool padded_by_nan;     // beyond the last draw; else by 0
  void (*put)(double, char*);
  void (*numbers)(const char*, std::span<double>);  // as many as there is room for
};
std::span<const ZarrType> zarr_types();
const ZarrType& zarr_type(std::string_view name);

// An array that grows: the first two dimensions are chain and draw, a chunk holds `chunk` draws of one chain.
struct ZarrShape {
  std::size_t walkers = 1, draws = 0, chunk = 1;
  std::vector<std::size_t> each;        // shape of one draw
  std::vector<std::string> dimensions;  // their names, those of `each`; not read back
  const ZarrType* type = nullptr;
  std::size_t size() const;   // numbers in one draw
  std::size_t bytes() const;  // in one draw
};

// .zarray and .zattrs of any array.
struct ZarrAbout {
  Value array, attributes;
};
ZarrAbout zarr_about(const ZarrShape&);
ZarrAbout zarr_about(std::string_view type, const std::vector<std::size_t>& shape,
                     const std::vector<std::size_t>& chunks, const std::vector<std::string>& dimensions);

// A checksum of all that .zarray says but the number of draws.
std::string zarr_fingerprint(const Value& array);

std::filesystem::path zarr_chunk(const std::filesystem::path& array, std::size_t dimensions, std::size_t walker,
                                 std::size_t chunk);
std::string_view pack(std::string_view bytes);  // valid until this thread packs again
std::string unpack(std::string_view packed, std::size_t bytes, const std::string& file);
void unpack(std::string_view packed, std::size_t bytes, const std::string& file, std::string& to);

// The text of a .zarray; `file` is named in errors.
ZarrShape parse_zarr_metadata(std::string_view text, const std::string& file);
ZarrShape read_zarr_metadata(const std::filesystem::path& array);

// Called for each chunk that is read, before its numbers are taken; it throws if they are not to be used.
using ChunkCheck = std::function<void(std::size_t chunk, std::string_view bytes, const std::filesystem::path& file)>;

// Draws first ... first + count - 1 of one walker, one after another; the second form reads all that .zarray knows of.
std::vector<double> read_zarr(const std::filesystem::path& array, const ZarrShape&, std::size_t walker,
                              std::size_t first, std::size_t count, const ChunkCheck& = {});
std::vector<double> read_zarr(const std::filesystem::path& array, std::size_t walker);
std::string read_zarr_chunk(const std::filesystem::path& chunk, const ZarrShape&);

}  // namespace kelvin
