// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/disk.h"

#include "kelvin/core/pack.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/verify.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

// Makes the directory and holds it. One that holds anything is refused, or emptied of an earlier run if `replace`.
RunLock make_run_directory(const fs::path& run, bool replace) {
  std::error_code failed;
  if (fs::exists(run, failed) && !fs::is_directory(run, failed))
    throw Error("\"{}\" is a file; give a directory that does not exist yet to --out", run.string());
  make_directories(run);
  const auto others = [&] {  // besides a lock and what a killed process left half-written
    for (const auto& entry : fs::directory_iterator(run))
      if (entry.path().filename() != "lock" && entry.path().extension() != ".part") return true;
    return false;
  };
  const bool earlier = fs::exists(run / "run.json", failed);
  if (others() && !replace)
    throw Error("\"{}\" exists already; give another --out, or --force to replace the run there", run.string());
  if (others() && !earlier)
    throw Error("\"{}\" holds no run of kelvin, so --force will not empty it; give another --out", run.string());
  RunLock lock(run);
  for (const char* name :
       {"checkpoint", "manifest.json", "chunks", "samples.zarr", "analysis", "log.jsonl", "run.toml", "run.json"})
    if (earlier) fs::remove_all(run / name, failed);
  return lock;
}

}  // namespace

Disk::Disk(fs::path run, Clock clock, bool replace, std::string run_file)
    : run_(std::move(run)), clock_(std::move(clock)), replace_(replace), run_file_(std::move(run_file)) {}

Disk::Disk(fs::path run, Clock clock) : run_(std::move(run)), clock_(std::move(clock)), resumed_(true) {
  if (read_record(run_).imported())  // refuses what is no run before a lock is put there
    throw Error("\"{}\" holds draws of another program, which alone can go on with them", run_.string());
  lock_.emplace(run_);
  resumption_.record = read_record(run_);
  check_all(run_);
  if (has_checkpoint(run_)) {
    StoredCheckpoint stored = read_checkpoint(run_, settings_checksum(resumption_.record.settings));
    resumption_.checkpoint = std::move(stored.run);
    totals_ = std::move(stored.totals);
  }
  const StoredLog log = read_stored_log(run_, resumption_.record, Newest::may_be_lost);
  const std::uint64_t reached = resumption_.checkpoint ? resumption_.checkpoint->step : 0;
  log_sum_ = empty_log(resumption_.record);
  for (std::size_t k = 0; k < log.lines.size(); ++k)
    if (log.lines[k].step <= reached) {
      resumption_.line = log.lines[k];
      log_sum_ = log.ends[k];
    }
  if (has_manifest(run_)) before_ = read_manifest(run_).seconds;
}

Disk::~Disk() {
  if (ended_) return;
  try {
    with_store([](auto& store) { store.finish(); });
  } catch (const std::exception&) {
    // the error that ended the run is on its way to whoever started it
  }
}

template <class Use>
void Disk::with_store(Use&& use) {
  if (floats_) use(*floats_);
  if (doubles_) use(*doubles_);
}

template <class Real>
void Disk::open(const RunRecord& record, const Problem<Real>& problem, std::unique_ptr<Store<Real>>& store) {
  const RunSettings& settings = record.settings;
  if (!resumed_) lock_.emplace(make_run_directory(run_, replace_));
  settings_ = settings_checksum(record.settings);
  write_record(run_, record, resumed_);  // a new one is on the disk with the first checkpoint
  if (!resumed_) {
    write_file(run_ / "run.toml", run_file_, false);
    log_sum_ = empty_log(record);
  }
  const Value attributes = Value::Group{{"inference_library", "kelvin"},
                                        {"inference_library_version", record.kelvin},
                                        {"seed", settings.seed},
                                        {"command", record.command_line},
                                        {"created_at", record.created_at}};
  store = std::make_unique<Store<Real>>(run_, problem, std::uint64_t(settings.steps / settings.every),
                                        StoreOrigin{.attributes = attributes,
                                                    .seconds = [this] { return seconds(); },
                                                    .identity = identity_of(record),
                                                    .totals = std::move(totals_),
                                                    .log = log_sum_});
  // The lines that the run will write again go when no manifest names them any more.
  log_ = std::make_unique<GrowingFile>(run_ / std::string(log_file), log_sum_.bytes);
}

void Disk::line(const LogLine& line) {
  FileSum sum = log_sum_;
  log_->add(text_of(line, sum));
  log_sum_ = sum;
  with_store([&](auto& store) { store.log_grew(sum); });
}

void Disk::checkpoint(const Checkpoint& now) {
  with_store([&](auto& store) {
    if (now.last) store.finish();
    else store.acknowledge();
    write_checkpoint(run_, settings_, {now, store.totals()});
  });
}

void Disk::steered(const RunRecord& record) { write_record(run_, record); }

void Disk::end(const RunRecord& record) {
  ended_ = true;
  if (record.has_finished()) write_record(run_, record);
}

Resumption on_all_ranks(const Resumption& mine, Comm& comm) {
  if (comm.size() == 1) return mine;
  Resumption out;
  out.record = parse_record(comm.from_first(to_json(recorded(mine.record))), "run.json");
  Packer pack;
  if (mine.checkpoint) pack_checkpoint(pack, *mine.checkpoint);
  const std::string bytes = comm.from_first(pack.bytes);
  Unpacker unpack{bytes};
  if (!bytes.empty()) out.checkpoint = unpacked_run(unpack);
  out.line = mine.line;
  return out;
}

}  // namespace kelvin
