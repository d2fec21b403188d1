// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/store.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kelvin/core/entry.h"
#include "kelvin/function/block.h"
#include "kelvin/trajectory/draw_statistics.h"

namespace kelvin {
namespace {

namespace fs = std::filesystem;

// Of packed chunks that wait to be named together: the disk is waited for a few times a commit.
constexpr std::size_t bytes_of_a_commit = std::size_t(1) << 25;

template <class Real>
void put_numbers(const ZarrType& type, std::span<const Real> from, char* to) {
  constexpr std::string_view own = sizeof(Real) == 4 ? "<f4" : "<f8";
  if (type.name == own) std::memcpy(to, from.data(), from.size_bytes());
  else
    for (const Real x : from) type.put(double(x), to), to += type.width;
}

std::vector<double> counted(std::size_t from, std::size_t count) {
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = double(from + i);
  return numbers;
}

// The rows that are predicted for.
template <class Real>
const Dataset& predicted(const Problem<Real>& problem) {
  return problem.test ? problem.data.test : problem.data.train;
}

std::vector<std::string> dimensions_of(const Block& block) {
  constexpr const char* names[Shape::most] = {"row", "column", "height", "width", "depth"};  // those of a kernel
  std::vector<std::string> dimensions;
  for (std::size_t k = 0; k < block.shape.rank(); ++k) dimensions.push_back(fmt::format("{}_{}", block.name, names[k]));
  return dimensions;
}

}  // namespace

template <class Real>
std::uint64_t Store<Real>::Phase::visible() const {
  return *std::min_element(acknowledged.begin(), acknowledged.end());  // what every walker has
}

template <class Real>
Store<Real>::Store(const fs::path& run, const Problem<Real>& problem, std::uint64_t planned, Value attributes,
                   std::function<double()> seconds, std::vector<WalkerTotals> totals)
    : run_(run),
      samples_(run / "samples.zarr"),
      recipe_(problem.recipe),
      rows_(problem.rows()),
      attributes_(std::move(attributes)),
      seconds_(std::move(seconds)),
      totals_(std::move(totals)) {
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
  phases_.resize(problem.settings.store.keep_warmup ? 2 : 1);
  for (std::size_t k = 0; k < phases_.size(); ++k) {
    phases_[k].prefix = k == 0 ? "" : "warmup_";
    phases_[k].acknowledged.assign(walkers, 0);
    add_arrays(phases_[k], problem, planned);
    for (const Array& array : phases_[k].arrays)
      manifest_.arrays[array.group + "/" + array.name] = zarr_fingerprint(zarr_about(array.shape).array);
  }
  const bool again = fs::exists(run / "manifest.json");
  if (again) {
    const Manifest earlier = read_manifest(run);
    if (earlier.arrays != manifest_.arrays || earlier.draws.size() != walkers)
      throw Error("\"{}\" has other arrays than this version of kelvin writes; it can be read, but not resumed",
                  samples_.root().string());
    phases_[0].acknowledged = earlier.draws;
    if (phases_.size() > 1) phases_[1].acknowledged = earlier.warmup_draws;
  }
  for (Phase& phase : phases_) phase.written = phase.acknowledged;
  write_groups(problem);
  for (std::size_t k = 0; k < phases_.size(); ++k) open_again(phases_[k], k);
  tell_of_draws();
  if (!again) write_file(run_ / "manifest.json", manifest_bytes(manifest_), false);  // durable with the first draws
  show_draws();
  writer_ = std::jthread([this](std::stop_token stop) { write_queued(stop); });
}

template <class Real>
Store<Real>::~Store() {
  writer_.request_stop();
}

// ---- what is stored

template <class Real>
void Store<Real>::add_arrays(Phase& phase, const Problem<Real>& problem, std::uint64_t planned) {
  const std::size_t walkers = totals_.size();
  const auto& way = row_named(problem.settings.store.weights, stored_weights(), "way to store weights");
  const std::string_view name = sizeof(Real) == 4 ? way.from_float : way.from_double;
  if (!name.empty())
    for (const Block& block : recipe_.blocks) {
      if (block.slack()) continue;
      const ZarrType& type = zarr_type(name);
      phase.arrays.push_back({phase.prefix + "posterior",
                              block.name,
                              {walkers, 0, 1, block.shape.list(), dimensions_of(block), &type},
                              [&type, at = block.offset, size = block.size()](const Draw<Real>& draw, char* to) {
                                put_numbers(type, draw.q.subspan(at, size), to);
                              }});
    }
  for (const DrawStatistic& s : draw_statistics()) {
    if (!s.kept(recipe_) || !s.asked_for(problem.settings)) continue;
    ZarrShape shape{walkers, 0, 1, {}, {}, &zarr_type(s.type)};
    if (s.per_part) shape.each.push_back(recipe_.told_parts()), shape.dimensions.push_back("part");
    phase.arrays.push_back({phase.prefix + "sample_stats", s.name, shape,
                            [this, &s, type = shape.type, count = shape.size()](const Draw<Real>& draw, char* to) {
                              for (std::size_t k = 0; k < count; ++k)
                                type->put(s.value(draw.reading, k, rows_, seconds_), to + k * type->width);
                            }});
  }
  if (phase.prefix.empty()) add_predictions(phase, problem);
  std::size_t bytes = 0;
  for (const Array& array : phase.arrays) bytes += array.shape.bytes();
  // Bytes a walker gathers before they are written: many, so that waiting for the disk is rare, but few enough to stay
  // in the cache, and fewer for each of many walkers.
  const std::size_t buffered = std::clamp<std::size_t>((std::size_t(1) << 26) / walkers, 1 << 20, 1 << 22);
  phase.chunk = std::clamp<std::size_t>(buffered / bytes, 1, std::max<std::uint64_t>(1, planned));
  for (Array& array : phase.arrays) array.shape.chunk = phase.chunk;
}

template <class Real>
void Store<Real>::add_predictions(Phase& phase, const Problem<Real>& problem) {
  const StoreSettings& store = problem.settings.store;
  if (!store.predictions && !store.log_likelihood) return;
  PlacedLikelihood<Real>& network = problem.test ? *problem.test : *problem.train;
  auto networks = std::make_shared<std::vector<PlacedLikelihood<Real>>>();
  for (std::size_t w = 0; w < totals_.size(); ++w) networks->push_back(network);
  const auto of = [networks](std::size_t walker) -> PlacedLikelihood<Real>& { return (*networks)[walker]; };
  const std::size_t rows = network.rows(), outputs = network.outputs();
  const Dataset& data = predicted(problem);
  if (store.predictions) {
    const ZarrType& type = zarr_type(sizeof(Real) == 4 ? "<f4" : "<f8");
    const Units units = data.has_classes() ? Units() : data.target_units;
    const Loss& loss = loss_named(problem.settings.model.loss);
    auto values = std::make_shared<std::vector<std::vector<Real>>>(totals_.size(), std::vector<Real>(rows * outputs));
    phase.arrays.push_back({"posterior_predictive",
                            "y",
                            {totals_.size(), 0, 1, {rows, outputs}, {"row", "output"}, &type},
                            [=, &type, &loss](const Draw<Real>& draw, char* to) {
                              auto& out = (*values)[draw.walker];
                              of(draw.walker).predict(draw.q, {}, out);
                              std::vector<double> row(outputs);
                              for (std::size_t i = 0; i < out.size(); i += outputs) {
                                for (std::size_t k = 0; k < outputs; ++k) row[k] = double(out[i + k]);
                                to_original(loss, units, row);
                                for (std::size_t k = 0; k < outputs; ++k) type.put(row[k], to + (i + k) * type.width);
                              }
                            }});
  }
  if (store.log_likelihood)
    phase.arrays.push_back({"log_likelihood",
                            "y",
                            {totals_.size(), 0, 1, {rows}, {"row"}, &zarr_type("<f8")},
                            [=, steps = double(network.likelihood().steps())](const Draw<Real>& draw, char* to) {
                              for (std::uint32_t row = 0; row < rows; ++row, to += sizeof(double)) {
                                const double loss = steps * of(draw.walker).score(draw.q, Batch(&row, 1)).loss;
                                std::memcpy(to, std::array{-loss}.data(), sizeof loss);
                              }
                            }});
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
    for (const Array& array : phase.arrays) samples_.describe(array.group + "/" + array.name, zarr_about(array.shape));
    for (const char* name : {"posterior", "sample_stats", "posterior_predictive", "log_likelihood"})
      if (const std::string in = phase.prefix + name; samples_.has_group(in)) {
        samples_.write_numbers(in + "/chain", "<i8", {chains.size()}, {"chain"}, chains);
        samples_.describe(in + "/draw", zarr_about("<i8", {0}, {phase.chunk}, {"draw"}));
      }
  }
  group("moments");
  if (!problem.train) return;
  const Dataset& data = predicted(problem);
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
      pending_.add(zarr_chunk(samples_.root() / "moments" / name, shape.size(), w, 0),
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
  return chunk;
}

// The chunk that a walker was filling is read back as far as the checkpoint knows of it.
template <class Real>
void Store<Real>::open_again(Phase& phase, std::size_t index) {
  for (std::size_t w = 0; w < totals_.size(); ++w) {
    const std::uint64_t draws = index == 0 ? totals_[w].draws : totals_[w].warmup_draws;
    if (draws > phase.acknowledged[w])
      throw Error("\"{}\" names {} draws of walker {} where the checkpoint has {}; it is damaged",
                  (run_ / "manifest.json").string(), phase.acknowledged[w], w, draws);
    phase.open.push_back(fresh_chunk(index, w, draws / phase.chunk));
    Chunk& chunk = phase.open.back();
    chunk.filled = draws % phase.chunk;
    for (std::size_t k = 0; chunk.filled && k < phase.arrays.size(); ++k) {
      const Array& array = phase.arrays[k];
      const std::string bytes =
          read_zarr_chunk(samples_.root() / array.group / array.name, array.shape, w, chunk.number);
      std::memcpy(chunk.bytes[k].data(), bytes.data(), chunk.filled * array.shape.bytes());
    }
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
    const auto& [group, name, shape, put] = phase.arrays[k];
    const ZarrType& type = *shape.type;
    std::string& bytes = chunk.bytes[k];
    for (std::size_t at = chunk.filled * shape.bytes(); at < bytes.size(); at += type.width)
      type.put(type.padded_by_nan ? NAN : 0, bytes.data() + at);
    const std::string_view packed = pack(bytes);
    pending_.add(zarr_chunk(samples_.root() / group / name, 2 + shape.each.size(), chunk.walker, chunk.number), packed);
    pending_bytes_ += packed.size();
  }
  phase.written[chunk.walker] = draws;
}

// What was written goes to the disk, then the manifest that names its draws, then the shapes that readers see.
template <class Real>
void Store<Real>::commit() {
  constexpr double seconds_worth_telling = 1;
  if (pending_.empty() && seconds_() < manifest_.seconds + seconds_worth_telling) return;
  pending_.publish();
  pending_bytes_ = 0;
  for (Phase& phase : phases_) phase.acknowledged = phase.written;
  tell_of_draws();
  pending_.add(run_ / "manifest.json", manifest_bytes(manifest_));
  pending_.settle();
  show_draws();
}

template <class Real>
void Store<Real>::tell_of_draws() {
  manifest_.draws = phases_[0].acknowledged;
  manifest_.warmup_draws = phases_.size() > 1 ? phases_[1].acknowledged : std::vector<std::uint64_t>(totals_.size(), 0);
  manifest_.seconds = seconds_();
}

template <class Real>
void Store<Real>::show_draws() {
  for (Phase& phase : phases_) {
    const std::uint64_t draws = phase.visible();
    if (draws == phase.shown) continue;
    phase.shown = draws;
    for (const Array& array : phase.arrays) samples_.lengthen(array.group + "/" + array.name, 1, draws);
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
  add_moments();
  acknowledge();
}

template class Store<float>;
template class Store<double>;

}  // namespace kelvin
