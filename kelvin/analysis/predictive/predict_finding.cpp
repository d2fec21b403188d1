// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/predict_finding.h"

#include <algorithm>
#include <cmath>

namespace kelvin {
namespace {

const Metric* metric_named(std::string_view name, const std::vector<Metric>& metrics) {
  const auto at = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& m) { return m.name == name; });
  return at == metrics.end() ? nullptr : &*at;
}

std::string with_error(const Metric& m) {
  return std::isfinite(m.error) ? fmt::format("{:.4g} +- {:.2g}", m.value, m.error) : fmt::format("{:.4g}", m.value);
}
std::string per_cent(const Metric& m) { return fmt::format("{:.1f} % +- {:.1f} %", 100 * m.value, 100 * m.error); }

std::string verdict(const Predictive& p, const std::vector<Metric>& metrics) {
  std::string text =
      p.classes ? "accuracy " + per_cent(*metric_named("accuracy", metrics)) +
                      fmt::format(", calibrated within {:.1f} %", 100 * metric_named("adaptive_ece", metrics)->value)
                : "rmse " + with_error(*metric_named("rmse", metrics));
  if (const Metric* c = metric_named("coverage_90", metrics))
    text += ", intervals for 90 % hold " + per_cent(*c) + " of the targets";
  if (const Metric* nll = metric_named("nll", metrics)) text += ", nll " + with_error(*nll);
  return text;
}

// ---- tables

void add_cells(Table::Row& row, const std::string& name, const Metric& m) {
  row.emplace_back(name, m.value);
  row.emplace_back(name + " +-", cell(m.error));
}

Table metrics_table(const Predicted& p) {
  Table table;
  for (std::size_t i = 0; i < p.rows.metrics.size(); ++i) {
    const Metric& m = p.rows.metrics[i];
    Table::Row row = {{"metric", m.name}};
    add_cells(row, "average", m);
    add_cells(row, "last draw", p.rows.last_metrics[i]);
    if (p.outside && !p.outside->metrics.empty()) add_cells(row, "outside", p.outside->metrics[i]);
    row.emplace_back("meaning", m.meaning);
    table.row(std::move(row));
  }
  return table;
}

double mean_of_all(const std::vector<double>& x) { return mean_of(x).value; }

// A row for each kind of uncertainty: means over rows, and over targets.
Table uncertainty_table(const Predicted& p) {
  struct Kind {
    const char* name;
    std::vector<double> Predictive::*values;
    const char *of_classes, *of_numbers;
  };
  const Kind kinds[] = {
      {"total", &Predictive::total, "entropy of the mean probabilities, nats", "variance of the mixture"},
      {"aleatoric", &Predictive::aleatoric, "mean entropy of the draws", "mean variance of the noise"},
      {"epistemic", &Predictive::epistemic, "mutual information of class and draw",
       "variance of the means over draws"}};
  Table table;
  for (const Kind& kind : kinds) {
    Table::Row row = {{"uncertainty", kind.name}, {"mean", mean_of_all(p.rows.*kind.values)}};
    if (p.outside) row.emplace_back("outside", mean_of_all((*p.outside).*kind.values));
    row.emplace_back("meaning", p.rows.classes ? kind.of_classes : kind.of_numbers);
    table.row(std::move(row));
  }
  return table;
}

// ---- scores of being outside

struct OutsideScore {
  std::string name, label;
  std::vector<double> Predictive::*uncertainty;
};

// One number a row. Variances of several targets are added in units of their mean over the rows inside.
std::vector<double> row_scores(const Predictive& of, const Predictive& inside, std::vector<double> Predictive::*what) {
  if (of.classes) return of.*what;
  const std::size_t width = of.names.size();
  std::vector<double> unit(width, 1.0), out(of.rows, 0.0);
  if (width > 1) {
    std::fill(unit.begin(), unit.end(), 0.0);
    for (std::size_t i = 0; i < inside.rows * width; ++i)
      unit[i % width] += (inside.*what)[i] / double(inside.rows * width);
  }
  for (std::size_t i = 0; i < of.rows * width; ++i)
    if (unit[i % width] > 0) out[i / width] += (of.*what)[i] / unit[i % width];
  for (double& x : out) x = std::sqrt(x);
  return out;
}

std::vector<OutsideScore> scores_for(const Predictive& p) {
  if (p.classes)
    return {{"entropy", "entropy of the mean probabilities, nats", &Predictive::total},
            {"mutual information", "mutual information, nats", &Predictive::epistemic}};
  const std::string unit = p.names.size() == 1 ? "" : ", relative";
  return {{"sd", "predictive standard deviation" + unit, &Predictive::total},
          {"epistemic sd", "standard deviation of the means over draws" + unit, &Predictive::epistemic}};
}

// ---- figures

constexpr double largest_share = 0.999;  // of the rows, shown in a histogram

// Shares of the rows per bin; the last edge closes the last step.
Curve histogram(const std::string& name, const std::vector<double>& values, double high) {
  constexpr std::size_t bins = 30;
  Curve curve{.name = name, .y = std::vector<double>(bins + 1, 0.0), .style = "steps"};
  for (std::size_t b = 0; b <= bins; ++b) curve.x.push_back(high * double(b) / bins);
  for (const double v : values) curve.y[std::min(bins - 1, std::size_t(v / high * bins))] += 1 / double(values.size());
  return curve;
}

double quantile_of(std::vector<double> x, double level) {
  const auto at = x.begin() + long(level * double(x.size() - 1));
  std::nth_element(x.begin(), at, x.end());
  return *at;
}

Figure uncertainty_figure(const Predicted& p, const OutsideScore& score, std::size_t number) {
  Figure f{.name = fmt::format("uncertainty{}", number),
           .title = "Uncertainty: " + score.name,
           .x_label = score.label,
           .y_label = "share of rows"};
  const auto inside = row_scores(p.rows, p.rows, score.uncertainty);
  std::vector<double> outside;
  if (p.outside) outside = row_scores(*p.outside, p.rows, score.uncertainty);
  double high = quantile_of(inside, largest_share);
  if (!outside.empty()) high = std::max(high, quantile_of(outside, largest_share));
  if (!(high > 0)) high = 1;
  if (p.rows.right.empty()) {
    f.curves.push_back(histogram("rows", inside, high));
  } else {
    std::vector<double> groups[2];
    for (std::size_t i = 0; i < inside.size(); ++i) groups[std::size_t(p.rows.right[i])].push_back(inside[i]);
    if (!groups[1].empty()) f.curves.push_back(histogram("right", groups[1], high));
    if (!groups[0].empty()) f.curves.push_back(histogram("wrong", groups[0], high));
  }
  if (!outside.empty()) f.curves.push_back(histogram("out of distribution", outside, high));
  f.caption = "Rows predicted wrongly, and rows unlike the training data, should lie further right.";
  return f;
}

Curve bins_curve(const std::string& name, const std::vector<Bin>& bins) {
  Curve c{.name = name, .style = "points"};
  for (const Bin& b : bins) {
    const double error = std::sqrt(b.accuracy * (1 - b.accuracy) / double(b.rows));
    c.x.push_back(b.confidence);
    c.y.push_back(b.accuracy);
    c.low.push_back(b.accuracy - error);
    c.high.push_back(b.accuracy + error);
  }
  return c;
}

Figure reliability_figure(const Predictive& p) {
  Figure f{.name = "reliability",
           .title = "Reliability",
           .x_label = "confidence: probability of the predicted class",
           .y_label = "share that is right",
           .caption = "Points below the line: overconfident. Bars are one standard error.",
           .equal_axes = true};
  f.curves.push_back({.name = "calibrated", .x = {0, 1}, .y = {0, 1}, .style = "dashed"});
  f.curves.push_back(bins_curve("bins of equal width", equal_width_bins(p.confidence, p.right, 15)));
  f.curves.push_back(bins_curve("bins of equal mass", equal_mass_bins(p.confidence, p.right, 15)));
  return f;
}

Figure coverage_figure(const Predictive& p) {
  Figure f{.name = "coverage",
           .title = "Coverage",
           .x_label = "probability of the central interval",
           .y_label = "share of targets inside",
           .caption = "Points below the line: intervals are too narrow. Bars are one standard error.",
           .equal_axes = true};
  Curve c{.name = "intervals", .style = "points"};
  for (int k = 1; k < 20; ++k) {
    const MeanOf share = coverage(p.below, k / 20.0);
    c.x.push_back(k / 20.0);
    c.y.push_back(share.value);
    c.low.push_back(share.value - share.error);
    c.high.push_back(share.value + share.error);
  }
  f.curves = {{"calibrated", {0, 1}, {0, 1}, {}, {}, "dashed"}, std::move(c)};
  return f;
}

Curve band_curve(const std::string& name, const Band& band, std::size_t target, const std::vector<double>& variance) {
  Curve c{.name = name, .x = band.inputs};
  const std::size_t width = band.along.names.size();
  for (std::size_t i = target; i < band.along.mean.size(); i += width) {
    const double mean = band.along.mean[i], sd = std::sqrt(variance[i]);
    c.y.push_back(mean);
    c.low.push_back(mean - 2 * sd);
    c.high.push_back(mean + 2 * sd);
  }
  return c;
}

Figure band_figure(const Band& band, std::size_t target, const Dataset& train, bool noise) {
  const std::string& name = band.along.names[target];
  Figure f{.name = "band_" + name,
           .title = "Prediction of " + name,
           .x_label = train.input_names[0],
           .y_label = name,
           .caption = "Mean +- 2 standard deviations. Where there are no data the draws disagree and the band widens."};
  f.curves.push_back(band_curve("total", band, target, band.along.total));
  if (noise) f.curves.push_back(band_curve("noise alone", band, target, band.along.aleatoric));
  Curve points{.name = "training rows", .style = "points"};
  const std::size_t every = 1 + train.rows / 2000;  // more would only cover each other
  for (std::size_t i = 0; i < train.rows; i += every) {
    points.x.push_back(train.input_units.original(0, train.inputs[i]));
    points.y.push_back(train.target_units.original(target, train.targets[i * train.target_count() + target]));
  }
  f.curves.push_back(std::move(points));
  return f;
}

}  // namespace

Dataset band_rows(const Dataset& train, std::size_t points) {
  const auto [low, high] = std::minmax_element(train.inputs.begin(), train.inputs.end());
  const double margin = (*high - *low) / 4, from = *low - margin, range = *high - *low + 2 * margin;
  Dataset out;
  out.rows = points;
  out.input_names = train.input_names;
  out.target_names = train.target_names;
  out.input_units = train.input_units;
  out.target_units = train.target_units;
  for (std::size_t i = 0; i < points; ++i)
    out.inputs.doubles().push_back(from + range * double(i) / double(points - 1));
  return out;
}

Finding predict_finding(const Predicted& p, const Dataset& train) {
  Finding out{.name = "predict", .title = "Predictions"};
  const bool scored = !p.rows.targets.empty();
  if (scored) out.words.push_back(verdict(p.rows, p.rows.metrics));
  const std::string temperature = std::isnan(p.temperature)
                                      ? "temperatures that differ"
                                      : fmt::format("posterior temperature {:.4g}", p.temperature);
  out.words.push_back(fmt::format("{}{}, averaged over {} draws in probability space, at {}", p.rows_are,
                                  scored ? "" : " without targets", p.rows.draws, temperature));
  if (scored) out.words.push_back("the last draw alone: " + verdict(p.rows, p.rows.last_metrics));
  if (!p.noise.empty()) out.words.push_back(p.noise);
  if (scored) out.tables.push_back({"Metrics (+- one standard error over rows)", metrics_table(p)});
  out.tables.push_back({p.rows.classes ? "Uncertainty, mean over rows" : "Uncertainty, mean over rows (variances)",
                        uncertainty_table(p)});
  const auto scores = scores_for(p.rows);
  if (p.outside) {
    Table table;
    for (const OutsideScore& s : scores) {
      const MeanOf a = auroc(row_scores(p.rows, p.rows, s.uncertainty), row_scores(*p.outside, p.rows, s.uncertainty));
      table.row({{"score", s.name}, {"auroc", a.value}, {"+-", a.error}});
      out.words.push_back(
          fmt::format("{} against {} rows out of distribution: auroc {:.3f} +- {:.3f} (0.5 guesses, 1 tells all apart)",
                      s.name, p.outside->rows, a.value, a.error));
    }
    out.tables.push_back({"Out of distribution", std::move(table)});
  }
  if (!p.rows.right.empty()) out.figures.push_back(reliability_figure(p.rows));
  if (!p.rows.below.empty()) out.figures.push_back(coverage_figure(p.rows));
  if (p.band)
    for (std::size_t k = 0; k < p.rows.names.size(); ++k)
      out.figures.push_back(band_figure(*p.band, k, train, mean_of_all(p.rows.aleatoric) > 0));
  for (std::size_t s = 0; s < scores.size(); ++s) out.figures.push_back(uncertainty_figure(p, scores[s], s + 1));
  return out;
}

}  // namespace kelvin
