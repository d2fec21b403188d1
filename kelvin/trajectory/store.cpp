// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/store.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kelvin/core/crc32c.h"
#include "kelvin/core/entry.h"
#include "kelvin/function/block.h"

namespace kelvin {
namespace {

namespace fs = std::filesystem;

// Of packed chunks that wait to be named together: the disk is waited for a few times a commit.
constexpr std::size_t bytes_of_a_commit = std::size_t(1) << 25;

std::vector<double> counted(std::size_t from, std::size_t count) {
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = double(from + i);
  return numbers;
}

}  // namespace

template <class Real>
std::uint64_t Store<Real>::Phase::visible() const {
  return *std::min_element(acknowledged.begin(), acknowledged.end());  // what every walker has
}

template <class Real>
Store<Real>::Store(const fs::path& run, const Problem<Real>& problem, std::uint64_t planned, StoreOrigin origin)
    : run_(run),
      samples_(run / "samples.zarr"),
      recipe_(problem.recipe),
      attributes_(std::move(origin.attributes)),
      seconds_(std::move(origin.seconds)),
      totals_(std::move(origin.totals)),
      log_(origin.log) {
  const auto walkers = std::size_t(problem.settings.walkers);
  bool slack = false;
  for (Block block : recipe_.blocks) {
    slack |= block.slack();
    if (block.slack()) continue;
    block.offset = stored_size_;
    stored_size_ += block.size();
    stored_.push_back(block);
  }
  if (slack) gathered_.assign(walkers, std::vector<Real>(stored_size_));
  if (totals_.empty()) totals_.assign(walkers, {0, 0, RunningMoments(stored_size_)});
  manifest_.run = origin.identity;
  phases_.resize(problem.settings.store.keep_warmup ? 2 : 1);
  for (std::size_t k = 0; k < phases_.size(); ++k) {
    phases_[k].prefix = k == 0 ? "" : "warmup_";
    phases_[k].acknowledged.assign(walkers, 0);
    add_arrays(phases_[k], problem, planned);
    for (const Array& array : phases_[k].arrays)
      manifest_.arrays[array.place()] = zarr_fingerprint(zarr_about(array.shape).array);
  }
  const bool again = has_manifest(run);
  if (again) go_on_from(read_manifest(run));
  else if (const std::string file = "run.toml"; fs::exists(run / file)) given_[file] = sum_of(read_file(run / file));
  for (Phase& phase : phases_) {
    phase.before = phase.written = phase.acknowledged;
    for (const Array& array : phase.arrays)
      phase.numbers.push_back(
          std::uint32_t(std::distance(manifest_.arrays.begin(), manifest_.arrays.find(array.place()))));
  }
  chunk_sums_ = std::make_unique<ChunkSumsFile>(run, manifest_.sum_of(std::string(chunks_file)));
  write_groups(problem);
  for (std::size_t k = 0; k < phases_.size(); ++k) open_again(phases_[k], k);
  tell_of_draws(log_);
  write_file(run_ / "manifest.json", manifest_bytes(manifest_), again);  // of a new run durable with the first draws
  if (again) forget_moments();
  show_draws();
  writer_ = std::jthread([this](std::stop_token stop) { write_queued(stop); });
}

template <class Real>
void Store<Real>::go_on_from(const Manifest& earlier) {
  if (earlier.arrays != manifest_.arrays || earlier.draws.size() != totals_.size())
    throw Error("\"{}\" has other arrays than this version of kelvin writes; it can be read, but not resumed",
                samples_.root().string());
  phases_[0].acknowledged = earlier.draws;
  if (phases_.size() > 1) phases_[1].acknowledged = earlier.warmup_draws;
  const std::string chunks(chunks_file);
  manifest_.files[chunks] = earlier.sum_of(chunks);
  before_ = ChunkSums(run_, earlier.sum_of(chunks));
  if (const auto at = earlier.files.find("run.toml"); at != earlier.files.end()) given_.insert(*at);
}

// Those of a run that had ended: the manifest does not name them any more.
template <class Real>
void Store<Real>::forget_moments() {
  std::vector<fs::path> arrays;
  for (const auto& entry : fs::directory_iterator(samples_.root() / "moments"))
    if (entry.is_directory()) arrays.push_back(entry.path());
  for (const fs::path& array : arrays) fs::remove_all(array);
}

template <class Real>
Store<Real>::~Store() {
  writer_.request_stop();
}

// ---- what is stored

template <class Real>
void Store<Real>::add_arrays(Phase& phase, const Problem<Real>& problem, std::uint64_t planned) {
  const std::size_t walkers = totals_.size();
  phase.arrays = stored_arrays(problem, phase.prefix, seconds_);
  std::size_t bytes = 0;
  for (const Array& array : phase.arrays) bytes += array.shape.bytes();
  // Bytes a walker gathers before they are written: many, so that waiting for the disk is rare, but few enough to stay
  // in the cache, and fewer for each of many walkers.
  const std::size_t buffered = std::clamp<std::size_t>((std::size_t(1) << 26) / walkers, 1 << 20, 1 << 22);
  phase.chunk = std::clamp<std::size_t>(buffered / bytes, 1, std::max<std::uint64_t>(1, planned));
  for (Array& array : phase.arrays) array.shape.chunk = phase.chunk;
}

template <class Real>
void Store<Real>::write_groups(const Problem<Real>& problem) {
  const auto group = [&](const std::string& name) { samples_.group(name, attributes_); };
  group("");
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < recipe_.told_parts(); ++k) parts.push_back(recipe_.parts[k].name);
  const auto chains = counted(0, totals_.size());
  for (const Phase& phase : phases_) {
    for (const char* name : {"posterior", "sample_stats"}) group(phase.prefix + name);
    for (const Array& array : phase.arrays)
      if (!samples_.has_group(array.group)) group(array.group);
    samples_.write_names(phase.prefix + "sample_stats/part", parts);
    for (const Array& array : phase.arrays) samples_.describe_growing(array.place(), zarr_about(array.shape));
    for (const char* name : {"posterior", "sample_stats", "posterior_predictive", "log_likelihood"})
      if (const std::string in = phase.prefix + name; samples_.has_group(in)) {
        samples_.write_numbers(in + "/chain", "<i8", {chains.size()}, {"chain"}, chains);
        samples_.describe_growing(in + "/draw", zarr_about("<i8", {0}, {phase.chunk}, {"draw"}));
      }
  }
  group("moments");
  if (!problem.train) return;
  const Dataset& data = predicted_rows(problem);
  const auto data_array = [&](const std::string& in, const char* name, const char* columns, const Units& units,
                              const InputValues& values, const std::vector<std::string>& names) {
    group(in);
    samples_.write_numbers(in + "/row", "<i8", {data.rows}, {"row"}, counted(0, data.rows));
    samples_.write_names(in + "/" + columns, names);
    samples_.write_rows(in + "/" + name, values, units, names.size(), {"row", columns});
  };
  data_array("observed_data", "y", "target", data.has_classes() ? Units() : data.target_units, data.targets,
             data.target_names);
  data_array("constant_data", "x", "input", data.input_units, data.inputs, data.input_names);
}

template <class Real>
void Store<Real>::add_moments() {
  const std::size_t walkers = totals_.size();
  const auto write = [&](const std::string& name, const std::vector<std::size_t>& each,
                         const std::vector<std::string>& dimensions, auto&& value) {
    std::vector<std::size_t> shape = {walkers}, chunks = {1};
    std::vector<std::string> names = {"chain"};
    std::size_t size = 1;
    for (const std::size_t k : each) shape.push_back(k), chunks.push_back(k), size *= k;
    names.insert(names.end(), dimensions.begin(), dimensions.end());
    samples_.describe("moments/" + name, zarr_about("<f8", shape, chunks, names));
    for (std::size_t w = 0; w < walkers; ++w) {
      std::vector<double> numbers(size);
      for (std::size_t i = 0; i < size; ++i) numbers[i] = value(totals_[w].moments, i);
      samples_.write_with(pending_, zarr_chunk(samples_.root() / "moments" / name, shape.size(), w, 0),
                          pack(bytes_of_numbers(zarr_type("<f8"), numbers)));
    }
  };
  samples_.write_numbers("moments/chain", "<i8", {walkers}, {"chain"}, counted(0, walkers));
  samples_.write_names("moments/moment", {"mean", "variance"});
  write("draws", {}, {}, [](const RunningMoments& m, std::size_t) { return double(m.count); });
  for (const Block& block : stored_) {
    auto shape = block.shape.list();
    auto names = dimensions_of(block);
    shape.insert(shape.begin(), 2);
    names.insert(names.begin(), "moment");
    write(block.name, shape, names, [&](const RunningMoments& m, std::size_t i) {
      const std::size_t at = block.offset + i % block.size();
      return i < block.size() ? m.mean[at] : m.variance(at);
    });
  }
  if (!totals_.front().moments.products.empty()) {
    const std::size_t n = stored_size_;
    std::vector<std::string> names(n);
    for (const Block& block : stored_)
      for (std::size_t i = 0; i < block.size(); ++i)
        names[block.offset + i] = entry_name(block.name, i, block.shape.list());
    samples_.write_names("moments/parameter", names);
    samples_.write_names("moments/other_parameter", names);
    write("covariance", {n, n}, {"parameter", "other_parameter"},
          [n](const RunningMoments& m, std::size_t i) { return m.covariance(i / n, i % n); });
  }
}

// ---- draws

template <class Real>
typename Store<Real>::Chunk Store<Real>::fresh_chunk(std::size_t phase, std::size_t walker, std::size_t number) {
  Chunk chunk;
  if (phase == 0 && !spare_.empty()) chunk = std::move(spare_.back()), spare_.pop_back();
  chunk.phase = phase;
  chunk.walker = walker;
  chunk.number = number;
  chunk.filled = 0;
  const auto& arrays = phases_[phase].arrays;
  chunk.bytes.resize(arrays.size());
  for (std::size_t k = 0; k < arrays.size(); ++k) chunk.bytes[k].resize(arrays[k].shape.bytes() * phases_[phase].chunk);
  read_back(chunk);
  return chunk;
}

// What was acknowledged before stays as it is: a chunk that has some of it begins with that.
template <class Real>
void Store<Real>::read_back(Chunk& chunk) {
  const Phase& phase = phases_[chunk.phase];
  const std::uint64_t first = chunk.number * phase.chunk, before = phase.before[chunk.walker];
  if (before <= first || before >= first + phase.chunk) return;  // one that is full is not written again
  for (std::size_t k = 0; k < phase.arrays.size(); ++k) {
    const ZarrShape& shape = phase.arrays[k].shape;
    const fs::path file =
        zarr_chunk(samples_.root() / phase.arrays[k].place(), 2 + shape.each.size(), chunk.walker, chunk.number);
    const std::string bytes = read_zarr_chunk(file, shape);
    check_chunk(bytes, shape.bytes(), before_.find(phase.numbers[k], chunk.walker, chunk.number), before - first, file);
    std::memcpy(chunk.bytes[k].data(), bytes.data(), (before - first) * shape.bytes());
  }
}

// Walkers go on where the checkpoint has them.
template <class Real>
void Store<Real>::open_again(Phase& phase, std::size_t index) {
  for (std::size_t w = 0; w < totals_.size(); ++w) {
    const std::uint64_t draws = index == 0 ? totals_[w].draws : totals_[w].warmup_draws;
    if (draws > phase.acknowledged[w])
      throw Error("\"{}\" names {} draws of walker {} where the checkpoint has {}; it is damaged",
                  (run_ / "manifest.json").string(), phase.acknowledged[w], w, draws);
    phase.open.push_back(fresh_chunk(index, w, draws / phase.chunk));
    phase.open.back().filled = draws % phase.chunk;
  }
}

// q without slack.
template <class Real>
std::span<const Real> Store<Real>::stored(const Draw<Real>& draw) {
  if (gathered_.empty()) return draw.q;
  std::vector<Real>& out = gathered_[draw.walker];
  std::size_t at = 0;
  for (const Block& block : recipe_.blocks)
    if (!block.slack())
      std::copy_n(draw.q.begin() + long(block.offset), block.size(), out.begin() + long(at)), at += block.size();
  return out;
}

template <class Real>
void Store<Real>::keep(const Draw<Real>& draw) {
  const std::size_t index = draw.warmup ? 1 : 0;
  Phase& phase = phases_[index];
  Chunk& chunk = phase.open[draw.walker];
  if (chunk.number * phase.chunk + chunk.filled >= phase.before[draw.walker])  // else it is there already
    for (std::size_t k = 0; k < phase.arrays.size(); ++k)
      phase.arrays[k].put(draw, chunk.bytes[k].data() + chunk.filled * phase.arrays[k].shape.bytes());
  WalkerTotals& totals = totals_[draw.walker];
  ++(draw.warmup ? totals.warmup_draws : totals.draws);
  if (!draw.warmup) totals.moments.add(stored(draw), std::exp(draw.reading.log_weight));
  if (++chunk.filled < phase.chunk) return;

  std::unique_lock lock(mutex_);
  wait_until_written(lock, 2);  // chunks that may lie in the queue: memory stays bounded
  const std::size_t next = chunk.number + 1;
  queue_.push_back(std::move(chunk));
  chunk = fresh_chunk(index, draw.walker, next);
  queued_.notify_one();
}

template <class Real>
void Store<Real>::wait_until_written(std::unique_lock<std::mutex>& lock, std::size_t most_queued) {
  written_.wait(lock, [&] { return failure_ || queue_.size() + writing_ <= most_queued; });
  if (failure_) std::rethrow_exception(failure_);
}

template <class Real>
void Store<Real>::write_queued(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (queued_.wait(lock, stop, [&] { return !queue_.empty(); })) {
    std::vector<Chunk> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end()));
    queue_.clear();
    writing_ = batch.size();
    lock.unlock();
    std::exception_ptr failure;
    try {
      for (Chunk& chunk : batch) write(chunk);
      if (pending_bytes_ >= bytes_of_a_commit) commit();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    for (Chunk& chunk : batch)
      if (chunk.phase == 0) spare_.push_back(std::move(chunk));
    writing_ = 0;
    if (failure) failure_ = failure;
    written_.notify_all();
    if (failure) return;  // a later chunk must not be acknowledged before this one
  }
}

// A chunk whose draws are all acknowledged is on the disk already, perhaps with more of them: a resumed run makes the
// same again.
template <class Real>
void Store<Real>::write(Chunk& chunk) {
  Phase& phase = phases_[chunk.phase];
  const std::uint64_t draws = chunk.number * phase.chunk + chunk.filled;
  if (draws <= phase.acknowledged[chunk.walker]) return;
  for (std::size_t k = 0; k < phase.arrays.size(); ++k) {
    const ZarrShape& shape = phase.arrays[k].shape;
    const ZarrType& type = *shape.type;
    std::string& bytes = chunk.bytes[k];
    const std::size_t filled = chunk.filled * shape.bytes();
    for (std::size_t at = filled; at < bytes.size(); at += type.width)
      type.put(type.padded_by_nan ? NAN : 0, bytes.data() + at);
    const std::string_view packed = pack(bytes);
    pending_.add(
        zarr_chunk(samples_.root() / phase.arrays[k].place(), 2 + shape.each.size(), chunk.walker, chunk.number),
        packed);
    pending_bytes_ += packed.size();
    chunk_sums_->add({phase.numbers[k], std::uint32_t(chunk.walker), chunk.number, std::uint32_t(chunk.filled),
                      crc32c(std::string_view(bytes).substr(0, filled))});
  }
  phase.written[chunk.walker] = draws;
}

// What was written goes to the disk, then the manifest that names its draws, then the shapes that readers see.
template <class Real>
void Store<Real>::commit() {
  constexpr double seconds_worth_telling = 1;
  if (pending_.empty() && seconds_() < manifest_.seconds + seconds_worth_telling) return;
  const FileSum log = log_now();  // its lines until now reach the disk before the manifest does
  chunk_sums_->write();
  pending_.publish();
  pending_bytes_ = 0;
  for (Phase& phase : phases_) phase.acknowledged = phase.written;
  tell_of_draws(log);
  pending_.add(run_ / "manifest.json", manifest_bytes(manifest_));
  pending_.settle();
  show_draws();
}

template <class Real>
void Store<Real>::tell_of_draws(const FileSum& log) {
  manifest_.draws = phases_[0].acknowledged;
  manifest_.warmup_draws = phases_.size() > 1 ? phases_[1].acknowledged : std::vector<std::uint64_t>(totals_.size(), 0);
  manifest_.seconds = seconds_();
  manifest_.checkpoint = has_checkpoint(run_);
  manifest_.files = given_;
  manifest_.files[std::string(log_file)] = log;
  manifest_.files[std::string(chunks_file)] = chunk_sums_->sum();
  for (const auto& [name, sum] : samples_.sums()) manifest_.files["samples.zarr/" + name] = sum;
}

template <class Real>
void Store<Real>::log_grew(const FileSum& log) {
  const std::lock_guard lock(mutex_);
  log_ = log;
}

template <class Real>
FileSum Store<Real>::log_now() {
  const std::lock_guard lock(mutex_);
  return log_;
}

template <class Real>
void Store<Real>::show_draws() {
  for (Phase& phase : phases_) {
    const std::uint64_t draws = phase.visible();
    if (draws == phase.shown) continue;
    phase.shown = draws;
    for (const Array& array : phase.arrays) samples_.lengthen(array.place(), 1, draws);
    const std::uint64_t first = phase.coordinates, last = (draws + phase.chunk - 1) / phase.chunk;
    phase.coordinates = last;
    for (const char* group : {"posterior", "sample_stats", "posterior_predictive", "log_likelihood"}) {
      const std::string name = phase.prefix + group + "/draw";
      if (!samples_.has_array(name)) continue;
      for (std::uint64_t k = first; k < last; ++k)
        write_file(samples_.root() / name / std::to_string(k),
                   pack(bytes_of_numbers(zarr_type("<i8"), counted(k * phase.chunk, phase.chunk))), false);
      samples_.lengthen(name, 0, draws);
    }
  }
  samples_.consolidate();
}

template <class Real>
void Store<Real>::acknowledge() {
  {
    std::unique_lock lock(mutex_);
    wait_until_written(lock, 0);
  }
  for (Phase& phase : phases_)
    for (Chunk& chunk : phase.open)
      if (chunk.filled) write(chunk);
  commit();
}

template <class Real>
void Store<Real>::finish() {
  {
    std::unique_lock lock(mutex_);
    wait_until_written(lock, 0);
  }
  // A run that failed before it had made all its earlier draws again does not know their moments.
  bool whole = true;
  for (std::size_t w = 0; w < totals_.size(); ++w) whole &= totals_[w].draws >= phases_[0].before[w];
  if (whole) add_moments();
  acknowledge();
}

template class Store<float>;
template class Store<double>;

}  // namespace kelvin
