// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/predictive.h"

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/predictive/mixture.h"
#include "kelvin/core/noise.h"
#include "kelvin/core/parallel.h"
#include "kelvin/energy/likelihood.h"
#include "kelvin/energy/loss.h"
#include "kelvin/function/block.h"

namespace kelvin {
namespace {

// ---- rows

// A few rows with a network of their own: what one thread does at a time.
template <class Real>
struct Piece {
  std::size_t first, rows;
  Inputs<Real> inputs;
  PlacedFunction<Real> network;
  std::vector<Real> outputs, probabilities;
};

template <class Real>
std::vector<Piece<Real>> pieces_of(const Problem<Real>& problem, const Dataset& data, std::size_t first,
                                   std::size_t count) {
  constexpr std::size_t rows_each = 512;
  std::vector<Piece<Real>> pieces;
  for (std::size_t at = first; at < first + count; at += rows_each) {
    const std::size_t rows = std::min(rows_each, first + count - at);
    PlacedFunction<Real> network = problem.function();
    const std::size_t width = network.outputs();
    pieces.push_back({at,
                      rows,
                      Inputs<Real>(data.inputs, at, rows, data.input_count()),
                      std::move(network),
                      std::vector<Real>(rows * width),
                      {}});
  }
  return pieces;
}

struct DrawAt {
  std::size_t number, draw, walker;  // number: how many have been before it
};

// Calls use(piece, draw, q) with the piece's outputs there, for all draws in turn and every piece, pieces in parallel.
template <class Real, class Use>
std::size_t for_each_draw(const StoredRun<Real>& run, std::vector<Piece<Real>>& pieces, const PredictOptions& options,
                          Use&& use) {
  constexpr std::size_t most_numbers = std::size_t(1) << 20, most_draws = 64;
  const std::size_t size = run.problem.recipe.size, walkers = run.samples.walkers;
  const std::size_t at_once = std::clamp<std::size_t>(most_numbers / size, 1, most_draws);
  const double all = double(walkers * ((run.samples.draws + options.every - 1) / options.every));
  std::vector<Real> points;
  std::vector<DrawAt> draws;
  std::size_t done = 0;
  const auto visit_gathered = [&] {
    parallel(pieces.size(), options.threads, [&](std::size_t p) {
      for (std::size_t d = 0; d < draws.size(); ++d) {
        const auto q = std::span<const Real>(points).subspan(d * size, size);
        pieces[p].network.predict(q, pieces[p].inputs, pieces[p].outputs);
        use(pieces[p], draws[d], q);
      }
    });
    if (options.progress) options.progress(double(done) / all);
    points.clear();
    draws.clear();
  };
  run.each_point(options.every, [&](std::size_t draw, std::size_t walker, std::span<const Real> q) {
    points.insert(points.end(), q.begin(), q.end());
    draws.push_back({done++, draw, walker});
    if (draws.size() == at_once) visit_gathered();
  });
  if (!draws.empty()) visit_gathered();
  return done;
}

[[noreturn]] void refuse(const DrawAt& at, std::size_t row) {
  throw Error(
      "draw {} of walker {} predicts no finite number for row {}; the run went astray: look at `kelvin summary`",
      at.draw, at.walker, row);
}

// ---- classes

template <class Real>
double entropy(const Real* p, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k)
    if (p[k] != 0) sum -= double(p[k]) * std::log(double(p[k]));
  return sum;
}

// Losses without probabilities: a draw gives all to the class it would choose.
template <class Real>
void vote(const Loss& loss, std::size_t width, const Real* output, Real* p) {
  const std::size_t classes = std::max<std::size_t>(2, width);
  std::fill_n(p, classes, Real(0));
  const std::size_t chosen = width == 1 ? std::size_t(*output > Real(loss.threshold))
                                        : std::size_t(std::max_element(output, output + width) - output);
  p[chosen] = std::isfinite(output[chosen % width]) ? Real(1) : Real(NAN);
}

// Probabilities of all rows are kept at once, of the average and of the last draw.
void check_fits(std::size_t rows, std::size_t classes) {
  constexpr std::size_t most_numbers = std::size_t(1) << 28;
  if (rows > most_numbers / classes)
    throw Error("the probabilities of {} classes at {} rows or steps do not fit into memory; predict fewer with --data",
                classes, rows);
}

template <class Real>
Predictive predict_classes(const StoredRun<Real>& run, const Dataset& data, const PredictOptions& options) {
  const Problem<Real>& problem = run.problem;
  const Loss& loss = loss_named(problem.settings.model.loss);
  const std::size_t steps = problem.train->likelihood().steps(), width = problem.train->outputs() / steps;
  const std::size_t classes = std::max<std::size_t>(2, width);
  Predictive out;
  out.classes = true;
  out.rows = data.rows * steps;
  check_fits(out.rows, classes);
  out.names = data.classes;
  if (out.names.empty()) out.names = {loss.targets == Targets::minus_plus ? "-1" : "0", "1"};
  out.mean.assign(out.rows * classes, 0.0);
  out.aleatoric.assign(out.rows, 0.0);
  std::vector<double> last(out.rows * classes);

  auto pieces = pieces_of(problem, data, 0, data.rows);
  for (auto& piece : pieces) piece.probabilities.resize(piece.rows * steps * classes);
  const auto probabilities = loss.probabilities<Real>();
  // mean += (new - mean) / n, so that equal draws have themselves as mean, to the last bit
  out.draws = for_each_draw(run, pieces, options, [&](Piece<Real>& piece, const DrawAt& at, std::span<const Real>) {
    Real* p = piece.probabilities.data();
    const std::size_t first = piece.first * steps, rows = piece.rows * steps;
    if (probabilities) probabilities(rows, width, piece.outputs.data(), p);
    else
      for (std::size_t i = 0; i < rows; ++i) vote(loss, width, piece.outputs.data() + i * width, p + i * classes);
    const double share = 1 / double(at.number + 1);
    double *mean = out.mean.data() + first * classes, *now = last.data() + first * classes;
    for (std::size_t i = 0; i < rows * classes; ++i) {
      mean[i] += share * (double(p[i]) - mean[i]);
      now[i] = double(p[i]);
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const double h = entropy(p + i * classes, classes);
      if (!std::isfinite(h)) refuse(at, piece.first + i / steps);
      out.aleatoric[first + i] += share * (h - out.aleatoric[first + i]);
    }
  });
  for (std::size_t i = 0; i < out.rows; ++i) {
    out.total.push_back(entropy(out.mean.data() + i * classes, classes));
    out.epistemic.push_back(std::max(0.0, out.total[i] - out.aleatoric[i]));
  }
  if (data.targets.empty()) return out;
  for (const double y : data.targets) out.targets.push_back(data.has_classes() ? y : double(y == 1));
  ClassScores scores = score_classes({classes, out.mean, out.targets, !probabilities});
  out.metrics = std::move(scores.metrics);
  out.confidence = std::move(scores.confidence);
  out.right = std::move(scores.right);
  out.last_metrics = score_classes({classes, last, out.targets, !probabilities}).metrics;
  return out;
}

// ---- numbers

// What all draws say of one row, one mixture for each target, with the row's targets if there are any.
struct RowLaw {
  std::size_t number;
  std::vector<Mixture> targets;
  const double* values;
};

// log of the joint density: the draws' products over the targets, averaged.
double log_density(const RowLaw& row) {
  const std::size_t draws = row.targets.front().at.size();
  std::vector<double> logs(draws, 0.0);
  for (std::size_t k = 0; k < row.targets.size(); ++k) {
    const Mixture& m = row.targets[k];
    for (std::size_t d = 0; d < draws; ++d) logs[d] += m.law->log_density(row.values[k], m.at[d]);
  }
  return log_mean_exp(logs);
}

struct RowScore {
  double surprise = 0, square = 0, ranked = 0;
  std::vector<double> below;
};

// The places of counts, whose distribution jumps, are evenly distributed if each is drawn within its jump (Czado,
// Gneiting and Held 2009). The same number for a row each time.
double place_in_jump(std::size_t row, std::size_t target) {
  static const std::uint64_t key = stream_key(0, "place in jump");
  return uniform({key, 0, row, 0}, target);
}

RowScore score(const RowLaw& row) {
  RowScore out;
  const double width = double(row.targets.size());
  for (std::size_t k = 0; k < row.targets.size(); ++k) {
    const Mixture& m = row.targets[k];
    const double error = row.values[k] - m.mean();
    out.square += error * error / width;
    out.ranked += m.ranked_score(row.values[k]) / width;
    if (m.law) out.below.push_back(m.place(row.values[k], place_in_jump(row.number, k)));
  }
  if (row.targets.front().law) out.surprise = -log_density(row);
  return out;
}

Regressed gathered(const std::vector<RowScore>& rows, bool noise) {
  Regressed out;
  for (const RowScore& r : rows) {
    if (noise) out.surprise.push_back(r.surprise);
    out.square.push_back(r.square);
    out.ranked.push_back(r.ranked);
    out.below.insert(out.below.end(), r.below.begin(), r.below.end());
  }
  return out;
}

template <class Real>
Predictive predict_numbers(const StoredRun<Real>& run, const Dataset& data, const PredictOptions& options) {
  const Problem<Real>& problem = run.problem;
  const RowNoise<Real> noise(problem);
  const NoiseLaw* law = noise.scatter().law;
  const std::size_t width = noise.targets(), outputs = problem.train->outputs(), levels = options.levels.size();
  const std::size_t draws = run.samples.walkers * ((run.samples.draws + options.every - 1) / options.every);
  Predictive out;
  out.names = data.target_names;
  out.rows = data.rows;
  out.draws = draws;
  for (auto* v : {&out.mean, &out.total, &out.aleatoric, &out.epistemic}) v->resize(data.rows * width);
  out.quantiles.resize(data.rows * width * levels);
  for (std::size_t i = 0; i < data.targets.size(); ++i)
    out.targets.push_back(data.target_units.original(i % width, data.targets[i]));

  std::vector<RowScore> scores(out.targets.empty() ? 0 : data.rows), last_scores(scores.size());
  constexpr std::size_t numbers_each = sizeof(NoiseAt) / sizeof(double);
  const std::size_t group =
      std::clamp<std::size_t>(options.most_numbers / (numbers_each * width * draws), 1, data.rows);
  std::vector<NoiseAt> said(group * width * draws);  // row by row, target by target
  PredictOptions of_group = options;
  for (std::size_t first = 0; first < data.rows; first += group) {
    const std::size_t count = std::min(group, data.rows - first);
    if (options.progress)
      of_group.progress = [&](double share) {
        options.progress((double(first) + double(count) * share) / double(data.rows));
      };
    auto pieces = pieces_of(problem, data, first, count);
    for_each_draw(run, pieces, of_group, [&](Piece<Real>& piece, const DrawAt& at, std::span<const Real> q) {
      RowNoise<Real> mine = noise;
      mine.take(q);
      std::vector<NoiseAt> row(width);
      for (std::size_t i = 0; i < piece.rows; ++i) {
        mine.read(std::span<const Real>(piece.outputs).subspan(i * outputs, outputs), row);
        for (std::size_t k = 0; k < width; ++k) {
          if (!std::isfinite(row[k].centre) || !std::isfinite(row[k].scale)) refuse(at, piece.first + i);
          said[((piece.first - first + i) * width + k) * draws + at.number] = row[k];
        }
      }
    });
    parallel(count, options.threads, [&](std::size_t i) {
      const double* values = out.targets.empty() ? nullptr : out.targets.data() + (first + i) * width;
      RowLaw all{first + i, {}, values}, last{first + i, {}, values};
      for (std::size_t k = 0; k < width; ++k) {
        const std::size_t place = (first + i) * width + k;
        const Mixture m{law, std::span<const NoiseAt>(said).subspan((i * width + k) * draws, draws)};
        out.mean[place] = m.mean();
        out.aleatoric[place] = m.within();
        out.epistemic[place] = m.between();
        out.total[place] = out.aleatoric[place] + out.epistemic[place];
        for (std::size_t l = 0; l < levels; ++l) out.quantiles[place * levels + l] = m.quantile(options.levels[l]);
        all.targets.push_back(m);
        last.targets.push_back({law, m.at.last(1)});
      }
      if (values) {
        scores[first + i] = score(all);
        last_scores[first + i] = score(last);
      }
    });
  }
  if (out.targets.empty()) return out;
  Regressed all = gathered(scores, law != nullptr);
  out.metrics = score_numbers(all);
  out.last_metrics = score_numbers(gathered(last_scores, law != nullptr));
  out.below = std::move(all.below);
  return out;
}

}  // namespace

template <class Real>
double posterior_temperature(const Problem<Real>& problem) {
  const double first = double(problem.settings.warmup), steps = double(problem.settings.steps);
  double common = 0;
  for (const PartRecipe& part : problem.recipe.parts)
    for (int k = 0; k <= 16; ++k) {
      const double T = part.temperature.at(first + steps * k / 16);
      if (T == 0) continue;
      if (common != 0 && std::abs(T - common) > 1e-9 * common) return std::nan("");
      common = T;
    }
  return problem.rows() * common;
}

template <class Real>
Scatter scatter_of(const Problem<Real>& problem) {
  const Loss& loss = loss_named(problem.settings.model.loss);
  const std::size_t width = loss.targets_of(problem.train->outputs());
  const Units& units = problem.data.train.target_units;
  if (!loss.noise) return {nullptr, {}, fmt::format("loss {} stands for no law of noise", loss.name)};
  if (!loss.noise_scale) {
    const ModelSettings& model = problem.settings.model;
    std::string words = fmt::format("{} noise", loss.noise->name);
    if (loss.own_widths) words += ", its scale an output of the network";
    else if (loss.has_scale && model.scale == 0) words += ", its scale learned";
    else if (loss.has_scale) words += fmt::format(" of the fixed scale {:.4g}", model.scale);
    if (loss.shape) {
      const double given = model.*loss.shape->given;
      words += fmt::format(", {} {}", loss.shape->meaning, given == 0 ? "learned" : fmt::format("{:.4g}", given));
    }
    return {loss.noise, std::vector<double>(loss.has_scale && model.scale != 0 ? width : 0, model.scale), words};
  }
  const double temperature = posterior_temperature(problem);
  if (!(temperature > 0))
    return {nullptr,
            {},
            fmt::format("loss {} at {} stands for no law of noise", loss.name,
                        temperature == 0 ? "temperature 0" : "temperatures that differ")};
  Scatter out{loss.noise, {}, ""};
  for (std::size_t k = 0; k < width; ++k)
    out.scales.push_back(units.scale_of(k) * loss.noise_scale(temperature, double(width)));
  out.words = fmt::format("loss {} at posterior temperature {:.4g} stands for {} noise of scale {:.4g}", loss.name,
                          temperature, loss.noise->name, out.scales[0]);
  return out;
}

template <class Real>
RowNoise<Real>::RowNoise(const Problem<Real>& problem)
    : loss_(&loss_named(problem.settings.model.loss)),
      scatter_(scatter_of(problem)),
      units_(problem.data.train.target_units),
      targets_(loss_->targets_of(problem.train->outputs())),
      noise_(problem.settings.model, units_, problem.recipe.blocks, targets_),
      scales_(targets_),
      row_(problem.train->outputs()) {}

template <class Real>
void RowNoise<Real>::read(std::span<const Real> outputs, std::span<NoiseAt> to) {
  std::ranges::copy(outputs, row_.begin());
  to_original(*loss_, units_, row_);
  for (std::size_t k = 0; k < targets_; ++k) {
    to[k] = noise_at(*loss_, units_, row_, k, scales_[k]);
    if (!scatter_.scales.empty()) to[k].scale = scatter_.scales[k];
  }
}

template <class Real>
void check_predicts(const StoredRun<Real>& run) {
  if (!run.problem.train) throw Error("a toy predicts nothing; predictions need the run of a network");
  if (run.samples.draws == 0)
    throw Error("\"{}\" has no draws; run it for at least `every` steps after warm-up", run.samples.run.string());
}

template <class Real>
Predictive predict(const StoredRun<Real>& run, const Dataset& rows, const PredictOptions& options) {
  check_predicts(run);
  const Problem<Real>& problem = run.problem;
  const bool classes = loss_named(problem.settings.model.loss).wants_classes() || problem.data.train.has_classes();
  if (!classes && problem.data.train.steps > 0)
    throw Error(
        "the rows of \"{}\" have a number for each of {} steps; of rows with a target for each step only classes "
        "are predicted, with a loss such as softmax_cross_entropy",
        run.samples.run.string(), problem.data.train.steps);
  return classes ? predict_classes(run, rows, options) : predict_numbers(run, rows, options);
}

template double posterior_temperature(const Problem<float>&);
template double posterior_temperature(const Problem<double>&);
template Scatter scatter_of(const Problem<float>&);
template Scatter scatter_of(const Problem<double>&);
template class RowNoise<float>;
template class RowNoise<double>;
template void check_predicts(const StoredRun<float>&);
template void check_predicts(const StoredRun<double>&);
template Predictive predict(const StoredRun<float>&, const Dataset&, const PredictOptions&);
template Predictive predict(const StoredRun<double>&, const Dataset&, const PredictOptions&);

}  // namespace kelvin
