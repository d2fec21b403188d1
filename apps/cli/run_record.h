// SPDX-License-Identifier: Apache-2.0
// What a run tells of itself: lines of its log, the note beside its bar, and run.json.
#pragma once
#include "kelvin/ensemble/exchange.h"
#include "kelvin/run/problem.h"
#include "kelvin/run/record.h"

namespace kelvin::cli {

// What a line of log.jsonl tells of one walker.
struct WalkerState {
  double energy = 0, acceptance = 1, pace = 1, friction = 1;
  std::vector<Score> scores;  // of the splits that there are
  std::vector<PartReading> parts;
  template <class Visit>
  void fields(Visit&& field) {
    field(energy), field(acceptance), field(pace), field(friction), field(scores), field(parts);
  }
};

// Of all walkers at the temperature that was asked for, on every rank; each looks at its own.
template <class Real>
std::vector<WalkerState> walker_states(const Problem<Real>&, std::span<Chain<Real>> mine, Comm&);

// One line of log.jsonl: means over the walkers.
template <class Real>
LogLine state_of(const Problem<Real>&, std::uint64_t step, std::span<const WalkerState>);

ExchangeRecord record_of(const ExchangeState&);
std::string shown(std::string_view split, const ScoreRecord&);     // "train loss 0.1"
std::string note_of(const LogLine& line, const Reading& reading);  // what stands beside the bar

// What the warm-ups of all walkers have found, with the widths of their coordinates if they are few.
template <class Real>
std::vector<LearntRecord> all_learnt(std::span<Chain<Real>> mine, Comm&);

// What the biases of all walkers have learnt, if they are tempered.
template <class Real>
std::vector<std::vector<double>> all_biases(std::span<Chain<Real>> mine, Comm&);

// run.json: everything needed to know what was run.
template <class Real>
RunRecord record_of(const Problem<Real>&, const std::string& command);

}  // namespace kelvin::cli
