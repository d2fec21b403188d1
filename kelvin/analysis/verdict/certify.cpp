// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/verdict/certify.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kelvin/analysis/analysis.h"
#include "kelvin/core/parallel.h"
#include "kelvin/energy/loss.h"
#include "kelvin/io/problem.h"
#include "kelvin/numeric/mean.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {
namespace {

constexpr std::size_t batches = 32, fewest_steps = 20 * batches;  // of each pair
constexpr std::size_t most_coordinates = 8, most_rows = 50;
constexpr std::uint64_t steps_between_predictions = 10;  // they cost as much as a step

double order_of(const Scheme& scheme) {
  for (const NamedScheme& row : schemes())
    if (row.text == scheme.text) return std::isfinite(row.order) ? row.order : 2;
  const auto& m = scheme.moves;
  const bool symmetric =
      std::equal(m.begin(), m.end(), m.rbegin(), [](const Move& a, const Move& b) { return a.letter == b.letter; });
  return symmetric ? 2 : 1;
}

// What is averaged: names, and values read off a chain.
template <class Real>
class Quantities {
 public:
  explicit Quantities(const Problem<Real>& problem) {
    const Recipe& recipe = problem.recipe;
    names_.push_back("U");
    for (const PartRecipe& part : recipe.parts) names_.push_back("configurational temperature of " + part.name);
    for (std::size_t i = 0; i < recipe.size && !problem.train && recipe.size <= most_coordinates; ++i) {
      coordinates_.push_back(i);
      names_.push_back(fmt::format("q[{}]", i));
      names_.push_back(fmt::format("q[{}]^2", i));
    }
    averages_ = names_.size();
    if (!problem.train || problem.data.train.steps > 0) return;
    const Dataset& data = problem.test ? problem.data.test : problem.data.train;
    if (data.has_classes()) {
      names_.push_back("probability of the true class");
      ++averages_;
      for (std::size_t i = 0; i < std::min(data.rows, most_rows); ++i) truth_.push_back(std::size_t(data.targets[i]));
    }
    network_ = std::make_unique<PlacedLikelihood<Real>>(*(problem.test ? problem.test : problem.train));
    loss_ = &loss_named(problem.settings.model.loss);
    if (!data.has_classes()) units_ = data.target_units;
    probabilities_ = loss_->template probabilities<Real>();
    const std::size_t outputs = network_->outputs(), width = probabilities_ && outputs == 1 ? 2 : outputs;
    const std::vector<std::string>& columns = probabilities_ ? data.classes : data.target_names;
    for (std::size_t i = 0; i < std::min(data.rows, most_rows); ++i) {
      rows_.push_back(std::uint32_t(i));
      for (std::size_t k = 0; k < width; ++k)
        names_.push_back(fmt::format("{}{} of row {}", probabilities_ ? "probability of " : "",
                                     k < columns.size() ? columns[k] : fmt::format("output {}", k), i));
    }
    outputs_.resize(rows_.size() * outputs);
    values_.resize(rows_.size() * width);
  }

  const std::vector<std::string>& names() const { return names_; }
  std::size_t averages() const { return averages_; }  // the others are predictions
  std::uint64_t every() const { return network_ ? steps_between_predictions : 1; }

  void read(Chain<Real>& chain, std::vector<double>& out) {
    out.clear();
    out.push_back(chain.reading().energy);
    for (const PartReading& part : chain.reading().parts) out.push_back(part.configurational_temperature);
    const auto q = chain.q();
    for (const std::size_t i : coordinates_) {
      out.push_back(double(q[i]));
      out.push_back(double(q[i]) * double(q[i]));
    }
    if (!network_) return;
    const std::size_t width = network_->outputs();
    network_->predict(q, rows_, outputs_);
    if (probabilities_) {
      probabilities_(rows_.size(), width, outputs_.data(), values_.data());
      double sum = 0;
      for (std::size_t i = 0; i < truth_.size(); ++i)
        sum += double(values_[i * values_.size() / rows_.size() + truth_[i]]);
      if (!truth_.empty()) out.push_back(sum / double(truth_.size()));
      out.insert(out.end(), values_.begin(), values_.end());
    } else {
      std::vector<double> row(width);
      for (std::size_t i = 0; i < outputs_.size(); i += width) {
        for (std::size_t k = 0; k < width; ++k) row[k] = double(outputs_[i + k]);
        to_original(*loss_, units_, row);
        out.insert(out.end(), row.begin(), row.end());
      }
    }
  }

 private:
  std::vector<std::string> names_;
  std::size_t averages_ = 0;
  std::vector<std::size_t> coordinates_;
  std::unique_ptr<PlacedLikelihood<Real>> network_;  // null for a toy
  const Loss* loss_ = nullptr;
  Units units_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> truth_;  // classes of these rows
  Probabilities<Real> probabilities_ = nullptr;
  std::vector<Real> outputs_, values_;
};

// Means over the batches of one pair, quantity by quantity.
struct BatchMeans {
  std::vector<double> coarse, fine, coarse_square;
};

// One pair on its way, a batch of time after another.
template <class Real>
class Observed {
 public:
  Observed(const Problem<Real>& problem, std::uint32_t walker, const Noise<Real>& noise)
      : pair_(problem, walker, noise), quantities_(problem), means_(quantities_.names().size()) {
    pair_.start(problem.starting_point(
        walker, [&](const std::string& place, const Block& block) { return stored_block(place, block); }));
  }

  void settle(std::uint64_t steps) {
    while (steps-- > 0) pair_.step();
  }

  void observe(std::uint64_t steps) {
    const std::uint64_t every = quantities_.every(), count = std::max<std::uint64_t>(1, steps / every);
    for (BatchMeans& m : means_)
      for (auto* list : {&m.coarse, &m.fine, &m.coarse_square}) list->push_back(0);
    for (std::uint64_t n = 0; n < count; ++n) {
      settle(every - 1);
      pair_.step_and_read();
      quantities_.read(pair_.coarse(), coarse_);
      quantities_.read(pair_.fine(), fine_);
      for (std::size_t k = 0; k < means_.size(); ++k) {
        means_[k].coarse.back() += coarse_[k] / double(count);
        means_[k].fine.back() += fine_[k] / double(count);
        means_[k].coarse_square.back() += coarse_[k] * coarse_[k] / double(count);
      }
    }
  }

  const Quantities<Real>& quantities() const { return quantities_; }
  const BatchMeans& means(std::size_t quantity) const { return means_[quantity]; }

 private:
  CoupledPair<Real> pair_;
  Quantities<Real> quantities_;
  std::vector<BatchMeans> means_;
  std::vector<double> coarse_, fine_;
};

// Standard error of the mean of batch means, one pair after another. Neighbouring batches that still resemble each
// other say that batches are too short: the error is then that of an AR(1) with their correlation.
double batch_error(const std::vector<double>& means) {
  const double n = double(means.size()), mean = mean_of(means).value;
  double square = 0, product = 0;
  for (std::size_t k = 0; k < means.size(); ++k) {
    square += (means[k] - mean) * (means[k] - mean);
    if (k % batches) product += (means[k] - mean) * (means[k - 1] - mean);
  }
  const double correlation = square > 0 ? std::clamp(product / square * batches / (batches - 1.0), 0.0, 0.95) : 0;
  return std::sqrt(square / (n - 1) / n * (1 + correlation) / (1 - correlation));
}

// All pairs' batches of one quantity; `length` is how much shorter the run is than they are together.
Bias bias_of(const std::string& name, const BatchMeans& all, double share, double length) {
  Bias b;
  b.of = name;
  b.mean = mean_of(all.coarse).value;
  b.deviation = std::sqrt(std::max(0.0, mean_of(all.coarse_square).value - b.mean * b.mean));
  std::vector<double> difference = all.coarse;
  for (std::size_t k = 0; k < difference.size(); ++k) difference[k] -= all.fine[k];
  b.difference = mean_of(difference).value;
  b.difference_error = batch_error(difference);
  const double coarse = batch_error(all.coarse);
  b.alone = std::hypot(coarse, batch_error(all.fine));
  b.bias = b.difference / share;
  b.error = b.difference_error / share;
  b.run_error = coarse * std::sqrt(length);
  return b;
}

}  // namespace

double bias_order(const Recipe& recipe, const Batches& rows) {
  double order = std::numeric_limits<double>::infinity();
  for (const PartRecipe& part : recipe.parts) {
    const bool forgets = std::any_of(part.scheme.moves.begin(), part.scheme.moves.end(),
                                     [&](const Move& m) { return m.letter->forgets(part.friction.at(0)); });
    order = std::min(order, (forgets ? 2 : 1) * order_of(part.scheme));
  }
  return std::min(order, rows.bias_order());
}

template <class Real>
Certificate certify(const Problem<Real>& problem, const CertifyOptions& options,
                    const std::function<void(double)>& progress) {
  if (problem.recipe.tempered)
    throw Error("a certificate compares plain chains; leave out [tempering] to certify the scheme it builds on");
  check_coupling(problem.recipe);
  if (options.steps < fewest_steps || options.pairs < 1)
    throw Error("{} pairs with {} steps are too little for a certificate; give at least 1 pair and {} steps",
                options.pairs, options.steps, fewest_steps);
  const Noise<Real> noise;
  std::vector<Observed<Real>> pairs;
  for (std::size_t k = 0; k < options.pairs; ++k) pairs.emplace_back(problem, std::uint32_t(k), noise);
  const double total = double(options.warmup + options.steps), each = double(options.steps / batches);
  parallel(pairs.size(), options.threads, [&](std::size_t k) { pairs[k].settle(options.warmup); });
  for (std::size_t b = 0; b < batches; ++b) {
    progress((double(options.warmup) + double(b) * each) / total);
    parallel(pairs.size(), options.threads, [&](std::size_t k) { pairs[k].observe(options.steps / batches); });
  }
  progress(1);

  const RunSettings& run = problem.settings;
  const auto& quantities = pairs.front().quantities();
  Certificate out;
  out.order = bias_order(problem.recipe, Batches(run.batch, problem.energy->rows(), 0, 0));
  const double share = 1 - std::exp2(-out.order);
  const double length = double(options.steps * options.pairs) / (double(run.steps) * double(run.walkers));
  for (std::size_t q = 0; q < quantities.names().size(); ++q) {
    BatchMeans all;
    for (const auto& pair : pairs) {
      const BatchMeans& m = pair.means(q);
      all.coarse.insert(all.coarse.end(), m.coarse.begin(), m.coarse.end());
      all.fine.insert(all.fine.end(), m.fine.begin(), m.fine.end());
      all.coarse_square.insert(all.coarse_square.end(), m.coarse_square.begin(), m.coarse_square.end());
    }
    (q < quantities.averages() ? out.biases : out.predictions)
        .push_back(bias_of(quantities.names()[q], all, share, length));
  }
  return out;
}

namespace {

// All predictions as one: the root of the mean square, less what the errors alone would give; they may err together, so
// the error is not smaller than theirs.
Bias root_mean_square(const std::vector<Bias>& all) {
  Bias out;
  out.of = fmt::format("predictions, root mean square of {}", all.size());
  const auto rms = [&](double Bias::*field) {
    double sum = 0;
    for (const Bias& b : all) sum += b.*field * (b.*field) / double(all.size());
    return std::sqrt(sum);
  };
  out.mean = rms(&Bias::mean);
  out.deviation = rms(&Bias::deviation);
  out.alone = rms(&Bias::alone);
  out.error = rms(&Bias::error);
  out.difference_error = rms(&Bias::difference_error);
  out.run_error = rms(&Bias::run_error);
  const auto less = [](double a, double b) { return std::sqrt(std::max(0.0, a * a - b * b)); };
  out.bias = less(rms(&Bias::bias), out.error);
  out.difference = less(rms(&Bias::difference), out.difference_error);
  return out;
}

// The largest of many is large by chance too, so it is shown but not judged.
Bias largest(const std::vector<Bias>& all) {
  Bias out = *std::max_element(all.begin(), all.end(),
                               [](const Bias& a, const Bias& b) { return std::abs(a.bias) < std::abs(b.bias); });
  out.of += " (largest)";
  return out;
}

// Against the statistical error of the run, in units of it, with two standard errors of doubt.
double at_least(const Bias& b) { return (std::abs(b.bias) - 2 * b.error) / b.run_error; }
double at_most(const Bias& b) { return (std::abs(b.bias) + 2 * b.error) / b.run_error; }

std::string verdict(const std::vector<Bias>& rows, double order) {
  const auto worst_by = [&](double (*ratio)(const Bias&)) {
    return *std::max_element(rows.begin(), rows.end(),
                             [&](const Bias& a, const Bias& b) { return ratio(a) < ratio(b); });
  };
  const auto stated = [](const Bias& b) {
    return fmt::format("the discretisation bias of {} is {:.3g} +- {:.2g}", b.of, b.bias, b.error);
  };
  if (const Bias& b = worst_by(at_least); at_least(b) > 1)
    return fmt::format(
        "{}: {:.3g} times the statistical error of your run ({:.2g}); reduce the step by a factor {:.2g}.", stated(b),
        std::abs(b.bias) / b.run_error, b.run_error, std::pow(std::abs(b.bias) / b.run_error, 1 / order));
  const Bias b = worst_by(at_most);
  if (at_most(b) < 1)
    return fmt::format("{}, below the statistical error of your run ({:.2g}), and so are all others.", stated(b),
                       b.run_error);
  return fmt::format(
      "{}; whether it is below the statistical error of your run ({:.2g}) cannot be told yet: give more --steps or "
      "--pairs.",
      stated(b), b.run_error);
}

}  // namespace

Finding as_finding(const Certificate& c, const CertifyOptions& options, const RunSettings& settings) {
  std::vector<Bias> rows = c.biases;
  if (!c.predictions.empty()) rows.push_back(root_mean_square(c.predictions));
  Finding out{.name = "certify", .title = "Discretisation bias"};
  std::string first = verdict(rows, c.order);
  first[0] = char(std::toupper(first[0]));
  out.words.push_back(first);
  if (!c.predictions.empty()) rows.push_back(largest(c.predictions));
  out.words.push_back(fmt::format(
      "{} pairs of chains, {} steps of h and twice as many of h/2 on the same noise after a warm-up of {}; the bias is "
      "taken to be C h^{:g}, that is {:.4g} (<f>_h - <f>_h/2).",
      options.pairs, options.steps, options.warmup, c.order, 1 / (1 - std::exp2(-c.order))));
  std::vector<double> gains;
  for (const Bias& b : rows) gains.push_back(b.gain());
  std::nth_element(gains.begin(), gains.begin() + long(gains.size() / 2), gains.end());
  const double gain = gains[gains.size() / 2];
  out.words.push_back(
      gain > 2 ? fmt::format("Sharing the noise divides the variance by {:.3g} (median).", gain)
               : fmt::format("The two chains part (variance divided by {:.2g} only), as they do where U is not convex, "
                             "with small batches or with large steps: the errors are those of independent runs.",
                             gain));
  if (c.order == 1 && settings.batch.size.text != "full")
    out.words.push_back("Noise of the minibatches heats the chain in proportion to h, hence the order 1.");
  Table table;
  for (const Bias& b : rows)
    table.row({{"average", b.of},
               {"mean", b.mean},
               {"sd", b.deviation},
               {"bias", b.bias},
               {"error", b.error},
               {"run_error", b.run_error},
               {"uncoupled_error", b.alone * b.error / b.difference_error},
               {"gain", b.gain()}});
  out.tables.push_back({"Bias of averages", table});
  return out;
}

template Certificate certify(const Problem<float>&, const CertifyOptions&, const std::function<void(double)>&);
template Certificate certify(const Problem<double>&, const CertifyOptions&, const std::function<void(double)>&);

namespace {

struct BiasOptions {
  long steps = 0, warmup = -1;
  std::size_t pairs = 4;
  template <class Visit>
  void fields(Visit&& field) {
    field("steps", steps, "steps of each coarse chain after warm-up (default: those of the file)", {.range = positive});
    field("warmup", warmup, "(default: that of the file, at least a tenth of the steps)", {.range = not_negative});
    field("pairs", pairs, "independent pairs of chains", {.range = positive});
  }
};

template <class Real>
Found certify_settings(const Subject& subject, const BiasOptions& options, const Progress& progress) {
  const RunSettings& settings = subject.settings;
  const Problem<Real> problem = make_problem<Real>(settings, subject.remark);
  CertifyOptions plan;
  plan.steps = std::uint64_t(options.steps ? options.steps : settings.steps);
  plan.warmup =
      options.warmup >= 0 ? std::uint64_t(options.warmup) : std::max(std::uint64_t(settings.warmup), plan.steps / 10);
  plan.pairs = options.pairs;
  plan.threads = subject.threads;
  const double total = double(plan.warmup + plan.steps);
  const Certificate found = certify(problem, plan, [&](double share) { progress(share * total, total, "steps"); });
  return {as_finding(found, plan, settings)};
}

Found find_bias(const Subject& subject, const BiasOptions& options, const Progress& progress) {
  return subject.settings.precision == "float" ? certify_settings<float>(subject, options, progress)
                                               : certify_settings<double>(subject, options, progress);
}

}  // namespace

Question ask_certify() { return ask(find_bias); }

}  // namespace kelvin
