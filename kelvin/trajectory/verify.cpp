// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/verify.h"

#include <algorithm>

#include "kelvin/io/json.h"
#include "kelvin/trajectory/checkpoint.h"
#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/sealed.h"
#include "kelvin/trajectory/zarr_tree.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

// One pass over a run.
class Verifier {
 public:
  explicit Verifier(const fs::path& run) : run_(run) {}
  Verification run();

 private:
  // Whether it succeeds; an Error is damage of `file`.
  template <class Check>
  bool check(const std::string& file, Remedy remedy, Check&& what);
  void check_files();
  void check_array(const std::string& name, std::size_t number);
  void check_draw_coordinate(const std::string& array, const ZarrShape&, std::uint64_t draws);
  void check_consolidated();
  void check_checkpoint();
  void check_findings();
  ZarrShape shape_of(const std::string& array, std::uint64_t draws);
  void count(const std::string& bytes) {
    ++found_.files;
    found_.bytes += bytes.size();
  }

  fs::path run_;
  RunRecord record_;
  Manifest manifest_;
  ChunkSums chunks_;
  Verification found_;
};

template <class Check>
bool Verifier::check(const std::string& file, Remedy remedy, Check&& what) {
  try {
    what();
    return true;
  } catch (const std::exception& e) {
    found_.damage.push_back({file, sentence_of(e), remedy});
    return false;
  }
}

Verification Verifier::run() {
  if (!fs::is_directory(run_)) read_record(run_);  // says so
  if (!check("run.json", Remedy::none, [&] { record_ = read_record(run_); })) return found_;
  const bool begun = has_checkpoint(run_) || record_.has_finished();
  if (!has_manifest(run_) && !begun) return found_;  // it was killed before there was anything
  const bool read = check("manifest.json", Remedy::start_again, [&] {
    manifest_ = read_manifest(run_);
    check_same_run(run_, manifest_, record_);
  });
  if (!read) return found_;
  found_.named = found_.draws = manifest_.draws;
  found_.warmup_draws = manifest_.warmup_draws;
  const std::string chunks(chunks_file), log(log_file);
  const bool known = check(chunks, Remedy::start_again, [&] { chunks_ = ChunkSums(run_, manifest_.sum_of(chunks)); });
  if (!known) return found_;
  check(log, Remedy::compute_again, [&] { read_stored_log(run_, record_, Newest::may_be_lost); });
  check_files();
  std::size_t number = 0;
  for (const auto& [name, fingerprint] : manifest_.arrays) check_array(name, number++);
  check_consolidated();
  check_checkpoint();
  check_findings();
  return found_;
}

void Verifier::check_files() {
  for (const auto& [name, sum] : manifest_.files) {
    if (name == chunks_file || name == log_file) continue;
    const Remedy remedy = name.starts_with("samples.zarr/") ? Remedy::rewrite : Remedy::set_aside;
    check(name, remedy, [&] { count(read_named(run_, manifest_, name)); });
  }
}

// What .zarray says; if that is damaged, what .zmetadata says instead.
ZarrShape Verifier::shape_of(const std::string& array, std::uint64_t draws) {
  const std::string name = "samples.zarr/" + array + "/.zarray", &expected = manifest_.arrays.at(array);
  ZarrShape shape;
  const bool good = check(name, Remedy::rewrite, [&] {
    const std::string text = read_file(run_ / name);
    count(text);
    shape = parse_zarr_metadata(text, (run_ / name).string());
    if (zarr_fingerprint(parse_json(text, name)) != expected || shape.draws > draws ||
        (record_.has_finished() && shape.draws != draws))
      throw damaged(run_ / name, "it does not say what manifest.json vouches for");
  });
  if (good) return shape;
  const fs::path all = run_ / "samples.zarr" / ".zmetadata";
  const Value about = parse_json(read_file(all), all.string()).at("metadata").at(array + "/.zarray");
  if (zarr_fingerprint(about) != expected) throw damaged(all, "it does not say what manifest.json vouches for");
  return parse_zarr_metadata(to_json(about), all.string());
}

void Verifier::check_array(const std::string& name, std::size_t number) {
  const bool warmup = name.starts_with("warmup_");
  const auto& named = warmup ? manifest_.warmup_draws : manifest_.draws;
  auto& intact = warmup ? found_.warmup_draws : found_.draws;
  const std::uint64_t visible = *std::min_element(named.begin(), named.end());
  ZarrShape shape;
  if (!check(name, Remedy::compute_again, [&] { shape = shape_of(name, visible); })) {
    intact.assign(intact.size(), 0);
    return;
  }
  const fs::path array = run_ / "samples.zarr" / name;
  for (std::size_t w = 0; w < named.size(); ++w)
    for (std::uint64_t first = 0; first < named[w]; first += shape.chunk) {
      const std::uint64_t chunk = first / shape.chunk;
      const fs::path file = zarr_chunk(array, 2 + shape.each.size(), w, chunk);
      const bool good = check(file.lexically_relative(run_).string(), Remedy::compute_again, [&] {
        const std::string packed = read_file(file);
        count(packed);
        const std::string bytes = unpack(packed, shape.chunk * shape.bytes(), file.string());
        check_chunk(bytes, shape.bytes(), chunks_.find(number, w, chunk),
                    std::min<std::uint64_t>(shape.chunk, named[w] - first), file);
      });
      if (!good) intact[w] = std::min(intact[w], first);
    }
  const std::string coordinate = "samples.zarr/" + name.substr(0, name.find('/')) + "/draw";
  if (name == std::prev(manifest_.arrays.upper_bound(name.substr(0, name.find('/')) + "0"))->first)
    check_draw_coordinate(coordinate, shape, visible);
}

// 0, 1, 2, ..., for other programs.
void Verifier::check_draw_coordinate(const std::string& array, const ZarrShape& shape, std::uint64_t draws) {
  const std::string about = array + "/.zarray";
  std::uint64_t shown = 0;
  check(about, Remedy::rewrite, [&] {
    const std::string text = read_file(run_ / about);
    count(text);
    const auto extents = parse_json(text, (run_ / about).string()).as<std::vector<std::uint64_t>>("shape");
    shown = extents.size() == 1 ? extents[0] : 0;
    const Value due = zarr_about("<i8", {shown}, {shape.chunk}, {"draw"}).array;
    if (text != to_json(due, 2) || shown > draws || (record_.has_finished() && shown != draws))
      throw damaged(run_ / about, "it does not say what manifest.json vouches for");
  });
  for (std::uint64_t first = 0; first < std::min(shown, draws); first += shape.chunk) {
    const fs::path file = run_ / array / std::to_string(first / shape.chunk);
    check(file.lexically_relative(run_).string(), Remedy::rewrite, [&] {
      const std::string packed = read_file(file);
      count(packed);
      std::vector<double> numbers(shape.chunk);
      for (std::size_t k = 0; k < shape.chunk; ++k) numbers[k] = double(first + k);
      const ZarrType& type = zarr_type("<i8");
      if (unpack(packed, shape.chunk * type.width, file.string()) != bytes_of_numbers(type, numbers))
        throw damaged(file, "it does not count the draws");
    });
  }
}

// All that is said of groups and arrays, in one file. A run that was killed may not have come to write it.
void Verifier::check_consolidated() {
  const fs::path root = run_ / "samples.zarr", file = root / ".zmetadata";
  check("samples.zarr/.zmetadata", Remedy::rewrite, [&] {
    const std::string text = read_file(file);
    count(text);
    parse_json(text, file.string());
    if (!record_.has_finished()) return;
    Value::Group told;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      if (name == ".zgroup" || name == ".zattrs" || name == ".zarray")
        told[entry.path().lexically_relative(root).string()] =
            parse_json(read_file(entry.path()), entry.path().string());
    }
    if (text != to_json(Value::Group{{"zarr_consolidated_format", 1}, {"metadata", told}}, 2))
      throw damaged(file, "it does not say what the groups and arrays do");
  });
}

void Verifier::check_checkpoint() {
  if (!has_checkpoint(run_) && !manifest_.checkpoint) return;
  check("checkpoint/state", Remedy::compute_again, [&] {
    const StoredCheckpoint checkpoint = read_checkpoint(run_, settings_checksum(record_.settings));
    count(checkpoint_bytes(run_));
    for (std::size_t w = 0; w < checkpoint.totals.size(); ++w)
      if (w >= manifest_.draws.size() || checkpoint.totals[w].draws > manifest_.draws[w])
        throw damaged(run_ / "checkpoint" / "state", "it knows of more draws than manifest.json names");
  });
}

void Verifier::check_findings() {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(run_ / "analysis", none)) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().lexically_relative(run_).string();
    check(name, Remedy::set_aside, [&] {
      const std::string text = read_file(entry.path());
      count(text);
      unsealed(text, entry.path().string(), identity_of(record_));
    });
  }
}

}  // namespace

Verification verify(const fs::path& run) { return Verifier(run).run(); }

void check_all(const fs::path& run) {
  const Verification found = verify(run);
  const auto forbids = [](const Damage& damage) {
    return damage.remedy != Remedy::rewrite && !damage.file.starts_with("analysis/");
  };
  const auto first = std::find_if(found.damage.begin(), found.damage.end(), forbids);
  if (first != found.damage.end()) throw Error("{}", first->sentence);
}

}  // namespace kelvin
