// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/checkpoint.h"

#include "kelvin/core/pack.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t magic = 0x3176'6e69'766c'656b;  // "kelvinv1"

// How long the fields of an empty state are: differs between versions whose states have other fields.
template <class Real>
std::uint32_t layout() {
  Packer pack;
  ChainState<Real>().fields(pack), Kept().fields(pack), CouplingState<Real>().fields(pack),
      ExchangeState().fields(pack);
  return std::uint32_t(pack.bytes.size() + sizeof(PartReading));
}

fs::path file_of(const fs::path& run) { return run / "checkpoint" / "state"; }

}  // namespace

bool has_checkpoint(const fs::path& run) { return fs::exists(file_of(run)); }

template <class Real>
void write_checkpoint(const fs::path& run, std::uint32_t settings, const Checkpoint<Real>& checkpoint) {
  Packer pack;
  pack(magic), pack(layout<Real>()), pack(std::uint32_t(sizeof(Real))), pack(settings),
      pack(std::uint64_t(checkpoint.chains.size()));
  for (std::size_t w = 0; w < checkpoint.chains.size(); ++w) {
    const_cast<ChainState<Real>&>(checkpoint.chains[w]).fields(pack);  // `fields` hands out references; none is written
    const_cast<Kept&>(checkpoint.kept[w]).fields(pack);
  }
  pack(std::uint64_t(checkpoint.couplings.size()));
  for (const auto& coupling : checkpoint.couplings) const_cast<CouplingState<Real>&>(coupling).fields(pack);
  const_cast<ExchangeState&>(checkpoint.exchange).fields(pack);
  pack(checksum(pack.bytes));
  make_directories(run / "checkpoint");
  PendingFiles file;
  file.add(file_of(run), pack.bytes);
  file.settle();
}

std::string checkpoint_bytes(const fs::path& run) { return has_checkpoint(run) ? read_file(file_of(run)) : ""; }

template <class Real>
Checkpoint<Real> read_checkpoint(const fs::path& run, std::uint32_t settings) {
  return unpacked_checkpoint<Real>(read_file(file_of(run)), run, settings);
}

template <class Real>
Checkpoint<Real> unpacked_checkpoint(const std::string& bytes, const fs::path& run, std::uint32_t settings) {
  try {
    Unpacker unpack{bytes};
    std::uint64_t kind = 0, walkers = 0;
    std::uint32_t width = 0, fits = 0, sum = 0, fields = 0;
    unpack(kind);
    if (kind != magic) throw Error("it is not a checkpoint of kelvin");
    if (bytes.size() < 16) throw Error("it is cut short");
    unpack(fields);
    if (fields != layout<Real>())
      throw Error("it was written by another version of kelvin; the run can be read, but not resumed");
    Unpacker end{std::string_view(bytes).substr(bytes.size() - sizeof sum)};
    end(sum);
    unpack.bytes.remove_suffix(sizeof sum);
    if (checksum(std::string_view(bytes).substr(0, bytes.size() - sizeof sum)) != sum)
      throw Error("its checksum does not fit");
    unpack(width), unpack(fits), unpack(walkers);
    if (width != sizeof(Real) || fits != settings)
      throw Error("it was written with other settings than those in run.json");
    Checkpoint<Real> checkpoint;
    for (std::uint64_t w = 0; w < walkers; ++w) {
      checkpoint.chains.emplace_back().fields(unpack);
      checkpoint.kept.emplace_back().fields(unpack);
    }
    std::uint64_t couplings = 0;
    unpack(couplings);
    for (std::uint64_t k = 0; k < couplings; ++k) checkpoint.couplings.emplace_back().fields(unpack);
    checkpoint.exchange.fields(unpack);
    if (!unpack.bytes.empty()) throw Error("it is too long");
    return checkpoint;
  } catch (const std::exception& e) {
    throw Error("\"{}\" cannot be used: {}", file_of(run).string(), e.what());
  }
}

template void write_checkpoint(const fs::path&, std::uint32_t, const Checkpoint<float>&);
template void write_checkpoint(const fs::path&, std::uint32_t, const Checkpoint<double>&);
template Checkpoint<float> read_checkpoint(const fs::path&, std::uint32_t);
template Checkpoint<double> read_checkpoint(const fs::path&, std::uint32_t);
template Checkpoint<float> unpacked_checkpoint(const std::string&, const fs::path&, std::uint32_t);
template Checkpoint<double> unpacked_checkpoint(const std::string&, const fs::path&, std::uint32_t);

}  // namespace kelvin
