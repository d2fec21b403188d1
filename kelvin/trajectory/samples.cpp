// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/samples.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "kelvin/core/error.h"
#include "kelvin/ensemble/exchange.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/state_file.h"
#include "kelvin/trajectory/zarr.h"

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
  return parse_record(read_file(run / "run.json"), (run / "run.json").string());
}

void write_record(const fs::path& run, const RunRecord& record, bool durable) {
  write_file(run / "run.json", to_json(recorded(record), 2) + "\n", durable);
}

std::vector<LogLine> read_log(const fs::path& run) {
  std::vector<LogLine> out;
  const fs::path file = run / "log.jsonl";
  if (!fs::exists(file)) return out;
  const std::string text = read_file(file);
  std::string_view rest = text;  // after the last line break: what a run that is under way, or was killed, has begun
  for (std::size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) try {
      out.push_back(parse_log_line(rest.substr(0, end), file.string()));
    } catch (const Error&) {
      throw Error("\"{}\" is damaged: line {} is none of a log; remove it, or put back a copy of the file",
                  file.string(), out.size() + 1);
    }
  return out;
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

std::vector<double> Samples::array(const std::string& name, std::size_t walker, std::size_t first,
                                   std::size_t count) const {
  const auto known = manifest.arrays.find(name);
  if (known == manifest.arrays.end())
    throw Error("\"{}\" has no array \"{}\"{}", run.string(), name,
                name.starts_with("posterior/") ? "; it was run with store.weights = \"none\"" : "");
  const fs::path at = run / "samples.zarr" / name, about = at / ".zarray";
  const std::string text = read_file(about);
  const ZarrShape shape = parse_zarr_metadata(text, about.string());
  if (zarr_fingerprint(parse_json(text, about.string())) != known->second)
    throw Error("\"{}\" is damaged: it does not say what manifest.json vouches for", about.string());
  if (chosen.empty() || name.starts_with("warmup_") || count == 0)
    return read_zarr(at, shape, stored[walker], first, count);
  const std::span which = std::span(chosen[walker]).subspan(first, count);
  const auto all = read_zarr(at, shape, stored[walker], which.front(), which.back() - which.front() + 1);
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
  const fs::path at = s.run / "samples.zarr" / "moments" / block;
  if (!fs::exists(at / ".zarray"))
    throw Error("\"{}\" has no running moments yet; they are written when a run ends or is stopped", s.run.string());
  return read_zarr(at, read_zarr_metadata(at), s.stored[walker], which, 1);
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
