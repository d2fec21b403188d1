// SPDX-License-Identifier: Apache-2.0
// Arrays on disk in Zarr v2 layout: JSON beside raw chunk files, readable by zarr and xarray.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace kelvin {

// The first two dimensions are chain and draw; a chunk holds `chunk` draws of one chain.
struct ZarrShape {
  std::size_t walkers = 1, draws = 0, chunk = 1;
  std::vector<std::size_t> each;        // shape of one draw
  std::vector<std::string> dimensions;  // their names, those of `each`
  std::size_t size() const;             // numbers in one draw
};

template <class Real>
void write_zarr_metadata(const std::filesystem::path&, const ZarrShape&);
void write_zarr_group(const std::filesystem::path&);

// `values` holds up to shape.chunk draws; the chunk is written whole, padded with nan.
template <class Real>
void write_zarr_chunk(const std::filesystem::path&, const ZarrShape&, std::size_t walker, std::size_t chunk,
                      std::span<const Real> values);

ZarrShape read_zarr_metadata(const std::filesystem::path&);
// All draws of one walker, one after another.
std::vector<double> read_zarr(const std::filesystem::path&, std::size_t walker);

// Writes a file under a temporary name and renames it, so a reader never sees half of it.
void write_file(const std::filesystem::path&, std::string_view bytes);
std::string read_file(const std::filesystem::path&);

}  // namespace kelvin
