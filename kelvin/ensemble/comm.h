// SPDX-License-Identifier: Apache-2.0
// MPI ranks: processes, perhaps on many machines, that share one run. All their communication goes through this class;
// every call must be made by all ranks, in the same order.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kelvin/core/error.h"

namespace kelvin {

// One process, talking to itself.
class Comm {
 public:
  virtual ~Comm() = default;
  virtual std::size_t rank() const { return 0; }
  virtual std::size_t size() const { return 1; }
  virtual std::vector<std::string> everyone(const std::string& mine) { return {mine}; }  // what each rank gave
  virtual std::vector<std::string> gather(const std::string& mine) { return {mine}; }    // the same, at rank 0 only
  virtual std::string from_first(const std::string& mine) { return mine; }               // what rank 0 gave
  virtual std::unique_ptr<Comm> team(std::size_t) { return std::make_unique<Comm>(); }   // ranks that gave this number
  virtual void end_all(int) {}  // of all ranks, now, whatever they are doing

  bool first() const { return rank() == 0; }
  std::vector<std::uint64_t> least(const std::vector<std::uint64_t>& mine);  // of each number over the ranks
  std::vector<double> most(const std::vector<double>& mine);

  // Does some work that may fail on one rank only: then all of them throw the same, an AgreedError.
  template <class Work>
  void together(Work&& work);
};

// All ranks know of it, so each can end by itself.
struct AgreedError : Error {
  explicit AgreedError(const std::string& text) : Error("{}", text) {}
};

// All ranks of this run: those that mpirun started, if the program can talk to them, else this process alone. Once.
std::unique_ptr<Comm> connect_ranks();

template <class Work>
void Comm::together(Work&& work) {
  if (size() == 1) return work();
  std::string failure;
  try {
    work();
  } catch (const std::exception& e) {
    failure = sentence_of(e);
  }
  for (const std::string& text : everyone(failure))
    if (!text.empty()) throw AgreedError(text);
}

}  // namespace kelvin
