// SPDX-License-Identifier: Apache-2.0
#include "kelvin/experiment/outcome.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "kelvin/dynamics/recipe.h"
#include "kelvin/experiment/measure.h"

namespace kelvin {
namespace {

// The error is that of normal numbers: sd / sqrt(2 (n - 1)).
MeanOf deviation(const std::vector<double>& x) {
  const double n = double(x.size()), sd = mean_of(x).error * std::sqrt(n);
  return {sd, sd / std::sqrt(2 * (n - 1))};
}

const Statistic table[] = {
    {"mean", [](const std::vector<double>& x) { return mean_of(x); }},
    {"sd", deviation},
    {"least",
     [](const std::vector<double>& x) {
       return MeanOf{*std::min_element(x.begin(), x.end()), NAN};
     }},
    {"most",
     [](const std::vector<double>& x) {
       return MeanOf{*std::max_element(x.begin(), x.end()), NAN};
     }},
};

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
  MeanOf estimate(const std::string& who, const ClaimSettings& claim) const {
    double number;
    if (const auto [end, error] = std::from_chars(who.data(), who.data() + who.size(), number);
        error == std::errc() && end == who.data() + who.size())
      return {number, 0};
    std::vector<double> all;
    for (std::size_t c = 0; c < experiment_.cells.size(); ++c)
      if (matches(who, experiment_.cells[c].name)) {
        const auto mine = values(c, measure(claim.measure), step(claim.at));
        all.insert(all.end(), mine.begin(), mine.end());
      }
    if (all.empty()) return {NAN, NAN};
    return row_named(claim.statistic, statistics(), "statistic").of(all);
  }

 private:
  const Experiment& experiment_;
  const std::vector<Outcome>& outcomes_;
};

// The source's number for an arm and a measure at the k-th tabled step; nan if it gives none.
double published(const ArmSettings& arm, const std::string& measure, std::size_t k) {
  const auto& group = std::get<Value::Group>(arm.published.is);
  const auto at = group.find(measure);
  if (at == group.end()) return NAN;
  std::vector<double> numbers;
  assign(numbers, at->second, "published." + measure);
  return k < numbers.size() ? numbers[k] : NAN;
}

Table numbers_table(const Experiment& experiment, const Results& results) {
  Table out;
  const ExperimentSettings& about = experiment.settings;
  for (std::size_t c = 0; c < experiment.cells.size(); ++c)
    for (std::size_t k = 0; k < about.at.size(); ++k)
      for (std::size_t m = 0; m < about.measures.size(); ++m) {
        const auto values = results.values(c, m, results.step(about.at[k]));
        if (values.empty() && !results.stopped(c)) continue;
        const bool any = !values.empty();
        const MeanOf middle = any ? mean_of(values) : MeanOf{};
        Table::Row row = {{"arm", experiment.label(experiment.cells[c])},
                          {"step", about.at[k]},
                          {"measure", about.measures[m]},
                          {"runs", values.size()},
                          {"mean", cell(middle.value)},
                          {"error", cell(middle.error)},
                          {"sd", cell(any ? deviation(values).value : NAN)},
                          {"least", cell(any ? *std::min_element(values.begin(), values.end()) : NAN)},
                          {"most", cell(any ? *std::max_element(values.begin(), values.end()) : NAN)},
                          {"published", cell(published(about.arm.at(experiment.cells[c].arm), about.measures[m], k))}};
        if (const std::size_t lost = results.stopped(c)) row.push_back({"diverged", lost});
        out.row(std::move(row));
      }
  return out;
}

Table claims_table(const Experiment& experiment, const Results& results) {
  Table out;
  for (const auto& [name, claim] : experiment.settings.claim) {
    const MeanOf more = results.estimate(claim.more, claim), than = results.estimate(claim.than, claim);
    const double error = std::hypot(std::isnan(more.error) ? 0 : more.error, std::isnan(than.error) ? 0 : than.error);
    out.row({{"claim", claim.says},
             {"measure", claim.statistic + " of " + claim.measure},
             {"more", cell(more.value)},
             {"than", cell(than.value)},
             {"difference", cell(more.value - than.value)},
             {"error", cell(error)},
             {"verdict", std::string(verdict(more.value - than.value - claim.by, error))}});
  }
  return out;
}

// Means over the seeds with a band of one standard error.
Figure curves(const Experiment& experiment, const Results& results, std::size_t m) {
  Figure figure;
  figure.name = experiment.settings.measures[m];
  figure.title = figure.name + " while it ran";
  figure.x_label = "step", figure.y_label = figure.name;
  figure.caption = "Means over the runs; the band is one standard error.";
  for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
    Curve curve{experiment.label(experiment.cells[c]), {}, {}, {}, {}, "line"};
    for (std::size_t k = 0; k < experiment.steps.size(); ++k) {
      const auto values = results.values(c, m, k);
      if (values.empty()) continue;
      const MeanOf e = mean_of(values);
      const double error = std::isnan(e.error) ? 0 : e.error;
      curve.x.push_back(double(experiment.steps[k])), curve.y.push_back(e.value);
      curve.low.push_back(e.value - error), curve.high.push_back(e.value + error);
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
  figure.x_label = "share of the runs", figure.y_label = experiment.settings.measures[m];
  figure.caption = "Runs in ascending order: the flatter, the less a method depends on luck.";
  for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
    auto values = results.values(c, m, experiment.steps.size() - 1);
    std::sort(values.begin(), values.end());
    Curve curve{experiment.label(experiment.cells[c]), {}, values, {}, {}, "line"};
    for (std::size_t i = 0; i < values.size(); ++i) curve.x.push_back((double(i) + 0.5) / double(values.size()));
    figure.curves.push_back(std::move(curve));
  }
  return figure;
}

// Over an arm's grid: a curve along one axis, a map along two.
void add_grid_figures(const Experiment& experiment, const Results& results, std::size_t m, std::vector<Figure>& out) {
  for (const auto& [arm, axes] : experiment.axes) {
    if (axes.empty() || axes.size() > 2) continue;
    const ArmSettings& about = experiment.settings.arm.at(arm);
    Figure figure;
    figure.name = fmt::format("{}_{}", experiment.settings.measures[m], arm);
    figure.title = fmt::format("{} at the end, {}", experiment.settings.measures[m], about.label);
    figure.x_label = axes[0].setting, figure.log_x = axes[0].values.front() > 0;
    std::vector<double> z;
    Curve curve{about.label, axes[0].values, {}, {}, {}, "line"};
    for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
      if (experiment.cells[c].arm != arm) continue;
      const auto values = results.values(c, m, experiment.steps.size() - 1);
      const MeanOf e = values.empty() ? MeanOf{} : mean_of(values);
      z.push_back(e.value);
      curve.low.push_back(e.value - e.error), curve.high.push_back(e.value + e.error);
    }
    if (axes.size() == 1) {
      curve.y = z;
      figure.y_label = experiment.settings.measures[m];
      figure.curves.push_back(std::move(curve));
    } else {
      // Cells run through the last axis first; a map's rows are its y.
      Map map{
          axes[0].values, axes[1].values, std::vector<double>(z.size()), "heat", {}, experiment.settings.measures[m]};
      for (std::size_t i = 0; i < map.x.size(); ++i)
        for (std::size_t j = 0; j < map.y.size(); ++j) map.z[j * map.x.size() + i] = z[i * map.y.size() + j];
      figure.y_label = axes[1].setting, figure.log_y = axes[1].values.front() > 0;
      figure.map = std::move(map);
    }
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
      figure.x_label = "value", figure.y_label = "share";
      figure.caption = "The first and last bin hold what lies beyond.";
      for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
        Curve curve{experiment.label(experiment.cells[c]), {}, std::vector<double>(histogram_bins), {}, {}, "steps"};
        double all = 0;
        for (const Outcome& o : outcomes) {
          const auto& counts = o.counts[h * about.at.size() + k];
          if (o.cell == c)
            for (std::size_t b = 0; b < counts.size(); ++b) curve.y[b] += double(counts[b]), all += double(counts[b]);
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
    figure.x_label = "x1", figure.y_label = "x2", figure.equal_axes = true;
    figure.map = Map{o.map_x, o.map_y, o.map, "heat", {}, "probability of the second class"};
    out.push_back(std::move(figure));
  }
}

}  // namespace

std::span<const Statistic> statistics() { return table; }

std::string_view verdict(double excess, double error) {
  if (std::isnan(excess)) return "not measured";
  return excess > 2 * error ? "reproduced" : excess > 0 ? "weaker" : "not reproduced";
}

Finding conclude(const Experiment& experiment, const std::vector<Outcome>& outcomes) {
  const ExperimentSettings& about = experiment.settings;
  const Results results(experiment, outcomes);
  Finding finding{experiment.name, about.title, {}, {}, {}};
  const Table claims = claims_table(experiment, results);
  std::map<std::string, int> verdicts;
  for (const auto& row : claims.rows) ++verdicts[row.back().second.get<std::string>()];
  std::string first;
  for (const auto& [verdict, count] : verdicts)
    first += fmt::format("{}{} of {} claims {}", first.empty() ? "" : ", ", count, claims.rows.size(), verdict);
  finding.words.push_back(first.empty() ? "It makes no claim" : first + ".");
  finding.words.push_back("Source: " + about.source + ".");
  if (!about.reading.empty()) finding.words.push_back(about.reading);
  if (!claims.rows.empty()) finding.tables.push_back({"Claims", claims});
  finding.tables.push_back({"Numbers", numbers_table(experiment, results)});
  constexpr std::size_t most_curves = 10;
  for (std::size_t m = 0; m < about.measures.size(); ++m) {
    if (row_named(about.measures[m], measures(), "measure").costly) continue;
    if (experiment.cells.size() <= most_curves) {
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
