// SPDX-License-Identifier: Apache-2.0
#include "kelvin/experiment/experiment.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "kelvin/core/toml.h"
#include "kelvin/energy/likelihood.h"
#include "kelvin/energy/loss.h"
#include "kelvin/experiment/measure.h"
#include "kelvin/io/json.h"
#include "kelvin/io/onnx.h"
#include "kelvin/run/tempering.h"
#include "kelvin/trajectory/files.h"
#include "kelvin/trajectory/inputs.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {
namespace {

// What `more` gives is put over what `value` has.
void merge(Value& value, const Value& more) {
  if (!value.group() || !more.group()) {
    value = more;
    return;
  }
  for (const auto& [key, child] : std::get<Value::Group>(more.is)) {
    auto& mine = std::get<Value::Group>(value.is);
    if (const auto at = mine.find(key); at != mine.end()) merge(at->second, child);
    else mine.emplace(key, child);
  }
}

// An axis written as a range: `count` values from `from` to `to`.
struct RangeSettings {
  double from = 0, to = 1;
  long count = 11;
  template <class Visit>
  void fields(Visit&& field) {
    field("from", from, "the first value");
    field("to", to, "the last value");
    field("count", count, "how many, equally far apart");
  }
};

std::vector<Axis> axes_of(const Value& grid) {
  std::vector<Axis> axes;
  for (const auto& [setting, values] : std::get<Value::Group>(grid.is)) {
    Axis& axis = axes.emplace_back(Axis{setting, {}, {}});
    if (!values.group()) {
      std::vector<Value> each;
      assign(each, values, "grid." + setting);
      for (const Value& value : each) {
        const auto* list = std::get_if<Value::List>(&value.is);
        if (list) axis.values.push_back(double(list->size()));
        else assign(axis.values.emplace_back(), value, "grid." + setting);
        axis.assigned.push_back(to_json(as_value(value)));
      }
      if (std::set(axis.values.begin(), axis.values.end()).size() < axis.values.size())
        throw Error("{}: two values of grid.{} are the same number, or lists of one length; they must differ",
                    values.where, setting);
      continue;
    }
    RangeSettings range;
    read(range, values, "grid." + setting);
    if (range.count < 2)
      throw Error("{}: grid.{}.count must be at least 2, not {}", values.where, setting, range.count);
    for (long k = 0; k < range.count; ++k) {  // rounded, or names would show the last bits
      const double x = range.from + (range.to - range.from) * double(k) / double(range.count - 1);
      axis.assigned.push_back(fmt::format("{:.9g}", x));
      axis.values.push_back(std::stod(axis.assigned.back()));
    }
  }
  return axes;
}

// Every combination of the axes' values.
std::vector<std::vector<double>> places_of(const std::vector<Axis>& axes) {
  std::vector<std::vector<double>> places(1);
  for (const Axis& axis : axes) {
    std::vector<std::vector<double>> longer;
    for (const auto& place : places)
      for (const double x : axis.values) {
        longer.push_back(place);
        longer.back().push_back(x);
      }
    places = std::move(longer);
  }
  return places;
}

RunSettings settings_of_cell(const Value& run) {
  RunSettings settings = read_run_settings(run);
  fill_in_temperatures(settings, Choice::number_of("constant", "value", 0));
  if (settings.patience.used())
    throw Error("{}: an experiment compares runs of one length, so `patience` has no place in it", run.where);
  if (settings.exchange.used())
    throw Error("{}: an experiment follows one walker for each seed, so `exchange` has no place in it", run.where);
  return settings;
}

template <class Real>
std::function<double(std::span<const double>)> loss_on(PlacedLikelihood<Real>* network) {
  return [network](std::span<const double> q) {
    return network ? network->score(std::vector<Real>(q.begin(), q.end()), {}).loss : NAN;
  };
}

// Probabilities of the second class on a square that holds the training rows.
template <class Real>
Map map_of_classifier(const Problem<Real>& problem, std::span<const Real> q, std::size_t side) {
  const Dataset& train = problem.data.train;
  if (train.input_count() != 2)
    throw Error("maps and boundaries are of networks with 2 inputs, and this one has {}", train.input_count());
  const std::size_t rows = side * side;
  std::vector<double> points;
  double reach = 0;
  for (const double x : train.inputs) reach = std::max(reach, 1.1 * std::abs(x));
  std::vector<double> line(side);
  for (std::size_t k = 0; k < side; ++k) line[k] = reach * (2 * double(k) / double(side - 1) - 1);
  for (const double y : line)
    for (const double x : line) points.insert(points.end(), {x, y});
  PlacedFunction<Real> network = problem.function();
  const std::size_t outputs = network.outputs(), classes = std::max<std::size_t>(2, outputs);
  std::vector<Real> raw(rows * outputs), shares(rows * classes);
  network.predict(q, Inputs<Real>(points, rows), raw);
  const auto probabilities = loss_named(problem.settings.model.loss).template probabilities<Real>();
  if (!probabilities)
    throw Error("maps and boundaries are of probabilities, which loss \"{}\" has none of", problem.settings.model.loss);
  probabilities(rows, outputs, raw.data(), shares.data());
  Map map{.x = line, .y = line, .z = std::vector<double>(rows), .label = "probability of the second class"};
  for (std::size_t i = 0; i < rows; ++i) map.z[i] = double(shares[i * classes + 1]);
  return map;
}

// The sums behind Averages, taken step by step.
struct Sums {
  std::uint64_t steps = 0;
  double kinetic = 0, virial = 0;
  template <class Real>
  void add(const Chain<Real>& chain) {
    const auto& parts = chain.recipe().parts;
    double freedom = 0, k = 0, v = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double n = double(parts[i].freedom()), T = chain.part(i).T;
      const PartReading& r = chain.reading().parts[i];
      freedom += n;
      k += r.kinetic_energy / (T / 2);
      v += n * r.configurational_temperature / T;
    }
    ++steps;
    kinetic += k / freedom;
    virial += v / freedom;
  }
  Averages averages() const {
    return steps ? Averages{steps, kinetic / double(steps), virial / double(steps)} : Averages{};
  }
};

template <class Real>
Outcome perform_in(const Experiment& experiment, std::size_t cell, long seed) {
  const ExperimentSettings& about = experiment.settings;
  Outcome outcome{cell, seed, {}, {}, {}, {}, {}, {}};
  RunSettings settings = experiment.cells[cell].settings;
  settings.seed = seed;
  const RunEnvironment inputs = inputs_from();
  const auto stored = [](const std::string& place, const Block& block) { return stored_block(place, block); };
  const auto silent = [](std::string_view) {};
  const Problem<Real> problem = make_problem<Real>(piloted<Real>(settings, inputs, silent), inputs.data, silent);
  const Noise<Real> noise;
  Chain<Real> chain = problem.chain(0, noise);
  const std::vector<Real> start = problem.starting_point(0, stored);
  chain.start(start);

  const bool averaging = std::any_of(about.measures.begin(), about.measures.end(),
                                     [](const std::string& m) { return row_named(m, measures(), "measure").averages; });
  if (averaging && problem.recipe.weighed)
    throw Error("draws of this run have weights, which averages over all steps leave out; measure something else");
  Sums sums;
  outcome.values.assign(about.measures.size(), std::vector<double>(experiment.steps.size(), NAN));
  outcome.counts.assign(about.histograms.size() * about.at.size(), {});
  const std::vector<double> first(start.begin(), start.end());
  std::vector<double> now(first.size());
  try {
    for (std::size_t k = 0; k < experiment.steps.size(); ++k) {
      const auto step = std::uint64_t(experiment.steps[k]);
      while (chain.steps() < step) {
        const bool counts = averaging && chain.steps() >= std::uint64_t(settings.warmup);
        if (!counts && chain.steps() + 1 < step) {
          chain.step();
          continue;
        }
        chain.step_and_read();
        if (counts) sums.add(chain);
      }
      const auto q = chain.q();
      std::copy(q.begin(), q.end(), now.begin());
      Snapshot snapshot{{}, now, first, problem.recipe.blocks, &chain.reading(), loss_on(problem.test.get())};
      snapshot.averages = sums.averages();
      if constexpr (std::is_same_v<Real, double>) snapshot.problem = &problem;
      snapshot.classifier = [&](std::size_t side) { return map_of_classifier<Real>(problem, chain.q(), side); };
      for (const auto& [split, network] : {std::pair{"train", problem.train.get()},
                                           {"validation", problem.validation.get()},
                                           {"test", problem.test.get()}})
        if (network) snapshot.scores[split] = network->score(q, {});
      const bool tabled = std::find(about.at.begin(), about.at.end(), experiment.steps[k]) != about.at.end();
      for (std::size_t m = 0; m < about.measures.size(); ++m) {
        const Measure& measure = row_named(about.measures[m], measures(), "measure");
        if (tabled || !measure.costly) outcome.values[m][k] = measure.of(snapshot);
      }
      if (!tabled) continue;
      const auto when =
          std::size_t(std::find(about.at.begin(), about.at.end(), experiment.steps[k]) - about.at.begin());
      for (std::size_t h = 0; h < about.histograms.size(); ++h) {
        auto& counts = outcome.counts[h * about.at.size() + when];
        counts.assign(histogram_bins, 0);
        for (const Block& b : problem.recipe.blocks)
          if (!b.slack() && matches(about.histograms[h], b.name))
            for (std::size_t i = b.offset; i < b.offset + b.size(); ++i) {
              const double at = (now[i] / about.histogram_range + 1) / 2 * double(histogram_bins);
              ++counts[std::size_t(std::clamp(at, 0.0, double(histogram_bins - 1)))];
            }
      }
    }
    if (about.classifier > 1 && seed == 1) {
      const Map map = map_of_classifier<Real>(problem, chain.q(), std::size_t(about.classifier));
      outcome.map_x = map.x;
      outcome.map_y = map.y;
      for (const double p : map.z) outcome.map.push_back(std::round(1e3 * p) / 1e3);
    }
  } catch (const Error& e) {
    outcome.stopped = e.what();
  }
  return outcome;
}

std::string fingerprint(const Experiment& experiment, const Outcome& outcome) {
  const ExperimentSettings& about = experiment.settings;
  Value::Group all = as_value(experiment.cells[outcome.cell].settings).entries();
  all["experiment"] = Value::List{about.measures,   about.histograms, about.histogram_range,
                                  about.classifier, experiment.steps, about.at};
  return fmt::format("{:08x}", checksum(to_json(all)));
}

std::vector<double> rounded(std::vector<double> values) {
  for (double& x : values)
    if (std::isfinite(x)) x = std::stod(fmt::format("{:.9g}", x));
  return values;
}

}  // namespace

std::optional<double> number_in(const std::string& text) {
  double number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<double> Experiment::along(const Cell& cell, const std::string& setting) const {
  const auto& grid = axes.at(cell.arm);
  for (std::size_t a = 0; a < grid.size(); ++a)
    if (grid[a].setting == setting) return cell.place[a];
  return {};
}

std::string Experiment::label(const Cell& cell) const {
  const ArmSettings& arm = settings.arm.at(cell.arm);
  std::string text = arm.label.empty() ? cell.arm : arm.label;
  const auto& grid = axes.at(cell.arm);
  for (std::size_t a = 0; a < grid.size(); ++a)
    text += fmt::format(", {} {:g}", grid[a].setting.substr(grid[a].setting.rfind('.') + 1), cell.place[a]);
  return text;
}

Experiment read_experiment(const Value& from, const std::string& name) {
  Experiment experiment;
  experiment.name = name;
  ExperimentSettings& about = experiment.settings;
  read(about, from, "");
  if (about.arm.empty()) throw Error("{}: an experiment needs at least one [arm.NAME]", from.where);
  for (const auto& [arm, settings] : about.arm) {
    const auto& axes = experiment.axes[arm] = axes_of(settings.grid);
    for (const auto& place : places_of(axes)) {
      Value run = about.run;
      merge(run, settings.run);
      std::string cell = arm;
      for (std::size_t a = 0; a < place.size(); ++a) {
        const auto& values = axes[a].values;
        const auto at = std::size_t(std::find(values.begin(), values.end(), place[a]) - values.begin());
        override_with(run, fmt::format("{}={}", axes[a].setting, axes[a].assigned[at]));
        cell += fmt::format(" {}={}", axes[a].setting, place[a]);
      }
      experiment.cells.push_back({cell, arm, place, settings_of_cell(with_layers_of_onnx(run))});
    }
  }
  for (const std::string& m : about.measures) row_named(m, measures(), "measure", from.where);
  std::set<long> steps(about.at.begin(), about.at.end());
  long last = 0;
  for (const Cell& cell : experiment.cells) last = std::max(last, cell.settings.warmup + cell.settings.steps);
  for (const Cell& cell : experiment.cells)
    if (const long takes = cell.settings.warmup + cell.settings.steps; takes != last)
      throw Error("{}: all arms must take the same number of steps, and \"{}\" takes {}, not {}", from.where, cell.name,
                  takes, last);
  if (about.at.empty()) about.at = {last};
  steps.insert(about.at.begin(), about.at.end());
  for (long k = 1; k <= about.curve; ++k) steps.insert(std::max(1L, last * k / about.curve));
  if (*steps.begin() < 1 || *steps.rbegin() > last)
    throw Error("{}: the steps of `at` must lie between 1 and {}", from.where, last);
  experiment.steps.assign(steps.begin(), steps.end());
  for (const auto& [claim, says] : about.claim)
    if (std::find(about.measures.begin(), about.measures.end(), says.measure) == about.measures.end())
      throw Error("{}: claim \"{}\" is about \"{}\", which `measures` does not list", from.where, claim, says.measure);
  const auto known = [&](const std::string& who) {
    return number_in(who) || std::any_of(experiment.cells.begin(), experiment.cells.end(),
                                         [&](const Cell& c) { return matches(who, c.name); });
  };
  for (const auto& [claim, says] : about.claim)
    for (const std::string& who : {says.more, says.than})
      if (!known(who))
        throw Error("{}: claim \"{}\" compares \"{}\", which is neither a number nor one of the arms, such as \"{}\"",
                    from.where, claim, who, experiment.cells.front().name);
  for (const auto& [claim, says] : about.claim) {
    std::set<double> places;
    for (const Cell& cell : experiment.cells)
      if (const auto x = experiment.along(cell, says.along);
          x && (matches(says.more, cell.name) || matches(says.than, cell.name)))
        places.insert(*x);
    if (!says.along.empty() && places.size() < 3)
      throw Error("{}: claim \"{}\" is about a power of \"{}\", which takes at least 3 values of it in a grid, not {}",
                  from.where, claim, says.along, places.size());
  }
  return experiment;
}

Outcome perform(const Experiment& experiment, std::size_t cell, long seed) {
  return experiment.cells[cell].settings.precision == "double" ? perform_in<double>(experiment, cell, seed)
                                                               : perform_in<float>(experiment, cell, seed);
}

Value as_value(const Experiment& experiment, const Outcome& outcome) {
  Value::List values;
  for (const auto& of_measure : outcome.values) values.push_back(rounded(of_measure));
  Value::Group out = {{"cell", experiment.cells[outcome.cell].name},
                      {"seed", outcome.seed},
                      {"made_with", fingerprint(experiment, outcome)},
                      {"values", std::move(values)},
                      {"counts", outcome.counts}};
  if (!outcome.stopped.empty()) out["stopped"] = outcome.stopped;
  if (!outcome.map.empty()) {
    out["map"] = outcome.map;
    out["map_x"] = outcome.map_x;
    out["map_y"] = outcome.map_y;
  }
  return out;
}

std::optional<Outcome> read_outcome(const Experiment& experiment, const Value& from) {
  Outcome outcome;
  const auto name = from.as<std::string>("cell");
  const auto cell =
      std::find_if(experiment.cells.begin(), experiment.cells.end(), [&](const Cell& c) { return c.name == name; });
  if (cell == experiment.cells.end()) return {};
  outcome.cell = std::size_t(cell - experiment.cells.begin());
  if (from.at("made_with") != fingerprint(experiment, outcome)) return {};
  outcome.seed = from.as<long>("seed");
  outcome.stopped = from.as<std::string>("stopped", "");
  outcome.values = from.as<std::vector<std::vector<double>>>("values");
  outcome.counts = from.as<std::vector<std::vector<long>>>("counts");
  if (from.contains("map")) {
    outcome.map = from.as<std::vector<double>>("map");
    outcome.map_x = from.as<std::vector<double>>("map_x");
    outcome.map_y = from.as<std::vector<double>>("map_y");
  }
  return outcome;
}

}  // namespace kelvin
