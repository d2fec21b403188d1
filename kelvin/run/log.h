// SPDX-License-Identifier: Apache-2.0
// What a run reports while it runs: lines of its log, and the results of its warm-up.
#pragma once
#include "kelvin/run/problem.h"
#include "kelvin/run/record.h"
#include "kelvin/run/rounds.h"

namespace kelvin {

// What a line of the log tells of one walker.
struct WalkerReading {
  double energy = 0, acceptance = 1, pace = 1, friction = 1;
  std::vector<Score> scores;  // of the splits that there are
  std::vector<PartReading> parts;
  template <class Visit>
  void fields(Visit&& field) {
    field(energy);
    field(acceptance);
    field(pace);
    field(friction);
    field(scores);
    field(parts);
  }
};

// Of all walkers that have the law asked for, on every rank; each looks at its own.
template <class Real>
std::vector<WalkerReading> walker_readings(const Problem<Real>&, const LocalWalkers<Real>&);

// Means over the walkers.
template <class Real>
LogLine log_line(const Problem<Real>&, std::uint64_t step, std::span<const WalkerReading>);

// What the warm-ups of all walkers have found, with the widths of their coordinates if they are few.
template <class Real>
std::vector<LearntRecord> all_learnt(const Recipe&, std::span<Chain<Real>> mine, Comm&);

// What the biases of all walkers have learnt, if they are tempered.
template <class Real>
std::vector<std::vector<double>> all_biases(std::span<Chain<Real>> mine, Comm&);

// What was run, as far as settings and data tell.
template <class Real>
RunRecord record_of(const Problem<Real>&);

}  // namespace kelvin
