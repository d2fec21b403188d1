// SPDX-License-Identifier: Apache-2.0
// Predictions of a run for some rows of data: probabilities, never outputs or parameters, are averaged over the draws.
#pragma once
#include "kelvin/analysis/predictive/calibration.h"
#include "kelvin/analysis/stored_run.h"
#include "kelvin/energy/likelihood.h"

namespace kelvin {

// N T while draws were kept (1 is Bayes, docs/units.md), of the parts that were sampled; nan when they, or the times,
// differ.
template <class Real>
double posterior_temperature(const Problem<Real>&);

// How targets scatter about the outputs of a network, by the loss and the temperature of its run.
struct Scatter {
  const NoiseLaw* law = nullptr;  // null: the run says nothing of it
  std::vector<double> scales;     // one per target, in its units; empty: the draws say it
  std::string words;              // which it was
};

template <class Real>
Scatter scatter_of(const Problem<Real>&);

// What draws of a run say of the targets of rows.
template <class Real>
class RowNoise {
 public:
  explicit RowNoise(const Problem<Real>&);
  const Scatter& scatter() const { return scatter_; }
  std::size_t targets() const { return targets_; }  // of a row
  void take(std::span<const Real> q) { noise_.read(q, scales_); }
  // Of each target, in its units, by the draw that was taken; `outputs` of the row are as the network gives them.
  void read(std::span<const Real> outputs, std::span<NoiseAt> to);

 private:
  const Loss* loss_;
  Scatter scatter_;
  Units units_;
  std::size_t targets_;
  NoiseOfDraws noise_;
  std::vector<Scale> scales_;
  std::vector<double> row_;
};

struct PredictOptions {
  std::size_t every = 1, threads = 1;
  std::vector<double> levels;                       // of the quantiles
  std::function<void(double)> progress;             // called with the share that is done; may be empty
  std::size_t most_numbers = std::size_t(1) << 24;  // kept at once where all draws of a row are needed
};

struct Predictive {
  bool classes = false;
  std::vector<std::string> names;   // of the classes, or of the targets
  std::size_t rows = 0, draws = 0;  // rows: or steps of them, one row after another, where each has a target
  std::vector<double> mean;         // rows x names: probabilities, or means in units of the targets
  // total = aleatoric (noise) + epistemic (disagreement of the draws). Classes: entropy of the mean probabilities, mean
  // entropy, mutual information, in nats, one a row. Numbers: variances, rows x names.
  std::vector<double> total, aleatoric, epistemic;
  std::vector<double> quantiles;  // numbers: rows x names x levels

  std::vector<double> targets;       // class numbers, or numbers in their own units; empty: there are none
  std::vector<Metric> metrics;       // of the average over draws,
  std::vector<Metric> last_metrics;  // and of the last draw alone; the same ones
  std::vector<double> confidence;    // classes: as in ClassScores
  std::vector<char> right;
  std::vector<double> below;  // numbers, when there is a law of the noise: as in Regressed
};

// Refuses toys, and runs without draws.
template <class Real>
void check_predicts(const StoredRun<Real>&);

// Rows need no targets. The result does not depend on the number of threads.
template <class Real>
Predictive predict(const StoredRun<Real>&, const Dataset& rows, const PredictOptions&);

}  // namespace kelvin
