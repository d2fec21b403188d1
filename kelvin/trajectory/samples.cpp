// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/samples.h"

#include <charconv>

#include "kelvin/core/error.h"
#include "kelvin/data/npy.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {

namespace fs = std::filesystem;

Samples open_samples(const fs::path& run) {
  Samples s;
  s.run = run;
  if (!fs::is_directory(run))
    throw Error("\"{}\" is not a run; give the directory that `kelvin sample` or `kelvin train` wrote", run.string());
  try {
    s.record = nlohmann::json::parse(read_file(run / "run.json"));
    s.blocks = s.record.at("blocks").get<std::vector<std::string>>();
    s.parts = s.record.at("parts").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& e) {
    throw Error("\"{}\" is damaged: {}", (run / "run.json").string(), e.what());
  }
  const ZarrShape shape = read_zarr_metadata(run / "samples.zarr" / "sample_stats" / "step");
  s.walkers = shape.walkers, s.draws = shape.draws;
  return s;
}

std::vector<double> Samples::block(const std::string& name, std::size_t walker) const {
  return read_zarr(run / "samples.zarr" / "posterior" / name, walker);
}

std::vector<double> Samples::statistic(const std::string& name, std::size_t walker) const {
  return read_zarr(run / "samples.zarr" / "sample_stats" / name, walker);
}

namespace {

// "RUN:draw:walker" -> the run and up to two numbers.
std::vector<std::size_t> split_numbers(std::string& place) {
  std::vector<std::size_t> numbers;
  for (std::size_t colon; numbers.size() < 2 && (colon = place.rfind(':')) != std::string::npos;) {
    std::size_t n = 0;
    const char *first = place.data() + colon + 1, *last = place.data() + place.size();
    if (const auto [end, error] = std::from_chars(first, last, n); error != std::errc() || end != last) break;
    numbers.insert(numbers.begin(), n);
    place.resize(colon);
  }
  return numbers;
}

}  // namespace

std::vector<double> stored_block(const std::string& place, const Block& block) {
  std::vector<double> values;
  if (place.ends_with(".npz")) {
    const auto arrays = read_npz(place);
    const auto at = arrays.find(block.name);
    if (at == arrays.end())
      throw Error("\"{}\" has no array \"{}\"; its arrays must be named as the blocks are", place, block.name);
    values = at->second.values;
  } else {
    std::string run = place;
    const auto numbers = split_numbers(run);
    const Samples samples = open_samples(run);
    const std::size_t draw = numbers.empty() ? samples.draws - 1 : numbers[0],
                      walker = numbers.size() < 2 ? 0 : numbers[1];
    if (draw >= samples.draws || walker >= samples.walkers)
      throw Error("\"{}\": the run has {} draws of {} walkers, counted from 0", place, samples.draws, samples.walkers);
    if (std::find(samples.blocks.begin(), samples.blocks.end(), block.name) == samples.blocks.end())
      throw Error("\"{}\": the run has no block \"{}\"", place, block.name);
    const auto all = samples.block(block.name, walker);
    const std::size_t each = all.size() / samples.draws;
    values.assign(all.begin() + long(draw * each), all.begin() + long((draw + 1) * each));
  }
  if (values.size() != block.size())
    throw Error("\"{}\": block \"{}\" holds {} numbers where {} x {} are needed", place, block.name, values.size(),
                block.rows, block.columns);
  return values;
}

}  // namespace kelvin
