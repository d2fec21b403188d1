// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/checkpoint.h"

#include "kelvin/chain/chain.h"
#include "kelvin/core/pack.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t magic = 0x3276'6e69'766c'656b;  // "kelvinv2"

// How long the fields of an empty state are: differs between versions whose states have other fields.
std::uint32_t layout() {
  Packer pack;
  ChainState<double>().fields(pack);
  WalkerTotals().fields(pack);
  return std::uint32_t(pack.bytes.size() + sizeof(PartReading));
}

fs::path file_of(const fs::path& run) { return run / "checkpoint" / "state"; }

void put_text(Packer& pack, const std::string& text) { pack(std::vector<char>(text.begin(), text.end())); }

std::string take_text(Unpacker& unpack) {
  std::vector<char> text;
  unpack(text);
  return {text.begin(), text.end()};
}

}  // namespace

void pack_checkpoint(Packer& pack, const Checkpoint& run) {
  pack(run.step);
  pack(run.evaluations);
  pack(run.draws);
  pack(std::uint64_t(run.walkers.size()));
  for (const std::string& state : run.walkers) put_text(pack, state);
  pack(std::uint64_t(run.couplings.size()));
  for (const auto& [name, state] : run.couplings) {
    put_text(pack, name);
    put_text(pack, state);
  }
  put_text(pack, run.patience);
}

Checkpoint unpacked_run(Unpacker& unpack) {
  Checkpoint run;
  unpack(run.step);
  unpack(run.evaluations);
  unpack(run.draws);
  std::uint64_t walkers = 0, couplings = 0;
  unpack(walkers);
  for (std::uint64_t w = 0; w < walkers; ++w) run.walkers.push_back(take_text(unpack));
  unpack(couplings);
  for (std::uint64_t k = 0; k < couplings; ++k) {
    const std::string name = take_text(unpack);
    run.couplings[name] = take_text(unpack);
  }
  run.patience = take_text(unpack);
  return run;
}

std::uint32_t settings_checksum(const RunSettings& settings) { return checksum(to_json(as_value(settings))); }

bool has_checkpoint(const fs::path& run) { return fs::exists(file_of(run)); }

void write_checkpoint(const fs::path& run, std::uint32_t settings, const StoredCheckpoint& checkpoint) {
  Packer pack;
  pack(magic);
  pack(layout());
  pack(settings);
  pack_checkpoint(pack, checkpoint.run);
  pack(std::uint64_t(checkpoint.totals.size()));
  for (WalkerTotals totals : checkpoint.totals) totals.fields(pack);
  pack(checksum(pack.bytes));
  make_directories(run / "checkpoint");
  PendingFiles file;
  file.add(file_of(run), pack.bytes);
  file.settle();
}

std::string checkpoint_bytes(const fs::path& run) { return has_checkpoint(run) ? read_file(file_of(run)) : ""; }

StoredCheckpoint read_checkpoint(const fs::path& run, std::uint32_t settings) {
  return unpacked_checkpoint(read_file(file_of(run)), run, settings);
}

StoredCheckpoint unpacked_checkpoint(const std::string& bytes, const fs::path& run, std::uint32_t settings) {
  try {
    Unpacker unpack{bytes};
    std::uint64_t kind = 0, walkers = 0;
    std::uint32_t fits = 0, sum = 0, fields = 0;
    unpack(kind);
    if (kind != magic) throw Error("it is not a checkpoint of kelvin, or one of another version");
    if (bytes.size() < 16) throw Error("it is cut short");
    unpack(fields);
    if (fields != layout())
      throw Error("it was written by another version of kelvin; the run can be read, but not resumed");
    Unpacker end{std::string_view(bytes).substr(bytes.size() - sizeof sum)};
    end(sum);
    unpack.bytes.remove_suffix(sizeof sum);
    if (checksum(std::string_view(bytes).substr(0, bytes.size() - sizeof sum)) != sum)
      throw Error("its checksum does not fit");
    unpack(fits);
    if (fits != settings) throw Error("it was written with other settings than those in run.json");
    StoredCheckpoint checkpoint;
    checkpoint.run = unpacked_run(unpack);
    unpack(walkers);
    for (std::uint64_t w = 0; w < walkers; ++w) checkpoint.totals.emplace_back().fields(unpack);
    if (!unpack.bytes.empty()) throw Error("it is too long");
    return checkpoint;
  } catch (const std::exception& e) {
    throw DamagedError("\"{}\" cannot be used: {}", file_of(run).string(), sentence_of(e));
  }
}

}  // namespace kelvin
