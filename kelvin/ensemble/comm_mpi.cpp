// SPDX-License-Identifier: Apache-2.0
// The only source that knows MPI; without KELVIN_MPI it knows one process.
#include <algorithm>
#include <cstdlib>

#include "kelvin/ensemble/comm.h"

#if KELVIN_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace kelvin {

#if KELVIN_MPI
namespace {

constexpr std::size_t most_at_once = std::size_t(1) << 30;  // MPI counts in int

class MpiComm : public Comm {
 public:
  explicit MpiComm(MPI_Comm comm) : comm_(comm) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    rank_ = std::size_t(rank);
    size_ = std::size_t(size);
  }
  ~MpiComm() override {
    if (comm_ != MPI_COMM_WORLD) MPI_Comm_free(&comm_);
  }
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }

  std::vector<std::string> everyone(const std::string& mine) override {
    const auto sizes = sizes_of(mine);
    std::vector<std::string> all(size_);
    all[rank_] = mine;
    for (std::size_t r = 0; r < size_; ++r) {
      all[r].resize(sizes[r]);
      in_pieces(sizes[r],
                [&](std::size_t at, int count) { MPI_Bcast(all[r].data() + at, count, MPI_CHAR, int(r), comm_); });
    }
    return all;
  }

  std::vector<std::string> gather(const std::string& mine) override {
    const auto sizes = sizes_of(mine);
    if (rank_ > 0) {
      in_pieces(mine.size(),
                [&](std::size_t at, int count) { MPI_Send(mine.data() + at, count, MPI_CHAR, 0, 0, comm_); });
      return {};
    }
    std::vector<std::string> all(size_);
    all[0] = mine;
    for (std::size_t r = 1; r < size_; ++r) {
      all[r].resize(sizes[r]);
      in_pieces(sizes[r], [&](std::size_t at, int count) {
        MPI_Recv(all[r].data() + at, count, MPI_CHAR, int(r), 0, comm_, MPI_STATUS_IGNORE);
      });
    }
    return all;
  }

  std::string from_first(const std::string& mine) override {
    unsigned long long size = mine.size();
    MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, comm_);
    std::string text = mine;
    text.resize(size);
    in_pieces(size, [&](std::size_t at, int count) { MPI_Bcast(text.data() + at, count, MPI_CHAR, 0, comm_); });
    return text;
  }

  std::unique_ptr<Comm> team(std::size_t number) override {
    MPI_Comm comm;
    MPI_Comm_split(comm_, int(number), int(rank_), &comm);
    return std::make_unique<MpiComm>(comm);
  }

  void end_all(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

 private:
  std::vector<unsigned long long> sizes_of(const std::string& mine) const {
    const unsigned long long size = mine.size();
    std::vector<unsigned long long> sizes(size_);
    MPI_Allgather(&size, 1, MPI_UNSIGNED_LONG_LONG, sizes.data(), 1, MPI_UNSIGNED_LONG_LONG, comm_);
    return sizes;
  }
  template <class Move>
  static void in_pieces(std::size_t size, Move&& move) {
    for (std::size_t at = 0; at < size; at += most_at_once) move(at, int(std::min(most_at_once, size - at)));
  }
  MPI_Comm comm_;
  std::size_t rank_ = 0, size_ = 1;
};

struct World final : MpiComm {
  World() : MpiComm(started()) {}
  ~World() override { MPI_Finalize(); }
  static MPI_Comm started() {
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
    return MPI_COMM_WORLD;
  }
};

}  // namespace

std::unique_ptr<Comm> connect_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name)) return std::make_unique<World>();
  return std::make_unique<Comm>();
}
#else
std::unique_ptr<Comm> connect_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* ranks = std::getenv(name); ranks && std::atol(ranks) > 1)
      throw Error(
          "started on {} ranks, but this kelvin was built without MPI; build it with cmake -DKELVIN_MPI=ON, or start "
          "it "
          "without mpirun",
          ranks);
  return std::make_unique<Comm>();
}
#endif

}  // namespace kelvin
