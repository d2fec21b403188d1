// SPDX-License-Identifier: Apache-2.0
// A run written in the formats of other tools. To add one, write its function and its row in export.cpp.
#pragma once
#include <map>
#include <optional>
#include <span>

#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {

// One array of a run: what a single draw of it looks like.
struct Variable {
  std::string group, name;
  std::vector<std::size_t> shape;
  std::vector<std::string> dimensions;  // the names that go with `shape`
  const ZarrType* type = nullptr;
  std::size_t size() const;
  bool wide() const;  // more than a float can hold
};

// What a format writes: some walkers of a run, all draws of them or one.
struct Selection {
  Samples samples;
  std::map<std::string, std::vector<Variable>> groups;  // posterior, sample_stats, ...; posterior in the model's order
  std::vector<std::size_t> walkers;
  std::optional<std::size_t> draw;  // without one: the mean, where a format holds a single state
  bool named_by_pytorch = false;    // instead of by Kelvin
  std::vector<double> values(const Variable&, std::size_t walker, std::size_t first, std::size_t count) const;
  std::size_t draws_in(const std::string& group) const;
  std::map<std::string, std::string> about() const;  // library, version, seed, command, run
};

struct Format {
  std::string_view name, extension;
  bool one_state;   // holds a single draw, or the mean
  bool per_walker;  // a file for each walker
  void (*write)(const Selection&, const std::string& file);
  std::string_view meaning;
};
std::span<const Format> formats();

struct ExportOptions {
  std::string file;   // by default beside the run, named like it
  std::string draw;   // a number, "last" (the default) or "mean"; only for formats of one state
  std::string names;  // "kelvin" (the default) or "pytorch"; only for formats of one state
  long walker = -1;   // all walkers; for a single draw the first
  bool replace = false;
};

// Returns the files it wrote. Each is written under another name and renamed when all are whole.
std::vector<std::string> export_run(const std::filesystem::path& run, const Format&, const ExportOptions&);

void write_netcdf(const Selection&, const std::string& file);  // export_netcdf.cpp

// Calls read(first, count) for all draws, a piece at a time, so that few are in memory; a draw is `width` numbers.
template <class Read>
void in_pieces(std::size_t draws, std::size_t width, Read&& read) {
  const std::size_t piece = std::max<std::size_t>(1, (std::size_t(1) << 21) / std::max<std::size_t>(1, width));
  for (std::size_t first = 0; first < draws; first += piece) read(first, std::min(piece, draws - first));
}

}  // namespace kelvin
