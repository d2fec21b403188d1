// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/state_file.h"

#include <algorithm>

#include "kelvin/core/error.h"
#include "kelvin/io/npy.h"
#include "kelvin/io/onnx.h"
#include "kelvin/io/safetensors.h"

namespace kelvin {
namespace {

using StateArrays = std::map<std::string, Array>;

// StateArrays of a file that are named so; it may give more.
struct StateFormat {
  std::string_view extension;
  StateArrays (*read)(const std::string& file, const std::set<std::string>& names);
};
constexpr StateFormat state_formats[] = {
    {".npz", [](const std::string& file, const std::set<std::string>&) { return read_npz(file); }},
    {".onnx", [](const std::string& file, const std::set<std::string>&) { return read_onnx(file).weights; }},
    {".safetensors",
     [](const std::string& file, const std::set<std::string>& names) { return read_safetensors(file, names); }},
};

const StateFormat* format_of(const std::string& place) {
  const auto at =
      std::ranges::find_if(state_formats, [&](const StateFormat& f) { return place.ends_with(f.extension); });
  return at == std::end(state_formats) ? nullptr : at;
}

std::string shape_text(std::span<const std::size_t> shape) {
  std::string text;
  for (const std::size_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : " x ", extent);
  return text.empty() ? "1" : text;
}

// Extents of 1 in front say nothing about how numbers lie.
std::span<const std::size_t> without_leading_ones(std::span<const std::size_t> shape) {
  while (!shape.empty() && shape.front() == 1) shape = shape.subspan(1);
  return shape;
}

// A list of all numbers, row by row, fits any block of so many.
bool fits(const Array& array, const std::vector<std::size_t>& shape, std::size_t size) {
  return (array.shape.size() == 1 && array.values.size() == size) ||
         std::ranges::equal(without_leading_ones(array.shape), without_leading_ones(shape));
}

// Stacked along the first extent.
std::vector<double> stacked(const StateArrays& arrays, const TorchNames& names, const Block& block,
                            const std::string& file) {
  std::vector<std::size_t> shape = block.shape.list();
  shape.front() /= names.size();
  std::vector<double> values;
  values.reserve(block.size());
  for (const std::string& name : names) {
    const Array& array = arrays.at(name);
    if (!fits(array, shape, block.size() / names.size()))
      throw Error("\"{}\": \"{}\" is {} where {} is needed{}; give a file of the same network", file, name,
                  shape_text(array.shape), shape_text(shape),
                  name == block.name ? "" : fmt::format(" (block \"{}\")", block.name));
    values.insert(values.end(), array.values.begin(), array.values.end());
  }
  return values;
}

}  // namespace

bool is_state_file(const std::string& place) { return format_of(place); }

std::vector<double> block_in_file(const std::string& file, const Block& block) {
  std::set<std::string> names = {block.name};
  for (const TorchNames& pieces : block.torch) names.insert(pieces.begin(), pieces.end());
  const StateArrays arrays = format_of(file)->read(file, names);
  const bool ours = arrays.contains(block.name);
  const auto theirs = std::ranges::find_if(block.torch, [&](const TorchNames& pieces) {
    return std::ranges::all_of(pieces, [&](const std::string& name) { return arrays.contains(name); });
  });
  if (theirs == block.torch.end()) {
    if (ours) return stacked(arrays, {block.name}, block, file);
    throw Error("\"{}\" has no array \"{}\"{}; its arrays must be named as the blocks are", file, block.name,
                block.torch.empty() ? "" : fmt::format(", or \"{}\" as PyTorch calls it", block.torch[0][0]));
  }
  if (ours && theirs->front() != block.name)
    throw Error(
        "\"{}\" has both \"{}\", as Kelvin calls a block, and \"{}\", as PyTorch does; give the layers other labels, "
        "or "
        "take the arrays out that are not meant",
        file, block.name, theirs->front());
  return stacked(arrays, *theirs, block, file);
}

}  // namespace kelvin
