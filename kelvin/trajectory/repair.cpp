// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kelvin/trajectory/checkpoint.h"
#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/verify.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

void remove_from(const fs::path& run, const char* name) {
  std::error_code failed;
  fs::remove_all(run / name, failed);
  if (failed) cannot_write(run / name, failed.value());
}

void put_aside(const fs::path& file) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return;
  fs::rename(file, file.string() + ".damaged", failed);
  if (failed) cannot_write(file, failed.value());
}

// Whether the checkpoint goes on from draws that are intact.
bool fits(const fs::path& run, const RunRecord& record, const Verification& found) {
  if (!has_checkpoint(run)) return true;
  const StoredCheckpoint checkpoint = read_checkpoint(run, settings_checksum(record.settings));
  for (std::size_t w = 0; w < checkpoint.totals.size(); ++w)
    if (checkpoint.totals[w].draws > found.draws[w] || checkpoint.totals[w].warmup_draws > found.warmup_draws[w])
      return false;
  return true;
}

}  // namespace

// The record says first that the run has not finished; then the manifest names what is intact; then the rest goes.
// Wherever this is interrupted, the next repair goes on.
std::vector<std::string> repair(const fs::path& run) {
  const RunLock lock(run);
  const Verification found = verify(run);
  std::vector<std::string> done;
  const auto any = [&](auto&& is) { return std::any_of(found.damage.begin(), found.damage.end(), is); };
  const auto damages = [&](std::string_view file) { return any([&](const Damage& d) { return d.file == file; }); };
  const auto needs = [&](Remedy remedy) { return any([&](const Damage& d) { return d.remedy == remedy; }); };
  if (needs(Remedy::none))
    throw Error("{}; without its settings \"{}\" cannot be repaired: start it anew from its run file",
                found.damage.front().sentence, run.string());
  if (found.intact()) return {"nothing is damaged"};
  RunRecord record = read_record(run);
  if (needs(Remedy::start_again) || needs(Remedy::compute_again) || needs(Remedy::rewrite)) {
    record.finished.reset();
    write_record(run, record);
    done.push_back(fmt::format("`kelvin resume {}` makes again what is missing", run.string()));
  }
  if (needs(Remedy::start_again)) {
    for (const char* name : {"checkpoint", "manifest.json", "chunks", "samples.zarr", "log.jsonl"})
      remove_from(run, name);
    done.push_back("all draws were taken out: nothing vouches for them any more");
    return done;
  }
  Manifest manifest = read_manifest(run);
  for (const Damage& damage : found.damage)
    if (damage.file != chunks_file) manifest.files.erase(damage.file);
  for (std::size_t w = 0; w < manifest.draws.size(); ++w)
    if (found.draws[w] < manifest.draws[w])
      done.push_back(fmt::format("walker {}: its first {} draws of {} are kept", w, found.draws[w], manifest.draws[w]));
  const bool log_goes = damages(log_file);
  const bool checkpoint_goes = log_goes || damages("checkpoint/state") || !fits(run, record, found);
  manifest.draws = found.draws;
  manifest.warmup_draws = found.warmup_draws;
  manifest.checkpoint = !checkpoint_goes && has_checkpoint(run);
  write_file(run / "manifest.json", manifest_bytes(manifest));
  if (checkpoint_goes) {
    remove_from(run, "checkpoint");
    done.push_back("the checkpoint was taken out: resuming begins at step 0, and keeps the draws that are there");
  }
  if (log_goes) {
    remove_from(run, "log.jsonl");
    done.push_back("log.jsonl was taken out");
  }
  for (const Damage& damage : found.damage)
    if (damage.remedy == Remedy::set_aside) {
      put_aside(run / damage.file);
      done.push_back(fmt::format("{} was set aside", damage.file));
    }
  return done;
}

}  // namespace kelvin
