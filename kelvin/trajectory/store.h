// SPDX-License-Identifier: Apache-2.0
// Writing a run directory (docs/runs.md): draws go to samples.zarr, laid out as ArviZ InferenceData, in chunks that a
// thread of its own packs and writes; a chunk counts once manifest.json names it. Memory does not grow with the run.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "kelvin/trajectory/checkpoint.h"
#include "kelvin/trajectory/chunk_sums.h"
#include "kelvin/trajectory/manifest.h"
#include "kelvin/trajectory/stored_arrays.h"
#include "kelvin/trajectory/zarr_tree.h"

namespace kelvin {

// What a store begins with.
struct StoreOrigin {
  Value attributes;                       // of samples.zarr
  std::function<double()> seconds;        // tells the time since the run began
  std::uint32_t identity = 0;             // identity_of the run's record
  std::vector<WalkerTotals> totals = {};  // what a checkpoint says were given before; empty for a new run
  FileSum log = {};                       // of the log's lines that are kept
};

template <class Real>
class Store {
 public:
  Store(const std::filesystem::path& run, const Problem<Real>&, std::uint64_t planned_draws, StoreOrigin);
  ~Store();
  void keep(const Draw<Real>&);   // a Sink: walkers may call at the same time
  void acknowledge();             // all that was kept is on the disk, and named in the manifest, when it returns
  void finish();                  // the same, and the running moments
  void log_grew(const FileSum&);  // the next manifest names its lines until now
  const std::vector<WalkerTotals>& totals() const { return totals_; }

 private:
  using Array = StoredArray<Real>;
  struct Chunk {
    std::size_t phase = 0, walker = 0, number = 0, filled = 0;
    std::vector<std::string> bytes;  // of each array
  };
  // Warm-up and sampling are stored alike, in groups of their own.
  struct Phase {
    std::string prefix;
    std::size_t chunk = 1;
    std::vector<Array> arrays;
    std::vector<std::uint32_t> numbers;       // of the arrays, among those of the manifest
    std::vector<std::uint64_t> before;        // draws of each walker that were there when the store was opened
    std::vector<Chunk> open;                  // of each walker
    std::vector<std::uint64_t> written;       // draws of each walker in files, named or not yet
    std::vector<std::uint64_t> acknowledged;  // those that the manifest names
    std::uint64_t coordinates = 0;            // chunks of the coordinate `draw` that are written
    std::uint64_t visible() const;
    std::uint64_t shown = ~std::uint64_t(0);  // draws that the metadata tell of
  };

  void add_arrays(Phase&, const Problem<Real>&, std::uint64_t planned);
  void go_on_from(const Manifest& earlier);
  void forget_moments();
  void write_groups(const Problem<Real>&);
  void add_moments();
  void open_again(Phase&, std::size_t phase);
  std::span<const Real> stored(const Draw<Real>&);
  Chunk fresh_chunk(std::size_t phase, std::size_t walker, std::size_t number);
  void read_back(Chunk&);
  void write(Chunk&);
  void commit();
  FileSum log_now();
  void tell_of_draws(const FileSum& log);  // in the manifest
  void show_draws();                       // to readers, in the shapes of the arrays
  void write_queued(std::stop_token);
  void wait_until_written(std::unique_lock<std::mutex>&, std::size_t most_queued);

  std::filesystem::path run_;
  ZarrTree samples_;
  Recipe recipe_;
  std::vector<Block> stored_;  // its blocks but those of slack, one after another
  std::size_t stored_size_ = 0;
  std::vector<std::vector<Real>> gathered_;  // their numbers, of each walker; empty if there is no slack
  Value attributes_;
  std::function<double()> seconds_;
  std::vector<WalkerTotals> totals_;
  Manifest manifest_;
  ChunkSums before_;                           // of chunks that were there when the store was opened
  std::unique_ptr<ChunkSumsFile> chunk_sums_;  // used as pending_ is
  std::map<std::string, FileSum> given_;       // files that others wrote
  std::vector<Phase> phases_;                  // sampling, then warm-up if it is kept
  PendingFiles pending_;                       // of whoever writes: the thread, or a caller who has waited for it
  std::size_t pending_bytes_ = 0;

  std::mutex mutex_;  // guards what follows
  FileSum log_;
  std::condition_variable_any queued_, written_;
  std::deque<Chunk> queue_;
  std::vector<Chunk> spare_;
  std::size_t writing_ = 0;
  std::exception_ptr failure_;
  std::jthread writer_;
};

}  // namespace kelvin
