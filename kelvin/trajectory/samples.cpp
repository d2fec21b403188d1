// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/samples.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "kelvin/core/error.h"
#include "kelvin/ensemble/exchange.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/sealed.h"
#include "kelvin/trajectory/state_file.h"

namespace kelvin {

namespace fs = std::filesystem;

RunRecord parse_record(std::string_view text, const std::string& file) {
  RunRecord record;
  read_recorded(record, parse_json(text, file), "");
  return record;
}

LogLine parse_log_line(std::string_view text, const std::string& file) {
  LogLine line;
  read_recorded(line, parse_json(text, file), "");
  return line;
}

RunRecord read_record(const fs::path& run) {
  if (!fs::is_directory(run))
    throw Error("\"{}\" is not a run; give the directory that `kelvin sample` or `kelvin train` wrote", run.string());
  const fs::path file = run / "run.json";
  RunRecord record;
  read_recorded(record, unsealed(read_file(file), file.string()), "");
  return record;
}

void write_record(const fs::path& run, const RunRecord& record, bool durable) {
  write_file(run / "run.json", sealed(recorded(record).entries()), durable);
}

// Systematic: a comb of equal teeth over the weights laid end to end.
std::vector<std::size_t> drawn_by_weight(std::span<const double> log_weights) {
  double highest = -std::numeric_limits<double>::infinity(), sum = 0, squares = 0;
  for (const double x : log_weights) highest = std::max(highest, x);
  if (!(highest > -std::numeric_limits<double>::infinity())) return {};
  for (const double x : log_weights) sum += std::exp(x - highest), squares += std::exp(2 * (x - highest));
  const double tooth = squares / sum * (1 + 1e-12);  // sum / count; rounding must not lose a draw of equal weights
  std::vector<std::size_t> out;
  double so_far = 0;
  for (std::size_t k = 0; k < log_weights.size(); ++k) {
    so_far += std::exp(log_weights[k] - highest);
    while (double(out.size()) * tooth + tooth / 2 < so_far) out.push_back(k);
  }
  return out;
}

Samples open_samples(const fs::path& run, Which which) {
  Samples s;
  s.run = run;
  s.record = read_record(run);
  s.blocks = s.record.blocks;
  s.parts = s.record.parts;
  s.manifest = read_manifest(run);
  check_same_run(run, s.manifest, s.record);
  s.chunks = std::make_shared<const ChunkSums>(run, s.manifest.sum_of(std::string(chunks_file)));
  // Of a run whose walkers stood on ladders of temperatures, every so manieth had the one that was asked for.
  const std::size_t rungs = which == Which::every ? 1 : rungs_of(s.record.settings.exchange).size();
  for (std::size_t w = 0; w < s.manifest.draws.size(); w += rungs) s.stored.push_back(w);
  s.walkers = s.stored.size();
  s.draws = *std::min_element(s.manifest.draws.begin(), s.manifest.draws.end());
  if (which == Which::every || !s.manifest.arrays.contains("sample_stats/log_weight") || s.draws == 0) return s;
  std::vector<std::vector<std::size_t>> chosen;
  std::size_t fewest = s.draws;
  for (std::size_t w = 0; w < s.walkers; ++w) {
    chosen.push_back(drawn_by_weight(s.statistic("log_weight", w)));
    fewest = std::min(fewest, chosen.back().size());
  }
  s.worth = double(fewest) / double(s.draws);
  s.draws = fewest;
  s.chosen = std::move(chosen);
  return s;
}

ZarrShape Samples::shape(const std::string& name) const {
  const std::string file = "samples.zarr/" + name + "/.zarray";
  const fs::path about = run / file;
  if (manifest.files.contains(file)) return parse_zarr_metadata(read_named(run, manifest, file), about.string());
  const auto known = manifest.arrays.find(name);
  if (known == manifest.arrays.end())
    throw Error("\"{}\" has no array \"{}\"{}", run.string(), name,
                name.starts_with("posterior/") ? "; it was run with store.weights = \"none\"" : "");
  const std::string text = read_file(about);
  std::string found;
  try {
    found = zarr_fingerprint(parse_json(text, about.string()));
  } catch (const Error&) {
    // it is no JSON, and has no fingerprint
  }
  if (found != known->second) throw damaged(about, "it does not say what manifest.json vouches for");
  return parse_zarr_metadata(text, about.string());
}

std::vector<double> Samples::array(const std::string& name, std::size_t walker, std::size_t first,
                                   std::size_t count) const {
  const ZarrShape shape = this->shape(name);
  const fs::path at = run / "samples.zarr" / name;
  const bool warmup = name.starts_with("warmup_");
  const std::size_t mine = stored[walker];
  const auto number = std::size_t(std::distance(manifest.arrays.begin(), manifest.arrays.find(name)));
  const std::uint64_t there = (warmup ? manifest.warmup_draws : manifest.draws)[mine];
  const ChunkCheck check = [&](std::size_t chunk, std::string_view bytes, const fs::path& file) {
    const std::uint64_t due = std::min<std::uint64_t>(shape.chunk, there - std::min(there, chunk * shape.chunk));
    check_chunk(bytes, shape.bytes(), chunks->find(number, mine, chunk), due, file);
  };
  if (chosen.empty() || warmup || count == 0) return read_zarr(at, shape, mine, first, count, check);
  const std::span which = std::span(chosen[walker]).subspan(first, count);
  const auto all = read_zarr(at, shape, mine, which.front(), which.back() - which.front() + 1, check);
  const std::size_t size = all.size() / (which.back() - which.front() + 1);
  std::vector<double> out;
  out.reserve(count * size);
  for (const std::size_t draw : which) {
    const auto from = all.begin() + long((draw - which.front()) * size);
    out.insert(out.end(), from, from + long(size));
  }
  return out;
}

std::vector<double> Samples::block(const std::string& name, std::size_t walker) const {
  return array("posterior/" + name, walker, 0, draws);
}

std::vector<double> Samples::statistic(const std::string& name, std::size_t walker) const {
  return array("sample_stats/" + name, walker, 0, draws);
}

namespace {

// The array of a block in the group `moments` has the mean where others have draw 0, the variance for draw 1.
std::vector<double> moment(const Samples& s, const std::string& block, std::size_t walker, std::size_t which) {
  const std::string at = "samples.zarr/moments/" + block;
  if (!s.manifest.files.contains(at + "/.zarray"))
    throw Error("\"{}\" has no running moments yet; they are written when a run ends or is stopped", s.run.string());
  const ZarrShape shape = s.shape("moments/" + block);
  const fs::path chunk = zarr_chunk(at, 2 + shape.each.size(), s.stored[walker], 0);
  const std::string bytes =
      unpack(read_named(s.run, s.manifest, chunk.string()), shape.chunk * shape.bytes(), (s.run / chunk).string());
  std::vector<double> out(shape.size());
  shape.type->numbers(bytes.data() + which * shape.bytes(), out);
  return out;
}

}  // namespace

std::vector<double> Samples::running_mean(const std::string& block, std::size_t walker) const {
  return moment(*this, block, walker, 0);
}

std::vector<double> Samples::running_variance(const std::string& block, std::size_t walker) const {
  return moment(*this, block, walker, 1);
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

std::vector<double> stored_block(const std::string& place, const Block& block, std::size_t walker,
                                 std::size_t walkers) {
  if (is_state_file(place)) return block_in_file(place, block);
  std::string run = place;
  const auto numbers = split_numbers(run);
  const Samples samples = open_samples(run, Which::every);
  if (samples.draws == 0) throw Error("\"{}\" has no draws to start from", run);
  const std::size_t draw = numbers.empty() ? samples.draws - 1 : numbers[0], from = numbers.size() > 1 ? numbers[1]
                                                                                    : walkers == samples.walkers
                                                                                        ? walker
                                                                                        : 0;
  if (draw >= samples.draws || from >= samples.walkers)
    throw Error("\"{}\": the run has {} draws of {} walkers, counted from 0", place, samples.draws, samples.walkers);
  if (std::find(samples.blocks.begin(), samples.blocks.end(), block.name) == samples.blocks.end())
    throw Error("\"{}\": the run has no block \"{}\"", place, block.name);
  std::vector<double> values = samples.array("posterior/" + block.name, from, draw, 1);
  if (values.size() != block.size())
    throw Error("\"{}\": block \"{}\" holds {} numbers where {} are needed", place, block.name, values.size(),
                block.shape.text());
  return values;
}

}  // namespace kelvin
