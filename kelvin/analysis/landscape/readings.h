// SPDX-License-Identifier: Apache-2.0
// U, losses, accuracies and norms of gradients of a run's network at many points. In double, whatever the precision of
// the run. To add a quantity of every split, add a row to `scores` in readings.cpp.
#pragma once
#include "kelvin/analysis/analysis.h"
#include "kelvin/analysis/stored_run.h"

namespace kelvin {

enum class View { potential, train, validation, test };  // potential: U, the training loss plus prior / N

struct Observable {
  std::string name, kind;  // "train_loss", "loss"; U is a loss too
  View view;
  double Score::*score;  // or null: U, or the norm of its gradient
  bool gradient_norm;
  bool is_loss() const { return !gradient_norm && (!score || score == &Score::loss); }
};
std::vector<Observable> quantities(const Problem<double>&);  // those that this problem has
Energy<double> energy_of(const Problem<double>&, View);
View view_named(const Problem<double>&, const std::string& split);  // train is U: the prior belongs to it

// A run whose energy is evaluated at many points, and how.
struct EvaluatedRun : StoredRun<double> {
  std::size_t threads = 1;
  Progress progress;
};
EvaluatedRun evaluated_run(const Subject&, const Progress&);

// Parameters from "start" or "start:walker" (where the run began) or a place that stored_block reads. Refuses numbers
// that are not finite.
std::vector<double> point_at(const EvaluatedRun&, const std::string& place);

class Readings {
 public:
  // `total` points are to come. Empty names: potential and, of every split, loss and accuracy or rmse.
  Readings(const EvaluatedRun&, const std::vector<std::string>& names, std::size_t total);
  ~Readings();
  const std::vector<Observable>& quantities() const { return chosen_; }
  std::vector<std::string> names() const;
  // Numbers of the quantities at point k = 0 ... count - 1, which place(k, q) writes into q; the same for any number
  // of threads.
  using Place = std::function<void(std::size_t k, std::span<double> q)>;
  std::vector<std::vector<double>> at(std::size_t count, const Place& place);

 private:
  class Evaluator;
  const EvaluatedRun& run_;
  std::vector<Observable> chosen_;
  std::vector<std::unique_ptr<Evaluator>> evaluators_;  // one for each thread
  std::size_t done_ = 0, total_;
};

// The least loss on some rows that a network reaches which gives the same outputs for every row.
double chance_loss(const Problem<double>&, View);

}  // namespace kelvin
