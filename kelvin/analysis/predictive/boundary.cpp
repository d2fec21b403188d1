// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/boundary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/analysis.h"
#include "kelvin/analysis/predictive/class_map.h"
#include "kelvin/data/generators.h"
#include "kelvin/numeric/mean.h"

namespace kelvin {
namespace {

struct BoundaryOptions {
  std::size_t grid = 400;
  std::vector<double> extent;
  DrawChoice draws;
  std::optional<double> level;
  bool recompute_statistics = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("grid", grid, "nodes along each input");
    field("extent", extent,
          "xmin,xmax,ymin,ymax in the units of the inputs (default: the training rows and 10 % around)", {.count = 4});
    field("draws", draws.which,
          "mean: average probabilities over draws; last, or the number of a draw: of that draw alone");
    field("most", draws.most, "draws to average, evenly spaced", {.range = positive});
    field("level", level, "of the probability of the second of two classes (default 0.5)");
    field("recompute_statistics", recompute_statistics, meaning_of_recomputing);
  }
};

// Log odds bend less than probabilities, so that linear interpolation finds the level more exactly.
double log_odds(double p) {
  p = std::clamp(p, 1e-7, 1 - 1e-7);  // what 32 bits tell from 0 and 1
  return std::log(p / (1 - p));
}

// What the draws of a run say of the plane.
struct RunBoundary {
  std::string run;
  Plane plane;
  ClassMap map;
  double level = 0.5;
  std::vector<Piece> pieces;  // of the average over walkers
  std::vector<Bend> walkers;  // each of its own average
  Bend bend;
  std::vector<MeanOf> steep_x, steep_y;  // at the inner nodes, over walkers
  std::vector<Path> known;
};

double spacing_of(const Plane& plane) { return cells_apart * std::sqrt(plane.dx() * plane.dy()); }

// The boundary where the second of two classes has the probability `level`.
std::vector<Piece> trace(const RunBoundary& seen, const std::vector<double>& z, Map& field) {
  field = seen.plane.map(z, "heat", "");
  double level = seen.level;
  if (seen.map.probabilities) {
    for (double& value : field.z) value = log_odds(value);
    level = log_odds(level);
  }
  std::vector<Piece> pieces;
  for (const Piece& piece : contours(field, level)) pieces.push_back(evenly_spaced(piece, spacing_of(seen.plane)));
  return pieces;
}

template <class Real>
Extent extent_of(const StoredRun<Real>& run) {
  check_plane(run);
  const Dataset& data = run.problem.data.train;
  Extent e = {INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (std::size_t i = 0; i < data.rows; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const double at = data.input_units.original(j, data.inputs[i * data.input_count() + j]);
      e[2 * j] = std::min(e[2 * j], at);
      e[2 * j + 1] = std::max(e[2 * j + 1], at);
    }
  for (std::size_t j = 0; j < 2; ++j) {
    const double wide = e[2 * j + 1] - e[2 * j], around = wide > 0 ? 0.1 * wide : 1;
    e[2 * j] -= around;
    e[2 * j + 1] += around;
  }
  return e;
}

template <class Real>
RunBoundary boundary_of(const StoredRun<Real>& run, const Extent& extent, const BoundaryOptions& options,
                        const std::function<void(double)>& progress) {
  RunBoundary seen{run.samples.run.string(), Plane(extent, options.grid), {}, 0.5, {}, {}, {}, {}, {}, {}};
  seen.map = class_map(run, seen.plane.points(), options.draws, progress);
  if (const Choice& generator = run.problem.settings.data.generator; generator.given())
    seen.known = known_paths(generator);
  seen.level = options.level.value_or(seen.map.threshold);
  if (seen.map.probabilities && !(seen.level > 0 && seen.level < 1))
    throw Error("level {} is no probability; give one between 0 and 1", seen.level);
  if (!seen.map.two()) {
    if (options.level) throw Error("\"{}\" has {} classes; a level is for two", seen.run, seen.map.classes.size());
    return seen;
  }
  Map field;
  std::vector<std::array<std::vector<double>, 2>> steep;
  for (const auto& z : seen.map.walkers) {
    const auto pieces = trace(seen, z, field);
    seen.walkers.push_back(bend_of(pieces, &field));
    steep.push_back(seen.plane.steepness(z));
  }
  seen.pieces = trace(seen, seen.map.mean, field);
  seen.bend = bend_of(seen.pieces, &field);
  for (std::size_t line = 0; line < 2; ++line)
    for (std::size_t i = 0; i + 2 < options.grid; ++i) {
      std::vector<double> values;
      for (const auto& walker : steep) values.push_back(walker[line][i]);
      (line ? seen.steep_y : seen.steep_x).push_back(mean_of(values));
    }
  return seen;
}

Table::Row row(const std::string& of, const Bend& b) {
  return {{"boundary of", of},
          {"pieces", b.pieces},
          {"length", cell(b.length)},
          {"mean_curvature", cell(b.mean)},
          {"sd", cell(b.deviation)},
          {"largest", cell(b.largest)},
          {"by_level_set", cell(b.level_set_mean)}};
}

// Two rows: the mean of some boundaries' numbers, and its standard error.
void add_average(Table& table, const std::string& of, const std::vector<Bend>& bends) {
  Table::Row means = {{"boundary of", "mean of " + of}}, errors = {{"boundary of", "its standard error"}};
  const auto add = [&](const char* name, auto&& value) {
    std::vector<double> values;
    for (const Bend& b : bends)
      if (const double x = double(value(b)); std::isfinite(x)) values.push_back(x);
    const MeanOf s = mean_of(values);
    means.emplace_back(name, cell(values.empty() ? NAN : s.value));
    errors.emplace_back(name, cell(s.error));
  };
  add("pieces", [](const Bend& b) { return b.pieces; });
  add("length", [](const Bend& b) { return b.length; });
  add("mean_curvature", [](const Bend& b) { return b.mean; });
  add("sd", [](const Bend& b) { return b.deviation; });
  add("largest", [](const Bend& b) { return b.largest; });
  add("by_level_set", [](const Bend& b) { return b.level_set_mean; });
  table.row(means);
  table.row(errors);
}

// Few enough numbers for a page, with as many digits as an eye can tell.
Map shown(const Map& map, double smallest) {
  constexpr std::size_t most = 200;
  const std::size_t every = (map.x.size() + most - 1) / most;
  Map out{.style = map.style, .classes = map.classes, .label = map.label};
  for (std::size_t i = 0; i < map.x.size(); i += every) out.x.push_back(map.x[i]);
  for (std::size_t j = 0; j < map.y.size(); j += every) {
    out.y.push_back(map.y[j]);
    for (std::size_t i = 0; i < map.x.size(); i += every)
      out.z.push_back(std::round(map.z[j * map.x.size() + i] / smallest) * smallest);
  }
  return out;
}

template <class Real>
std::vector<Curve> lines_and_points(const RunBoundary& seen, const StoredRun<Real>& run) {
  constexpr std::size_t most = 500;  // points of a class
  const Dataset& data = run.problem.data.train;
  std::vector<Curve> out;
  for (std::size_t k = 0; k < data.classes.size(); ++k) out.push_back({data.classes[k], {}, {}, {}, {}, "points"});
  for (std::size_t i = 0; i < data.rows; ++i)
    if (Curve& c = out[std::size_t(data.targets[i])]; c.x.size() < most) {
      c.x.push_back(data.input_units.original(0, data.inputs[i * data.input_count()]));
      c.y.push_back(data.input_units.original(1, data.inputs[i * data.input_count() + 1]));
    }
  for (const Path& path : seen.known) out.push_back({path.name, path.x, path.y, {}, {}, "dashed"});
  for (const Piece& piece : seen.pieces) {
    Curve line{.name = "boundary", .x = piece.x, .y = piece.y};
    if (piece.closed) {
      line.x.push_back(piece.x[0]);
      line.y.push_back(piece.y[0]);
    }
    out.push_back(std::move(line));
  }
  return out;
}

Figure steepness_figure(const Plane& plane, const std::array<std::vector<MeanOf>, 2>& lines, const std::string& over,
                        const std::array<std::string, 2>& names) {
  Figure f{.name = "cross_sections",
           .title = "Steepness of predictions along the axes",
           .x_label = "position",
           .y_label = "|gradient|"};
  f.caption = "by central differences; a smooth classifier is steep only where classes meet" + over;
  for (std::size_t line = 0; line < 2; ++line) {
    const double across = line ? plane.across_x : plane.across_y;
    Curve c{.name = fmt::format("along {}, at {} = {:g}", names[line], names[1 - line], across)};
    const auto& at = line ? plane.y : plane.x;
    c.x.assign(at.begin() + 1, at.end() - 1);
    for (const MeanOf& s : lines[line]) {
      c.y.push_back(s.value);
      if (std::isnan(s.error)) continue;
      c.low.push_back(s.value - s.error);
      c.high.push_back(s.value + s.error);
    }
    f.curves.push_back(std::move(c));
  }
  return f;
}

std::string bend_words(const std::string& of, const Bend& b) {
  if (b.pieces == 0) return fmt::format("There is no boundary: {} puts the whole extent into one class.", of);
  return fmt::format(
      "The boundary of {} has {} piece{} of total length {:.4g} and a mean curvature of {:.4g} (sd {:.3g}, largest "
      "{:.4g}).",
      of, b.pieces, b.pieces == 1 ? "" : "s", b.length, b.mean, b.deviation, b.largest);
}

std::string how_words(const Plane& plane, double level, const ClassMap& map) {
  return fmt::format(
      "Extent {:.4g} to {:.4g} by {:.4g} to {:.4g}, {} x {} nodes, {}{}; curvature at points {:.3g} apart ({:g} "
      "cells), "
      "which rounds off sharper corners.",
      plane.x.front(), plane.x.back(), plane.y.front(), plane.y.back(), plane.x.size(), plane.y.size(),
      map.probabilities ? "probability " : "output ", level, spacing_of(plane), cells_apart);
}

std::string averaged(const RunBoundary& seen, const Samples& samples, const DrawChoice& choice) {
  const std::string walkers = samples.walkers > 1 ? fmt::format(" of {} walkers", samples.walkers) : "";
  if (choice.which == "mean")
    return fmt::format("the average over {} draw{}{}", seen.map.draws, seen.map.draws == 1 ? "" : "s", walkers);
  return fmt::format("{}{}", choice.which == "last" ? "the last draw" : "draw " + choice.which, walkers);
}

template <class Real>
Finding finding_of(const RunBoundary& seen, const StoredRun<Real>& run, const BoundaryOptions& options) {
  const Dataset& data = run.problem.data.train;
  const std::array names = {data.input_names[0], data.input_names[1]};
  const std::string of = averaged(seen, run.samples, options.draws);
  const ClassMap& map = seen.map;
  Finding out{.name = "boundary", .title = "Decision boundary"};

  const auto figure = [&](std::string name, std::string title, Map z, double smallest, std::string caption) {
    Figure f{.name = std::move(name),
             .title = std::move(title),
             .x_label = names[0],
             .y_label = names[1],
             .curves = lines_and_points(seen, run),
             .caption = std::move(caption),
             .equal_axes = true};
    f.map = shown(z, smallest);
    out.figures.push_back(std::move(f));
  };
  const std::size_t nodes = options.grid * options.grid, width = map.two() ? 1 : map.classes.size();
  std::vector<double> region(nodes), height(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto* z = map.mean.data() + i * width;
    region[i] = map.two() ? double(z[0] >= seen.level) : double(std::max_element(z, z + width) - z);
    height[i] = *std::max_element(z, z + width);
  }
  Map regions = seen.plane.map(region, "classes", "class");
  regions.classes = map.classes;
  figure("regions", "Regions of the classes", regions, 1, "what " + of + " predicts, with training rows");
  const std::string what = map.two() ? fmt::format("probability of {}", map.classes[1]) : "largest probability";
  figure("probability", map.probabilities ? "Probability" : "Output",
         seen.plane.map(height, "heat", map.probabilities ? what : "output"), 1e-4, "of " + of);
  if (!map.information.empty())
    figure("epistemic", "Where draws disagree", seen.plane.map(map.information, "heat", "mutual information (nats)"),
           1e-4, "what more data would settle; high away from the rows");
  if (!map.two()) {
    out.words = {fmt::format("{} classes by {}.", map.classes.size(), of), how_words(seen.plane, seen.level, map)};
    return out;
  }
  out.words = {bend_words(of, seen.bend), how_words(seen.plane, seen.level, map)};
  Table table;
  table.row(row(of, seen.bend));
  if (seen.walkers.size() > 1) {
    for (std::size_t w = 0; w < seen.walkers.size(); ++w) table.row(row(fmt::format("walker {}", w), seen.walkers[w]));
    add_average(table, "walkers", seen.walkers);
  }
  std::vector<Piece> true_pieces;
  for (const Path& path : seen.known)
    if (path.between) true_pieces.push_back(evenly_spaced({path.x, path.y, false}, spacing_of(seen.plane)));
  if (!true_pieces.empty()) table.row(row("the data (known)", bend_of(true_pieces, nullptr)));
  out.tables.push_back({"Curvature", table});
  out.figures.push_back(steepness_figure(seen.plane, {seen.steep_x, seen.steep_y},
                                         seen.walkers.size() > 1 ? "; band: standard error over walkers" : "", names));
  return out;
}

Finding compared(const std::vector<RunBoundary>& runs) {
  Finding out{.name = "boundary", .title = "Decision boundaries of several runs"};
  Table table;
  std::vector<Bend> bends;
  for (const RunBoundary& seen : runs) {
    table.row(row(seen.run, seen.bend));
    bends.push_back(seen.bend);
  }
  add_average(table, "runs", bends);
  std::vector<double> means;
  for (const Bend& b : bends)
    if (std::isfinite(b.mean)) means.push_back(b.mean);
  const MeanOf s = mean_of(means);
  const RunBoundary& first = runs.front();
  out.words = {means.empty()
                   ? std::string("No run has a boundary within the extent.")
                   : fmt::format("Mean curvature over {} runs: {:.4g} +- {:.2g}.", means.size(), s.value, s.error),
               how_words(first.plane, first.level, first.map)};
  out.tables.push_back({"Curvature", table});
  std::array<std::vector<MeanOf>, 2> lines;
  for (std::size_t line = 0; line < 2; ++line)
    for (std::size_t i = 0; i < first.steep_x.size(); ++i) {
      std::vector<double> values;
      for (const RunBoundary& seen : runs) values.push_back((line ? seen.steep_y : seen.steep_x)[i].value);
      lines[line].push_back(mean_of(values));
    }
  out.figures.push_back(
      steepness_figure(first.plane, lines, "; band: standard error over runs", {"first input", "second input"}));
  return out;
}

}  // namespace

Bend bend_of(const std::vector<Piece>& pieces, const Map* field) {
  Bend out;
  double sum = 0, square = 0, by_level_set = 0, counted = 0;
  out.largest = pieces.empty() ? NAN : 0;
  for (const Piece& piece : pieces) {
    ++out.pieces;
    out.length += piece.length();
    for (const double k : curvature(piece)) {
      ++out.points;
      sum += k;
      square += k * k;
      out.largest = std::max(out.largest, k);
    }
    if (!field) continue;
    for (const double k : level_set_curvature(*field, piece))
      if (std::isfinite(k)) {
        by_level_set += k;
        ++counted;
      }
  }
  const double n = double(out.points);
  if (n > 0) {
    out.mean = sum / n;
    out.deviation = std::sqrt(std::max(0.0, square / n - out.mean * out.mean));
  }
  if (counted > 0) out.level_set_mean = by_level_set / counted;
  return out;
}

namespace {

void check_extent(const Extent& e) {
  const bool finite = std::isfinite(e[1] - e[0]) && std::isfinite(e[3] - e[2]);
  if (!(e[0] < e[1] && e[2] < e[3] && finite))
    throw Error("the extent {:g} to {:g} by {:g} to {:g} is empty; give xmin,xmax,ymin,ymax", e[0], e[1], e[2], e[3]);
}

// What holds the training rows of all runs.
Extent extent_of_all(const std::vector<Samples>& runs, const Remark& remark) {
  Extent extent = {INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (const Samples& samples : runs)
    with_stored_run(samples, remark, [&](const auto& run) {
      const Extent e = extent_of(run);
      for (std::size_t k = 0; k < 4; ++k) extent[k] = k % 2 ? std::max(extent[k], e[k]) : std::min(extent[k], e[k]);
    });
  return extent;
}

// One finding for each run, to be kept with it; with several runs of two classes one more that compares them.
Found find_boundary(const Subject& subject, const BoundaryOptions& given, const Progress& progress) {
  const Remark said_when_it_ran = [](std::string_view) {};
  BoundaryOptions options = given;
  if (subject.brief) {
    options.grid = 100;
    options.draws.most = 100;
  }
  if (options.grid < 10 || options.grid > 5000)
    throw Error("a grid of {} x {} nodes is not possible; give 10 to 5000", options.grid, options.grid);
  const std::vector<Samples>& runs = subject.runs;
  Extent extent = extent_of_all(runs, said_when_it_ran);
  if (const auto& e = options.extent; !e.empty()) extent = {e[0], e[1], e[2], e[3]};
  check_extent(extent);
  Found out;
  std::vector<RunBoundary> seen;
  for (std::size_t k = 0; k < runs.size(); ++k)
    with_stored_run(runs[k], said_when_it_ran, [&](auto run) {
      run.recomputes_statistics = options.recompute_statistics;
      RunBoundary one = boundary_of(run, extent, options,
                                    [&](double share) { progress(double(k) + share, double(runs.size()), "runs"); });
      out.each.push_back(finding_of(one, run, options));
      one.map.mean = one.map.information = {};  // large, and not needed any more
      one.map.walkers = {};
      seen.push_back(std::move(one));
    });
  const bool two = std::all_of(seen.begin(), seen.end(), [](const RunBoundary& s) { return !s.steep_x.empty(); });
  out.finding = runs.size() > 1 && two ? compared(seen) : out.each.back();
  return out;
}

}  // namespace

Question ask_boundary() { return ask(find_boundary); }

}  // namespace kelvin
