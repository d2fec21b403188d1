// SPDX-License-Identifier: Apache-2.0
#include "kelvin/experiment/outcome.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "kelvin/dynamics/recipe.h"
#include "kelvin/experiment/measure.h"
#include "kelvin/experiment/slope.h"

namespace kelvin {
namespace {

// The error is that of normal numbers: sd / sqrt(2 (n - 1)).
MeanOf deviation(const std::vector<double>& x) {
  const double n = double(x.size()), sd = mean_of(x).error * std::sqrt(n);
  return {sd, sd / std::sqrt(2 * (n - 1))};
}

const Statistic all_statistics[] = {
    {"mean", [](const std::vector<double>& x) { return mean_of(x); }, true},
    {"size",
     [](const std::vector<double>& x) {
       std::vector<double> sizes;
       for (const double v : x) sizes.push_back(std::abs(v));
       return mean_of(sizes);
     },
     false},
    {"sd", deviation, false},
    {"least",
     [](const std::vector<double>& x) {
       return MeanOf{*std::min_element(x.begin(), x.end()), NAN};
     },
     false},
    {"most",
     [](const std::vector<double>& x) {
       return MeanOf{*std::max_element(x.begin(), x.end()), NAN};
     },
     false},
};

// What a claim compares: an estimate, the number of its runs (none for a plain number) and, if it is of one cell, its
// runs by seed.
struct Side {
  MeanOf estimate;
  std::optional<std::size_t> runs;
  std::map<long, double> by_seed;
};

// Of the difference of two estimates. Runs of one seed share their data: where means of the same seeds are compared,
// their differences count.
double difference_error(const Side& more, const Side& than, const Statistic& statistic) {
  std::vector<double> differences;
  for (const auto& [seed, value] : more.by_seed)
    if (than.by_seed.contains(seed)) differences.push_back(value - than.by_seed.at(seed));
  if (statistic.linear && differences.size() > 1 && differences.size() == more.runs && more.runs == than.runs)
    return mean_of(differences).error;
  const auto known = [](double error) { return std::isnan(error) ? 0 : error; };
  return std::hypot(known(more.estimate.error), known(than.estimate.error));
}

// Of the sides that have any.
Table::Cell fewest_runs(const Side& more, const Side& than) {
  if (!more.runs || !than.runs) return more.runs ? *more.runs : than.runs ? Table::Cell(*than.runs) : Table::Cell();
  return std::min(*more.runs, *than.runs);
}

// Four digits say all there is to say over the runs of an experiment.
Table::Cell short_cell(double x) { return std::isfinite(x) ? cell(std::stod(fmt::format("{:.4g}", x))) : cell(x); }

// The outcomes of an experiment, asked by cell, measure and step.
class Results {
 public:
  Results(const Experiment& experiment, const std::vector<Outcome>& outcomes)
      : experiment_(experiment), outcomes_(outcomes) {}

  std::size_t measure(const std::string& name) const {
    const auto& names = experiment_.settings.measures;
    return std::size_t(std::find(names.begin(), names.end(), name) - names.begin());
  }
  std::size_t step(long at) const {
    if (!at) return experiment_.steps.size() - 1;
    const auto found = std::find(experiment_.steps.begin(), experiment_.steps.end(), at);
    if (found == experiment_.steps.end())
      throw Error("nothing is measured at step {}; add it to `at` of the experiment", at);
    return std::size_t(found - experiment_.steps.begin());
  }
  // Over the seeds that got there.
  std::vector<double> values(std::size_t cell, std::size_t measure, std::size_t step) const {
    std::vector<double> out;
    for (const Outcome& o : outcomes_)
      if (o.cell == cell && std::isfinite(o.values[measure][step])) out.push_back(o.values[measure][step]);
    return out;
  }
  std::size_t stopped(std::size_t cell) const {
    return std::size_t(std::count_if(outcomes_.begin(), outcomes_.end(),
                                     [&](const Outcome& o) { return o.cell == cell && !o.stopped.empty(); }));
  }
  // Of the cells whose name matches, all seeds together; a number stands for itself.
  Side side(const std::string& who, const ClaimSettings& claim, long at) const {
    if (const auto number = number_in(who)) return {{*number, 0}, {}, {}};
    if (!claim.along.empty()) return power(who, claim, at);
    Side out{{NAN, NAN}, 0, {}};
    std::vector<double> all;
    std::set<std::size_t> cells;
    const std::size_t m = measure(claim.measure), k = step(at);
    for (const Outcome& o : outcomes_)
      if (matches(who, experiment_.cells[o.cell].name) && std::isfinite(o.values[m][k])) {
        all.push_back(o.values[m][k]);
        cells.insert(o.cell);
        out.by_seed[o.seed] = o.values[m][k];
      }
    if (cells.size() > 1) out.by_seed.clear();
    if (!all.empty()) out.estimate = row_named(claim.statistic, statistics(), "statistic").of(all);
    out.runs = all.size();
    return out;
  }

 private:
  // With which the statistic of the cells that match grows along an axis.
  Side power(const std::string& who, const ClaimSettings& claim, long at) const {
    const Statistic& statistic = row_named(claim.statistic, statistics(), "statistic");
    std::vector<SlopePoint> points;
    std::size_t runs = 0;
    for (std::size_t c = 0; c < experiment_.cells.size(); ++c) {
      const Cell& cell = experiment_.cells[c];
      const auto x = experiment_.along(cell, claim.along);
      if (!x || !matches(who, cell.name)) continue;
      if (const auto all = values(c, measure(claim.measure), step(at)); !all.empty()) {
        points.push_back({*x, statistic.of(all)});
        runs += all.size();
      }
    }
    return {slope_of(points), runs, {}};
  }

  const Experiment& experiment_;
  const std::vector<Outcome>& outcomes_;
};

// The source's number for a cell and a measure at the k-th tabled step; nan if it gives none.
double published(const Experiment& experiment, std::size_t cell, const std::string& measure, std::size_t k) {
  const std::string& arm = experiment.cells[cell].arm;
  const auto& group = std::get<Value::Group>(experiment.settings.arm.at(arm).published.is);
  const auto at = group.find(measure);
  if (at == group.end()) return NAN;
  std::vector<double> numbers;
  assign(numbers, at->second, "published." + measure);
  const auto first = std::find_if(experiment.cells.begin(), experiment.cells.end(),
                                  [&](const Cell& other) { return other.arm == arm; });
  k += (cell - std::size_t(first - experiment.cells.begin())) * experiment.settings.at.size();
  return k < numbers.size() ? numbers[k] : NAN;
}

// Whether the cells of a grid have rows of their own in the table of numbers. Those of two axes have a table for each
// measure, those of long axes a figure only.
constexpr std::size_t most_rows = 24, most_columns = 12;
bool in_rows(const std::vector<Axis>& axes) {
  return axes.empty() || (axes.size() == 1 && axes[0].values.size() <= most_rows);
}

// The last word of an axis's setting, or all of it where that is not enough.
std::string short_name(const std::vector<Axis>& axes, std::size_t axis) {
  const auto last_word = [](const std::string& setting) { return setting.substr(setting.rfind('.') + 1); };
  const bool same = axes.size() == 2 && last_word(axes[0].setting) == last_word(axes[1].setting);
  return same ? axes[axis].setting : last_word(axes[axis].setting);
}

// The means at the end over a grid of two axes.
void add_grid_tables(const Experiment& experiment, const Results& results, std::vector<NamedTable>& out) {
  for (const auto& [arm, axes] : experiment.axes) {
    if (axes.size() != 2 || axes[0].values.size() > most_rows || axes[1].values.size() > most_columns) continue;
    const std::string rows = short_name(axes, 0), columns = short_name(axes, 1);
    for (std::size_t m = 0; m < experiment.settings.measures.size(); ++m) {
      Table table;
      double largest = 0;
      for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
        const Cell& at = experiment.cells[c];
        if (at.arm != arm) continue;
        const auto values = results.values(c, m, experiment.steps.size() - 1);
        const MeanOf e = values.empty() ? MeanOf{} : mean_of(values);
        if (e.error > largest) largest = e.error;
        if (at.place[1] == axes[1].values.front()) table.row({{rows, at.place[0]}});
        table.rows.back().push_back({fmt::format("{} {:g}", columns, at.place[1]), short_cell(e.value)});
      }
      out.push_back({fmt::format("{}, {}: means at the end; standard errors up to {:.2g}",
                                 experiment.settings.arm.at(arm).label, experiment.settings.measures[m], largest),
                     table});
    }
  }
}

Table numbers_table(const Experiment& experiment, const Results& results) {
  Table out;
  const ExperimentSettings& about = experiment.settings;
  for (std::size_t c = 0; c < experiment.cells.size(); ++c)
    for (std::size_t k = 0; k < about.at.size() && in_rows(experiment.axes.at(experiment.cells[c].arm)); ++k)
      for (std::size_t m = 0; m < about.measures.size(); ++m) {
        const auto values = results.values(c, m, results.step(about.at[k]));
        if (values.empty() && !results.stopped(c)) continue;
        const bool any = !values.empty();
        const MeanOf middle = any ? mean_of(values) : MeanOf{};
        Table::Row row = {{"arm", experiment.label(experiment.cells[c])},
                          {"step", about.at[k]},
                          {"measure", about.measures[m]},
                          {"runs", values.size()},
                          {"mean", short_cell(middle.value)},
                          {"error", short_cell(middle.error)},
                          {"sd", short_cell(any ? deviation(values).value : NAN)},
                          {"least", short_cell(any ? *std::min_element(values.begin(), values.end()) : NAN)},
                          {"most", short_cell(any ? *std::max_element(values.begin(), values.end()) : NAN)},
                          {"published", cell(published(experiment, c, about.measures[m], k))}};
        if (const std::size_t lost = results.stopped(c)) row.push_back({"diverged", lost});
        out.row(std::move(row));
      }
  return out;
}

Table claims_table(const Experiment& experiment, const Results& results) {
  Table out;
  for (const auto& [name, claim] : experiment.settings.claim) {
    const Side more = results.side(claim.more, claim, claim.at);
    const Side than = results.side(claim.than, claim, claim.than_at ? claim.than_at : claim.at);
    const double error = difference_error(more, than, row_named(claim.statistic, statistics(), "statistic"));
    const double difference = more.estimate.value - than.estimate.value;
    out.row({{"claim", claim.says},
             {"measure", fmt::format("{}{} of {}", claim.along.empty() ? "" : "power of " + claim.along + " in the ",
                                     claim.statistic, claim.measure)},
             {"more", short_cell(more.estimate.value)},
             {"than", short_cell(than.estimate.value)},
             {"difference", short_cell(difference)},
             {"error", short_cell(error)},
             {"runs", fewest_runs(more, than)},
             {"verdict", std::string(verdict(difference - claim.by, error))}});
  }
  return out;
}

// Means over the seeds with a band of one standard error.
Figure curves(const Experiment& experiment, const Results& results, std::size_t m) {
  Figure figure;
  figure.name = experiment.settings.measures[m];
  figure.title = figure.name + " while it ran";
  figure.x_label = "step";
  figure.y_label = figure.name;
  figure.caption = "Means over the runs; the band is one standard error.";
  for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
    Curve curve{.name = experiment.label(experiment.cells[c])};
    for (std::size_t k = 0; k < experiment.steps.size(); ++k) {
      const auto values = results.values(c, m, k);
      if (values.empty()) continue;
      const MeanOf e = mean_of(values);
      const double error = std::isnan(e.error) ? 0 : e.error;
      curve.x.push_back(double(experiment.steps[k]));
      curve.y.push_back(e.value);
      curve.low.push_back(e.value - error);
      curve.high.push_back(e.value + error);
    }
    figure.curves.push_back(std::move(curve));
  }
  return figure;
}

// Every run's number, in ascending order: a steep curve is a method that depends on luck.
Figure spread(const Experiment& experiment, const Results& results, std::size_t m) {
  Figure figure;
  figure.name = experiment.settings.measures[m] + "_of_each_run";
  figure.title = experiment.settings.measures[m] + " of each run at the end";
  figure.x_label = "share of the runs";
  figure.y_label = experiment.settings.measures[m];
  figure.caption = "Runs in ascending order: the flatter, the less a method depends on luck.";
  for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
    auto values = results.values(c, m, experiment.steps.size() - 1);
    std::sort(values.begin(), values.end());
    Curve curve{.name = experiment.label(experiment.cells[c]), .y = values};
    for (std::size_t i = 0; i < values.size(); ++i) curve.x.push_back((double(i) + 0.5) / double(values.size()));
    figure.curves.push_back(std::move(curve));
  }
  return figure;
}

// Where the values of an axis are drawn: by factors if they are spaced so, with a 0 one factor below the rest.
struct Scale {
  std::vector<double> at;
  bool log = false;
  std::string caption;
};
Scale scale_of(std::vector<double> values) {
  const std::size_t n = values.size(), first = values[0] == 0 ? 1 : 0;
  if (n < first + 3 || values[0] < 0 || values[n - 1] - values[n - 2] < 1.5 * (values[first + 1] - values[first]))
    return {values, false, ""};
  if (first == 0) return {values, true, ""};
  values[0] = values[1] * values[1] / values[2];
  return {values, true, fmt::format("What stands at {:.2g} was made with 0.", values[0])};
}

// Over an arm's grid: a curve along one axis, in one figure with the other arms that have it; a map along two.
void add_grid_figures(const Experiment& experiment, const Results& results, std::size_t m, std::vector<Figure>& out) {
  const std::string& measure = experiment.settings.measures[m];
  for (const auto& [arm, axes] : experiment.axes) {
    if (axes.empty() || axes.size() > 2) continue;
    const ArmSettings& about = experiment.settings.arm.at(arm);
    const Scale x = scale_of(axes[0].values);
    std::vector<double> z, low, high;
    for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
      if (experiment.cells[c].arm != arm) continue;
      const auto values = results.values(c, m, experiment.steps.size() - 1);
      const MeanOf e = values.empty() ? MeanOf{} : mean_of(values);
      const double error = std::isnan(e.error) ? 0 : e.error;
      z.push_back(e.value);
      low.push_back(e.value - error);
      high.push_back(e.value + error);
    }
    if (std::none_of(z.begin(), z.end(), [](double v) { return std::isfinite(v); })) continue;
    Figure figure;
    figure.x_label = short_name(axes, 0);
    figure.log_x = x.log;
    figure.caption = x.caption;
    if (axes.size() == 1) {
      figure.name = measure + "_over_" + short_name(axes, 0);
      figure.title = fmt::format("{} over {}", measure, short_name(axes, 0));
      figure.y_label = measure;
      auto same = std::find_if(out.begin(), out.end(), [&](const Figure& f) { return f.name == figure.name; });
      if (same == out.end()) same = out.insert(out.end(), std::move(figure));
      same->curves.push_back({.name = about.label, .x = x.at, .y = z, .low = low, .high = high});
      continue;
    }
    const Scale y = scale_of(axes[1].values);
    figure.name = fmt::format("{}_{}", measure, arm);
    figure.title = fmt::format("{} at the end, {}", measure, about.label);
    figure.y_label = short_name(axes, 1);
    figure.log_y = y.log;
    if (!y.caption.empty()) figure.caption += (x.caption.empty() ? "" : " ") + y.caption;
    Map map{.x = x.at, .y = y.at, .z = std::vector<double>(z.size()), .label = measure};
    for (std::size_t i = 0; i < map.x.size(); ++i)  // cells run through the last axis first; a map's rows are its y
      for (std::size_t j = 0; j < map.y.size(); ++j) map.z[j * map.x.size() + i] = z[i * map.y.size() + j];
    figure.map = std::move(map);
    out.push_back(std::move(figure));
  }
}

void add_histograms(const Experiment& experiment, const std::vector<Outcome>& outcomes, std::vector<Figure>& out) {
  const ExperimentSettings& about = experiment.settings;
  for (std::size_t h = 0; h < about.histograms.size(); ++h)
    for (std::size_t k = 0; k < about.at.size(); ++k) {
      Figure figure;
      figure.name = fmt::format("{}_at_{}", about.histograms[h], about.at[k]);
      figure.title = fmt::format("{} at step {}, all runs", about.histograms[h], about.at[k]);
      figure.x_label = "value";
      figure.y_label = "share";
      figure.caption = "The first and last bin hold what lies beyond.";
      for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
        Curve curve{
            .name = experiment.label(experiment.cells[c]), .y = std::vector<double>(histogram_bins), .style = "steps"};
        double all = 0;
        for (const Outcome& o : outcomes) {
          const auto& counts = o.counts[h * about.at.size() + k];
          if (o.cell == c)
            for (std::size_t b = 0; b < counts.size(); ++b) {
              curve.y[b] += double(counts[b]);
              all += double(counts[b]);
            }
        }
        for (std::size_t b = 0; b < histogram_bins; ++b) {
          curve.x.push_back(about.histogram_range * (2 * (double(b) + 0.5) / double(histogram_bins) - 1));
          if (all > 0) curve.y[b] /= all;
        }
        figure.curves.push_back(std::move(curve));
      }
      out.push_back(std::move(figure));
    }
}

void add_classifiers(const Experiment& experiment, const std::vector<Outcome>& outcomes, std::vector<Figure>& out) {
  for (const Outcome& o : outcomes) {
    if (o.map.empty()) continue;
    const Cell& cell = experiment.cells[o.cell];
    Figure figure;
    figure.name = "classifier_" + cell.name;
    figure.title = "Classifier of the first run, " + experiment.label(cell);
    figure.x_label = "x1";
    figure.y_label = "x2";
    figure.equal_axes = true;
    figure.map = Map{.x = o.map_x, .y = o.map_y, .z = o.map, .label = "probability of the second class"};
    out.push_back(std::move(figure));
  }
}

}  // namespace

std::span<const Statistic> statistics() { return all_statistics; }

std::string_view verdict(double excess, double error) {
  if (std::isnan(excess)) return "not measured";
  return excess > 2 * error ? "reproduced" : excess > 0 ? "weaker" : "not reproduced";
}

Finding conclude(const Experiment& experiment, const std::vector<Outcome>& outcomes) {
  const ExperimentSettings& about = experiment.settings;
  const Results results(experiment, outcomes);
  Finding finding{.name = experiment.name, .title = about.title};
  const Table claims = claims_table(experiment, results);
  std::string first;
  for (const std::string_view verdict : {"reproduced", "weaker", "not reproduced", "not measured"}) {
    const auto count = std::count_if(claims.rows.begin(), claims.rows.end(),
                                     [&](const Table::Row& row) { return row.back().second == verdict; });
    if (count) first += fmt::format("{}{} {}", first.empty() ? "" : ", ", count, verdict);
  }
  finding.words.push_back(first.empty() ? "It makes no claim."
                                        : fmt::format("Of {} claims: {}.", claims.rows.size(), first));
  finding.words.push_back("Source: " + about.source + ".");
  if (!about.reading.empty()) finding.words.push_back(about.reading);
  if (!claims.rows.empty()) finding.tables.push_back({"Claims", claims});
  if (Table numbers = numbers_table(experiment, results); !numbers.rows.empty())
    finding.tables.push_back({"Numbers", std::move(numbers)});
  add_grid_tables(experiment, results, finding.tables);
  constexpr std::size_t most_curves = 10;
  for (std::size_t m = 0; m < about.measures.size(); ++m) {
    if (experiment.cells.size() <= most_curves && !row_named(about.measures[m], measures(), "measure").costly) {
      finding.figures.push_back(curves(experiment, results, m));
      if (about.seeds >= 10) finding.figures.push_back(spread(experiment, results, m));
    }
    add_grid_figures(experiment, results, m, finding.figures);
  }
  add_histograms(experiment, outcomes, finding.figures);
  add_classifiers(experiment, outcomes, finding.figures);
  return finding;
}

}  // namespace kelvin
