// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/landscape/readings.h"

#include <array>
#include <charconv>
#include <cmath>

#include "kelvin/core/parallel.h"
#include "kelvin/energy/loss.h"

namespace kelvin {
namespace {

constexpr const char* split_names[] = {"train", "validation", "test"};

struct ScoreRow {
  const char* name;
  double Score::*score;
  bool of_classes, of_numbers;
};
constexpr ScoreRow scores[] = {{"loss", &Score::loss, true, true},
                               {"accuracy", &Score::accuracy, true, false},
                               {"rmse", &Score::rmse, false, true},
                               {"gradient_norm", nullptr, true, true}};

PlacedLikelihood<double>* network_of(const Problem<double>& problem, View view) {
  return view == View::train        ? problem.train.get()
         : view == View::validation ? problem.validation.get()
         : view == View::test       ? problem.test.get()
                                    : nullptr;
}

double norm_of(std::span<const double> g) {
  double square = 0;
  for (const double x : g) square += x * x;
  return std::sqrt(square);
}

}  // namespace

Energy<double> energy_of(const Problem<double>& problem, View view) {
  if (view == View::potential) return *problem.energy;
  Energy<double> out(network_of(problem, view)->likelihood().copy());
  out.arrange(problem.recipe.blocks);
  return out;
}

View view_named(const Problem<double>& problem, const std::string& split) {
  const auto at = std::find(std::begin(split_names), std::end(split_names), split);
  if (at == std::end(split_names)) throw Error("--split must be train, validation or test, not \"{}\"", split);
  if (at == std::begin(split_names)) return View::potential;
  const View view = View(1 + (at - std::begin(split_names)));
  if (!network_of(problem, view)) {
    if (!problem.train) throw Error("a toy has no {} rows; leave --split out", split);
    throw Error("there are no {} rows; give data.{} or data.{}_file, for example with --set", split, split, split);
  }
  return view;
}

std::vector<Observable> quantities(const Problem<double>& problem) {
  std::vector<Observable> all = {{"potential", scores[0].name, View::potential, nullptr, false},
                                 {"gradient_norm", "gradient_norm", View::potential, nullptr, true}};
  for (std::size_t s = 0; s < std::size(split_names); ++s) {
    const View view = View(1 + s);
    if (!network_of(problem, view)) continue;
    const bool classes = loss_named(problem.settings.model.loss).wants_classes();
    for (const ScoreRow& m : scores)
      if (classes ? m.of_classes : m.of_numbers)
        all.push_back({fmt::format("{}_{}", split_names[s], m.name), m.name, view, m.score, m.score == nullptr});
  }
  return all;
}

EvaluatedRun evaluated_run(const Subject& subject, const Progress& progress) {
  return {stored_run<double>(subject.run(), subject.settings, subject.remark), subject.threads, progress};
}

std::vector<double> point_at(const EvaluatedRun& run, const std::string& place) {
  std::vector<double> q(run.problem.recipe.size);
  if (place == "start" || place.starts_with("start:")) {
    std::size_t walker = 0;
    const char *first = place.data() + std::min<std::size_t>(6, place.size()), *last = place.data() + place.size();
    const bool fine = place == "start" || (std::from_chars(first, last, walker).ptr == last && first != last);
    if (!fine || walker >= std::max<std::size_t>(1, run.samples.walkers))
      throw Error("\"{}\": the run has {} walkers; write start:0 to start:{}", place, run.samples.walkers,
                  run.samples.walkers - 1);
    q = run.start(walker);
  } else {
    for (const Block& b : run.problem.recipe.blocks) {
      const auto values = stored_block(place, b);
      std::copy(values.begin(), values.end(), q.begin() + long(b.offset));
    }
  }
  for (const Block& b : run.problem.recipe.blocks)
    for (std::size_t i = b.offset; i < b.offset + b.size(); ++i)
      if (!std::isfinite(q[i]))
        throw Error("\"{}\": block \"{}\" holds {}; choose a point before the run blew up", place, b.name, q[i]);
  return q;
}

// One thread's potential and networks.
class Readings::Evaluator {
 public:
  Evaluator(const Problem<double>& problem, const std::vector<Observable>& chosen)
      : chosen_(chosen), g_(problem.recipe.size), q_(problem.recipe.size) {
    for (const Observable& c : chosen) {
      Evaluated& one = evaluated_[std::size_t(c.view)];
      one.scored |= c.score != nullptr;
      one.evaluated |= c.score == nullptr;
      one.sloped |= c.gradient_norm;
      if (one.energy) continue;
      one.energy.emplace(energy_of(problem, c.view));
      if (const auto* network = network_of(problem, c.view)) one.network.emplace(*network);
    }
    none_.assign(problem.recipe.blocks.size(), 0);
  }

  std::span<double> q() { return q_; }
  std::vector<double> read() {
    const std::span<const char> all_blocks;
    for (Evaluated& one : evaluated_) {
      if (one.evaluated)
        one.U = (*one.energy)(q_, {.wanted = one.sloped ? all_blocks : std::span<const char>(none_)}, g_);
      if (one.sloped) one.norm = norm_of(g_);
      if (one.scored) one.score = one.network->score(q_, {});
    }
    std::vector<double> numbers;
    for (const Observable& c : chosen_) {
      const Evaluated& one = evaluated_[std::size_t(c.view)];
      numbers.push_back(c.score ? one.score.*c.score : c.gradient_norm ? one.norm : one.U);
    }
    return numbers;
  }

 private:
  struct Evaluated {
    std::optional<Energy<double>> energy;
    std::optional<PlacedLikelihood<double>> network;
    bool scored = false, evaluated = false, sloped = false;
    double U = 0, norm = 0;
    Score score;
  };
  const std::vector<Observable>& chosen_;
  std::array<Evaluated, 4> evaluated_;
  std::vector<double> g_, q_;
  std::vector<char> none_;  // of the blocks is wanted
};

Readings::Readings(const EvaluatedRun& run, const std::vector<std::string>& names, std::size_t total)
    : run_(run), total_(total) {
  const auto all = kelvin::quantities(run.problem);
  for (const std::string& name : names) chosen_.push_back(row_named<Observable>(name, all, "quantity", "--of"));
  if (names.empty())
    for (const Observable& q : all)
      if (!q.gradient_norm) chosen_.push_back(q);
  for (std::size_t t = 0; t < std::max<std::size_t>(1, std::min(run.threads, total)); ++t)
    evaluators_.push_back(std::make_unique<Evaluator>(run.problem, chosen_));
}

Readings::~Readings() = default;

std::vector<std::string> Readings::names() const {
  std::vector<std::string> out;
  for (const Observable& q : chosen_) out.push_back(q.name);
  return out;
}

std::vector<std::vector<double>> Readings::at(std::size_t count, const Place& place) {
  std::vector<std::vector<double>> rows(count);
  std::mutex telling;
  const std::size_t threads = evaluators_.size();
  parallel(threads, threads, [&](std::size_t t) {
    Evaluator& evaluator = *evaluators_[t];
    for (std::size_t k = t; k < count; k += threads) {
      place(k, evaluator.q());
      rows[k] = evaluator.read();
      const std::lock_guard lock(telling);
      ++done_;
      if (run_.progress) run_.progress(double(done_), double(total_), "points");
    }
  });
  return rows;
}

double chance_loss(const Problem<double>& problem, View view) {
  const auto& blocks = problem.recipe.blocks;
  // With no weights the outputs are the same for every row; what is left to choose is in the vectors: biases and
  // scales.
  std::vector<char> wanted;
  for (const Block& b : blocks) wanted.push_back(!b.is_matrix());
  Energy<double> loss = energy_of(problem, view);
  std::vector<std::uint32_t> rows;
  constexpr std::size_t enough = 2000;  // rows to find the best outputs with; the loss is then that of all
  const std::size_t stride = (loss.rows() + enough - 1) / enough;
  for (std::size_t r = 0; r < loss.rows(); r += stride) rows.push_back(std::uint32_t(r));
  std::vector<double> q(problem.recipe.size), next = q, g(q.size()), next_g(q.size());
  double value = loss(q, {.rows = rows, .wanted = wanted}, g), step = 1;
  for (int k = 0; k < 200; ++k) {
    for (std::size_t b = 0; b < blocks.size(); ++b)
      for (std::size_t i = blocks[b].offset; wanted[b] && i < blocks[b].offset + blocks[b].size(); ++i)
        next[i] = q[i] - step * g[i];
    const double there = loss(next, {.rows = rows, .wanted = wanted}, next_g);
    const bool lower = there < value;
    step *= lower ? 1.5 : 0.5;
    if (!lower) continue;
    value = there;
    q = next;
    g = next_g;
  }
  return network_of(problem, view)->score(q, {}).loss;
}

}  // namespace kelvin
