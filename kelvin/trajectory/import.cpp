// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/import.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "kelvin/core/crc32c.h"
#include "kelvin/core/error.h"
#include "kelvin/core/version.h"
#include "kelvin/io/npy.h"
#include "kelvin/trajectory/draw_statistics.h"
#include "kelvin/trajectory/zarr_tree.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

// ---- NPZ

// Arrays of (chain, draw, ...); those named sample_stats/NAME are statistics.
ImportedDraws read_npz_draws(const std::string& file) {
  constexpr std::string_view statistics = "sample_stats/";
  ImportedDraws out;
  for (auto& [name, array] : read_npz(file)) {
    if (array.shape.size() < 2)
      throw Error(
          "\"{}\": array \"{}\" has {} dimension{}; arrays of draws have the dimensions chain, draw, and those of "
          "a draw",
          file, name, array.shape.size(), array.shape.size() == 1 ? "" : "s");
    const std::size_t chains = array.shape[0], draws = array.shape[1];
    if (out.chains == 0) {
      out.chains = chains;
      out.draws = draws;
    }
    if (chains != out.chains || draws != out.draws)
      throw Error("\"{}\": array \"{}\" has {} draws of {} chains where others have {} of {}; all need equally many",
                  file, name, draws, chains, out.draws, out.chains);
    const bool statistic = name.starts_with(statistics);
    ImportedArray read{statistic ? name.substr(statistics.size()) : name,
                       {array.shape.begin() + 2, array.shape.end()},
                       std::move(array.values)};
    (statistic ? out.statistics : out.blocks).push_back(std::move(read));
  }
  return out;
}

struct DrawsFormat {
  std::string_view extension;
  ImportedDraws (*read)(const std::string& file);
};
constexpr DrawsFormat draws_formats[] = {
    {".npz", read_npz_draws}, {".csv", read_csv_draws}, {".nc", read_netcdf_draws}};

const DrawsFormat* draws_format_of(const std::string& file) {
  const auto at = std::ranges::find_if(draws_formats, [&](const auto& f) { return file.ends_with(f.extension); });
  return at == std::end(draws_formats) ? nullptr : at;
}

// Behind the chains that are there already.
void add_chains(ImportedDraws& to, ImportedDraws more, const std::string& file) {
  const auto join = [&](std::vector<ImportedArray>& all, const std::vector<ImportedArray>& some) {
    if (!std::ranges::equal(all, some,
                            [](const auto& a, const auto& b) { return a.name == b.name && a.shape == b.shape; }))
      throw Error("\"{}\" holds other arrays than the file before it; give files of the same model", file);
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k].values.insert(all[k].values.end(), some[k].values.begin(), some[k].values.end());
  };
  if (more.draws != to.draws)
    throw Error("\"{}\" has {} draws of a chain where the file before it has {}; all need equally many", file,
                more.draws, to.draws);
  join(to.blocks, more.blocks);
  join(to.statistics, more.statistics);
  to.chains += more.chains;
}

// ---- storing

const ImportedArray* array_named(std::string_view name, const std::vector<ImportedArray>& arrays) {
  const auto at = std::ranges::find(arrays, name, &ImportedArray::name);
  return at == arrays.end() ? nullptr : &*at;
}

void check_draws(const ImportedDraws& given, const std::string& source) {
  if (given.blocks.empty() || given.chains == 0 || given.draws == 0)
    throw Error("\"{}\" holds no draws; give at least one array with the dimensions chain and draw", source);
  for (const auto* arrays : {&given.blocks, &given.statistics}) {
    std::set<std::string> names;
    for (const ImportedArray& array : *arrays) {
      if (array.name.empty() || array.name.starts_with('.') || array.name.find('/') != std::string::npos)
        throw Error("\"{}\": an array cannot be named \"{}\"; give it a name without / that does not begin with a dot",
                    source, array.name);
      if (array.name == "chain" || array.name == "draw")
        throw Error("\"{}\": an array cannot be named \"{}\", as a dimension of all is; give it another name", source,
                    array.name);
      if (!names.insert(array.name).second) throw Error("\"{}\" holds two arrays named \"{}\"", source, array.name);
      if (array.size() == 0) throw Error("\"{}\": array \"{}\" has no numbers", source, array.name);
      if (array.values.size() != given.chains * given.draws * array.size())
        throw Error("\"{}\": array \"{}\" has {} numbers where {} draws of {} chains have {}", source, array.name,
                    array.values.size(), given.draws, given.chains, given.chains * given.draws * array.size());
    }
  }
  if (given.chains > 1 && array_named("replica", given.statistics))
    throw Error(
        "\"{}\" holds chains at several temperatures ([exchange]); analyse the run itself, or export single chains of "
        "it with --walker",
        source);
}

void add_usual_statistics(ImportedDraws& given) {
  auto& statistics = given.statistics;
  if (const ImportedArray* lp = array_named("lp", statistics); lp && !array_named("potential", statistics)) {
    ImportedArray potential{"potential", lp->shape, lp->values};
    for (double& x : potential.values) x = -x;
    statistics.push_back(std::move(potential));
  }
  if (array_named("step", statistics)) return;
  ImportedArray step{"step", {}, std::vector<double>(given.chains * given.draws)};
  for (std::size_t i = 0; i < step.values.size(); ++i) step.values[i] = double(i % given.draws + 1);
  statistics.push_back(std::move(step));
}

// That of a statistic of ours, if the numbers are such.
const ZarrType& type_of(const ImportedArray& array, bool statistic) {
  for (const DrawStatistic& known : draw_statistics())
    if (statistic && known.name == array.name &&
        std::ranges::all_of(array.values, [](double x) { return x == std::floor(x) && std::abs(x) < 1e15; }))
      return zarr_type(known.type);
  return zarr_type("<f8");
}

std::vector<std::string> dimension_names(const ImportedArray& array) {
  std::vector<std::string> names = array.dimensions;
  for (std::size_t d = names.size(); d < array.shape.size(); ++d) names.push_back(fmt::format("{}_{}", array.name, d));
  return names;
}

// Where it goes, and how.
struct PlacedArray {
  std::string place;
  const ImportedArray* array;
  ZarrShape shape;
};

PlacedArray placed_array(const std::string& group, const ImportedArray& array, const ZarrType& type,
                         const Manifest& manifest) {
  constexpr std::size_t bytes_of_a_chunk = std::size_t(1) << 22;
  const std::uint64_t draws = manifest.draws.front();
  ZarrShape shape{manifest.draws.size(), draws, 1, array.shape, dimension_names(array), &type};
  shape.chunk = std::clamp<std::size_t>(bytes_of_a_chunk / shape.bytes(), 1, draws);
  return {group + "/" + array.name, &array, shape};
}

// `number`: of the array, among those of the manifest.
void write_chunks(const fs::path& root, const PlacedArray& placed, std::uint32_t number, ChunkSumsFile& sums) {
  const auto& [place, array, shape] = placed;
  const std::size_t size = shape.size();
  for (std::size_t chain = 0; chain < shape.walkers; ++chain)
    for (std::size_t first = 0; first < shape.draws; first += shape.chunk) {
      const std::size_t count = std::min(shape.chunk, shape.draws - first);
      const auto from = array->values.begin() + std::ptrdiff_t((chain * shape.draws + first) * size);
      std::vector<double> numbers(from, from + std::ptrdiff_t(count * size));
      numbers.resize(shape.chunk * size, shape.type->padded_by_nan ? NAN : 0);  // the last chunk is a whole one too
      const std::string bytes = bytes_of_numbers(*shape.type, numbers);
      write_file(zarr_chunk(root / place, 2 + shape.each.size(), chain, first / shape.chunk), pack(bytes), false);
      sums.add({number, std::uint32_t(chain), first / shape.chunk, std::uint32_t(count),
                crc32c(std::string_view(bytes).substr(0, count * shape.bytes()))});
    }
}

std::vector<double> from_zero(std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return numbers;
}

RunRecord import_record(const ImportedDraws& given, const ImportRecord& about) {
  RunRecord record;
  record.kelvin = version();
  record.command = "import";
  record.command_line = about.command_line;
  record.created_at = about.created_at;
  record.directory = about.directory;
  record.source = about.source;
  record.settings = read_run_settings(Value::Group{{"model", Value::Group{{"own", "draws"}}},
                                                   {"walkers", long(given.chains)},
                                                   {"steps", long(given.draws)},
                                                   {"every", 1}});
  for (const ImportedArray& block : given.blocks) {
    record.blocks.push_back(block.name);
    record.parameters += block.size();
  }
  record.until = given.draws;
  record.draws = given.draws;
  record.finished = true;
  return record;
}

}  // namespace

std::size_t ImportedArray::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t(1), std::multiplies<>());
}

bool is_draws_file(const std::string& file) { return draws_format_of(file); }

ImportedDraws read_draws(std::span<const std::string> files) {
  ImportedDraws out;
  for (const std::string& file : files) {
    const DrawsFormat* format = draws_format_of(file);
    if (!format) throw Error("\"{}\" is no file of draws; give one that ends in .npz, .csv or .nc", file);
    ImportedDraws read = format->read(file);
    check_draws(read, file);
    if (out.chains == 0) out = std::move(read);
    else add_chains(out, std::move(read), file);
  }
  return out;
}

void store_draws(const fs::path& run, ImportedDraws given, const ImportRecord& about) {
  check_draws(given, about.source);
  add_usual_statistics(given);
  std::error_code failed;
  if (fs::exists(run, failed) && (!fs::is_directory(run, failed) || !fs::is_empty(run, failed)))
    throw Error("\"{}\" exists already; give another --out", run.string());
  make_directories(run);
  ZarrTree tree(run / "samples.zarr");
  const Value attributes = Value::Group{{"inference_library", "kelvin"},
                                        {"inference_library_version", std::string(version())},
                                        {"command", about.command_line},
                                        {"created_at", about.created_at}};
  const RunRecord record = import_record(given, about);
  Manifest manifest;
  manifest.draws.assign(given.chains, given.draws);
  manifest.warmup_draws.assign(given.chains, 0);
  manifest.run = identity_of(record);
  tree.group("", attributes);
  std::vector<PlacedArray> arrays;
  for (const std::string group : {"posterior", "sample_stats"}) {
    const bool statistic = group == "sample_stats";
    tree.group(group, attributes);
    tree.write_numbers(group + "/chain", "<i8", {given.chains}, {"chain"}, from_zero(given.chains));
    tree.write_numbers(group + "/draw", "<i8", {given.draws}, {"draw"}, from_zero(given.draws));
    for (const ImportedArray& array : statistic ? given.statistics : given.blocks) {
      arrays.push_back(placed_array(group, array, type_of(array, statistic), manifest));
      const ZarrAbout written = zarr_about(arrays.back().shape);
      tree.describe(arrays.back().place, written);
      manifest.arrays[arrays.back().place] = zarr_fingerprint(written.array);
    }
  }
  ChunkSumsFile sums(run, {});
  for (const PlacedArray& array : arrays)
    write_chunks(tree.root(), array,
                 std::uint32_t(std::distance(manifest.arrays.begin(), manifest.arrays.find(array.place))), sums);
  sums.write();
  tree.consolidate();
  manifest.files[std::string(chunks_file)] = sums.sum();
  manifest.files[std::string(log_file)] = empty_log(record);
  GrowingFile(run / std::string(log_file), 0);
  for (const auto& [name, sum] : tree.sums()) manifest.files["samples.zarr/" + name] = sum;
  write_record(run, record, false);
  write_file(run / "manifest.json", manifest_bytes(manifest), false);
}

}  // namespace kelvin
