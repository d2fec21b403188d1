// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/store.h"

#include <algorithm>

#include "kelvin/core/error.h"

namespace kelvin {

namespace fs = std::filesystem;

void make_run_directory(const fs::path& run, bool replace) {
  std::error_code failed;
  if (fs::exists(run, failed) && !fs::is_directory(run, failed))
    throw Error("\"{}\" is a file; give a directory that does not exist yet to --out", run.string());
  if (fs::is_directory(run, failed) && !fs::is_empty(run, failed)) {
    if (!replace)
      throw Error("\"{}\" exists already; give another --out, or --force to replace the run there", run.string());
    if (!fs::exists(run / "run.json", failed))
      throw Error("\"{}\" holds no run of kelvin, so --force will not empty it; give another --out", run.string());
    for (const char* name : {"run.toml", "run.json", "log.jsonl", "samples.zarr"}) fs::remove_all(run / name, failed);
  }
  fs::create_directories(run, failed);
  if (failed || !fs::is_directory(run))
    throw Error("cannot make the directory \"{}\": {}; give a place that may be written to with --out", run.string(),
                failed.message());
}

template <class Real>
std::span<const typename Store<Real>::Statistic> Store<Real>::statistics() {
  // energy is the Hamiltonian U + p.p/2m; lp is -N U, the log posterior up to a constant.
  static const Statistic table[] = {
      {"step", false, [](const Reading& r, std::size_t, double) { return double(r.step); }},
      {"potential", false, [](const Reading& r, std::size_t, double) { return r.energy; }},
      {"lp", false, [](const Reading& r, std::size_t, double rows) { return -rows * r.energy; }},
      {"energy", false,
       [](const Reading& r, std::size_t, double) {
         double H = r.energy;
         for (const PartReading& p : r.parts) H += p.kinetic_energy;
         return H;
       }},
      {"acceptance_rate", false, [](const Reading& r, std::size_t, double) { return r.acceptance; }},
      {"kinetic_energy", true, [](const Reading& r, std::size_t k, double) { return r.parts[k].kinetic_energy; }},
      {"kinetic_temperature", true,
       [](const Reading& r, std::size_t k, double) { return r.parts[k].kinetic_temperature; }},
      {"virial", true, [](const Reading& r, std::size_t k, double) { return r.parts[k].virial; }},
      {"configurational_temperature", true,
       [](const Reading& r, std::size_t k, double) { return r.parts[k].configurational_temperature; }},
  };
  return table;
}

template <class Real>
Store<Real>::Store(const fs::path& run, const Recipe& recipe, double rows, std::size_t walkers, std::uint64_t draws)
    : samples_(run / "samples.zarr"), recipe_(recipe), rows_(rows), buffers_(walkers) {
  const std::size_t about_two_megabytes = (std::size_t(1) << 21) / (recipe.size * sizeof(Real));
  chunk_ =
      std::clamp<std::size_t>(about_two_megabytes, 1, std::max<std::size_t>(1, std::min<std::size_t>(draws, 4096)));
  for (const char* group : {"", "posterior", "sample_stats"}) write_zarr_group(samples_ / group);
  write_metadata(0);
}

template <class Real>
ZarrShape Store<Real>::shape_of(const Block& block, std::uint64_t draws) const {
  ZarrShape shape{buffers_.size(), std::size_t(draws), chunk_, {block.rows}, {block.name + "_row"}};
  if (!block.vector) {
    shape.each.push_back(block.columns);
    shape.dimensions.push_back(block.name + "_column");
  }
  return shape;
}

template <class Real>
ZarrShape Store<Real>::shape_of(const Statistic& s, std::uint64_t draws) const {
  ZarrShape shape{buffers_.size(), std::size_t(draws), chunk_, {}, {}};
  if (s.per_part) {
    shape.each.push_back(recipe_.parts.size());
    shape.dimensions.push_back("part");
  }
  return shape;
}

template <class Real>
void Store<Real>::write_metadata(std::uint64_t draws) {
  for (const Block& block : recipe_.blocks)
    write_zarr_metadata<Real>(samples_ / "posterior" / block.name, shape_of(block, draws));
  for (const Statistic& s : statistics())
    write_zarr_metadata<double>(samples_ / "sample_stats" / s.name, shape_of(s, draws));
}

template <class Real>
void Store<Real>::keep(const Draw<Real>& draw) {
  Buffer& buffer = buffers_[draw.walker];
  buffer.q.insert(buffer.q.end(), draw.q.begin(), draw.q.end());
  for (const Statistic& s : statistics())
    for (std::size_t k = 0; k < (s.per_part ? recipe_.parts.size() : 1); ++k)
      buffer.numbers.push_back(s.value(draw.reading, k, rows_));
  ++buffer.draws;
  if (++buffer.filled == chunk_) flush(draw.walker);
}

template <class Real>
void Store<Real>::flush(std::uint32_t walker) {
  Buffer& buffer = buffers_[walker];
  if (buffer.filled == 0) return;
  std::vector<Real> values;
  for (const Block& block : recipe_.blocks) {
    values.clear();
    for (std::size_t n = 0; n < buffer.filled; ++n) {
      const auto first = buffer.q.begin() + long(n * recipe_.size + block.offset);
      values.insert(values.end(), first, first + long(block.size()));
    }
    write_zarr_chunk<Real>(samples_ / "posterior" / block.name, shape_of(block, 0), walker, buffer.chunk, values);
  }
  const std::size_t width = buffer.numbers.size() / buffer.filled;
  std::size_t column = 0;
  for (const Statistic& s : statistics()) {
    const ZarrShape shape = shape_of(s, 0);
    std::vector<double> numbers;
    for (std::size_t n = 0; n < buffer.filled; ++n) {
      const auto first = buffer.numbers.begin() + long(n * width + column);
      numbers.insert(numbers.end(), first, first + long(shape.size()));
    }
    write_zarr_chunk<double>(samples_ / "sample_stats" / s.name, shape, walker, buffer.chunk, numbers);
    column += shape.size();
  }
  buffer.q.clear(), buffer.numbers.clear();
  buffer.filled = 0;
  ++buffer.chunk;
}

template <class Real>
void Store<Real>::finish() {
  std::uint64_t draws = ~std::uint64_t(0);
  for (std::uint32_t w = 0; w < buffers_.size(); ++w) {
    flush(w);
    draws = std::min(draws, buffers_[w].draws);  // what every walker has, if an error stopped them apart
  }
  write_metadata(draws);
}

template class Store<float>;
template class Store<double>;

}  // namespace kelvin
