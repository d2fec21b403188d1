// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/class_map.h"

#include <charconv>
#include <cmath>

#include "kelvin/data/derived.h"
#include "kelvin/energy/loss.h"

namespace kelvin {
namespace {

// The points as inputs of the run's network: derived ones added, in stored units.
template <class Real>
Inputs<Real> inputs_at(const StoredRun<Real>& run, const PlanePoints& points) {
  const Problem<Real>& problem = run.problem;
  const Dataset& like = problem.data.train;
  Dataset rows;
  rows.rows = points.x.size();
  rows.input_names = {like.input_names[0], like.input_names[1]};
  std::vector<double>& x = rows.inputs.doubles();
  for (std::size_t i = 0; i < rows.rows; ++i) x.insert(x.end(), {points.x[i], points.y[i]});
  add_derived(rows, problem.settings.data.derived, "the grid");
  rows.inputs.standardise(like.input_units.mean, like.input_units.scale);
  return Inputs<Real>(rows.inputs, 0, rows.rows, rows.input_count());
}

// Sums over draws of one number a point (two classes) or one a class, and of the entropy.
template <class Real>
class Sums {
 public:
  Sums(const StoredRun<Real>& run, const PlanePoints& points)
      : loss_(loss_named(run.problem.settings.model.loss)),
        inputs_(inputs_at(run, points)),
        network_(run.problem.function()),
        rows_(points.x.size()) {
    outputs_ = network_.outputs();
    classes_ = run.problem.data.train.classes.size();
    width_ = classes_ == 2 ? 1 : classes_;
    raw_.resize(rows_ * outputs_);
    if (probabilities()) {
      values_.resize(rows_ * classes_);
      entropy.resize(rows_);
    }
    walkers.resize(run.samples.walkers);
  }
  bool probabilities() const { return loss_.template probabilities<Real>() != nullptr; }
  double threshold() const { return probabilities() ? 0.5 : outputs_ == 1 ? loss_.threshold : 0; }

  void add(std::size_t walker, std::span<const Real> q) {
    network_.predict(q, inputs_, raw_);
    auto& sum = walkers[walker];
    sum.resize(rows_ * width_);
    if (probabilities()) loss_.template probabilities<Real>()(rows_, outputs_, raw_.data(), values_.data());
    for (std::size_t i = 0; i < rows_; ++i) {
      const Real* row = probabilities() ? values_.data() + i * classes_ : raw_.data() + i * outputs_;
      if (width_ > 1)
        for (std::size_t k = 0; k < width_; ++k) sum[i * width_ + k] += double(row[k]);
      else if (probabilities()) sum[i] += double(row[1]);
      else sum[i] += outputs_ == 1 ? double(row[0]) : double(row[1]) - double(row[0]);
      if (probabilities())
        for (std::size_t k = 0; k < classes_; ++k) entropy[i] += of_entropy(double(row[k]));
    }
  }
  static double of_entropy(double p) { return p > 0 ? -p * std::log(p) : 0; }

  std::vector<std::vector<double>> walkers;
  std::vector<double> entropy;

 private:
  const Loss& loss_;
  Inputs<Real> inputs_;
  PlacedFunction<Real> network_;
  std::size_t rows_, outputs_ = 0, classes_ = 0, width_ = 1;
  std::vector<Real> raw_, values_;
};

// The one draw that is meant, or as many as there are for all of them.
std::size_t chosen_draw(const DrawChoice& choice, const Samples& samples) {
  if (choice.which == "mean") return samples.draws;
  if (choice.which == "last") return samples.draws - 1;
  std::size_t k = 0;
  const char *first = choice.which.data(), *last = first + choice.which.size();
  if (const auto [end, error] = std::from_chars(first, last, k);
      error != std::errc() || end != last || k >= samples.draws)
    throw Error("draws must be mean, last or the number of a draw, 0 to {}, not \"{}\"", samples.draws - 1,
                choice.which);
  return k;
}

}  // namespace

template <class Real>
void check_plane(const StoredRun<Real>& run) {
  const std::string name = run.samples.run.string();
  if (!run.problem.train)
    throw Error("\"{}\" samples the toy \"{}\", which classifies nothing; a boundary needs a network", name,
                run.problem.settings.model.toy.name);
  const Dataset& data = run.problem.data.train;
  if (const std::size_t inputs = data.input_count() - run.problem.settings.data.derived.size(); inputs != 2)
    throw Error("\"{}\" has {} inputs ({}{}); a boundary is drawn for two", name, inputs, data.input_names[0],
                inputs > 1 ? ", ..." : "");
  if (data.steps > 0)
    throw Error("the rows of \"{}\" have a target for each of {} steps; a boundary needs rows with one", name,
                data.steps);
  if (!data.has_classes())
    throw Error(
        "the targets of \"{}\" are numbers; a boundary needs classes: use a loss such as binary_cross_entropy, or "
        "data.targets_are = \"classes\"",
        name);
  if (run.samples.draws == 0) throw Error("\"{}\" has no draws; run it for at least `every` steps after warm-up", name);
}

template <class Real>
ClassMap class_map(const StoredRun<Real>& run, const PlanePoints& points, const DrawChoice& choice,
                   const std::function<void(double)>& progress) {
  check_plane(run);
  const Samples& samples = run.samples;
  const std::size_t one = chosen_draw(choice, samples);
  Sums<Real> sums(run, points);
  ClassMap out;
  out.classes = run.problem.data.train.classes;
  out.probabilities = sums.probabilities();
  out.threshold = sums.threshold();
  std::vector<double> count(samples.walkers, 0);
  const auto add = [&](std::size_t, std::size_t walker, std::span<const Real> q) {
    sums.add(walker, q);
    ++count[walker];
    ++out.draws;
  };
  if (one < samples.draws) {
    for (std::size_t w = 0; w < samples.walkers; ++w) add(one, w, run.point(one, w));
  } else {
    const std::size_t all = samples.draws * samples.walkers, every = std::max<std::size_t>(1, all / choice.most);
    const double planned = double(samples.walkers) * std::ceil(double(samples.draws) / double(every));
    run.each_point(every, [&](std::size_t draw, std::size_t walker, std::span<const Real> q) {
      add(draw, walker, q);
      progress(double(out.draws) / planned);
    });
  }
  for (std::size_t w = 0; w < samples.walkers; ++w) {
    auto& sum = sums.walkers[w];
    if (out.mean.empty()) out.mean.resize(sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      out.mean[i] += sum[i] / double(out.draws);
      sum[i] /= count[w];
      if (!std::isfinite(sum[i]))
        throw Error("the network of \"{}\" says {} at ({:g}, {:g}); its draws have run away", samples.run.string(),
                    sum[i], points.x[i % points.x.size()], points.y[i % points.x.size()]);
    }
  }
  if (out.probabilities && out.draws > 1) {
    const std::size_t width = out.two() ? 1 : out.classes.size();
    for (std::size_t i = 0; i < points.x.size(); ++i) {
      double total = 0;
      for (std::size_t k = 0; k < width; ++k) total += Sums<Real>::of_entropy(out.mean[i * width + k]);
      if (out.two()) total += Sums<Real>::of_entropy(1 - out.mean[i]);
      out.information.push_back(std::max(0.0, total - sums.entropy[i] / double(out.draws)));
    }
  }
  if (out.two()) out.walkers = std::move(sums.walkers);
  return out;
}

template void check_plane(const StoredRun<float>&);
template void check_plane(const StoredRun<double>&);
template ClassMap class_map(const StoredRun<float>&, const PlanePoints&, const DrawChoice&,
                            const std::function<void(double)>&);
template ClassMap class_map(const StoredRun<double>&, const PlanePoints&, const DrawChoice&,
                            const std::function<void(double)>&);

}  // namespace kelvin
