// SPDX-License-Identifier: Apache-2.0
// Writing a run directory: run.toml (as given), run.json (resolved), log.jsonl, samples.zarr with the groups
// `posterior` (one array per block) and `sample_stats`.
#pragma once
#include <nlohmann/json.hpp>

#include "kelvin/chain/run.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {

// Makes the directory. One that holds anything is refused, or emptied of an earlier run if `replace`.
void make_run_directory(const std::filesystem::path&, bool replace);

template <class Real>
class Store {
 public:
  Store(const std::filesystem::path& run, const Recipe&, double rows, std::size_t walkers, std::uint64_t draws);
  void keep(const Draw<Real>&);  // a Sink: walkers may call at the same time
  void finish();                 // what is still in memory, and the final number of draws

 private:
  struct Statistic {
    std::string name;
    bool per_part;
    double (*value)(const Reading&, std::size_t part, double rows);
  };
  static std::span<const Statistic> statistics();
  struct Buffer {
    std::vector<Real> q;          // draws x size
    std::vector<double> numbers;  // draws x numbers of all statistics
    std::size_t filled = 0, chunk = 0;
    std::uint64_t draws = 0;
  };
  void flush(std::uint32_t walker);
  void write_metadata(std::uint64_t draws);
  ZarrShape shape_of(const Block&, std::uint64_t draws) const;
  ZarrShape shape_of(const Statistic&, std::uint64_t draws) const;

  std::filesystem::path samples_;
  Recipe recipe_;
  double rows_;
  std::size_t chunk_;
  std::vector<Buffer> buffers_;
};

}  // namespace kelvin
