// SPDX-License-Identifier: Apache-2.0
// Grids over chosen parameters, and the draws of a run looked at again; both leave a file of numbers.
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "kelvin/analysis/landscape.h"
#include "kelvin/core/entry.h"
#include "kelvin/io/npy.h"
#include "kelvin/function/block.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {
namespace {

namespace fs = std::filesystem;

// ---- the file

// A column of a table, and the array that it is in a .npz file.
struct GridColumn {
  std::string name;
  std::vector<double> each_row;
  std::vector<std::size_t> shape;
  std::vector<double> array;  // if empty, each_row
};

void write_columns(const std::string& file, const std::vector<GridColumn>& columns) {
  if (file.ends_with(".npz")) {
    std::map<std::string, ArrayView<double>> arrays;
    for (const GridColumn& c : columns) arrays[c.name] = {c.shape, c.array.empty() ? c.each_row : c.array};
    const std::string part = file + ".part";
    write_npz(part, arrays);
    return fs::rename(part, file);
  }
  std::string text;
  for (const GridColumn& c : columns) {
    const char* quote = c.name.find(',') == std::string::npos ? "" : "\"";
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ",", quote, c.name, quote);
  }
  for (std::size_t k = 0; k < columns.front().each_row.size(); ++k)
    for (std::size_t c = 0; c < columns.size(); ++c)
      text += fmt::format("{}{}", c ? "," : "\n", columns[c].each_row[k]);
  write_file(file, text + "\n");
}

// Before hours of work: the file may be written.
std::string file_for(const Scene& scene, const LandscapeOptions& o, const std::string& name) {
  if (o.out.empty()) {
    make_directories(scene.replay.samples.run / "analysis");
    return (scene.replay.samples.run / "analysis" / (name + ".csv")).string();
  }
  if (!o.out.ends_with(".csv") && !o.out.ends_with(".npz")) throw Error("--out \"{}\" must end in .csv or .npz", o.out);
  if (!o.force && fs::exists(o.out)) throw Error("\"{}\" exists already; replace it with --force", o.out);
  if (const fs::path in = fs::path(o.out).parent_path(); !in.empty() && !fs::is_directory(in))
    throw Error("\"{}\" cannot be written: there is no directory \"{}\"", o.out, in.string());
  return o.out;
}

// ---- grids

struct Axis {
  std::string name;
  std::size_t place;
  std::vector<double> values;
};

struct Range {
  std::string entries;
  double low, high;
  std::size_t count;
};

Range parse_axis(const std::string& text) {
  const auto fail = [&] {
    throw Error(
        "--axis \"{}\" is not understood; write entries, low:high:points, for example layer1.weight[0,1]=-2:2:41",
        text);
  };
  const auto equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) fail();
  double numbers[3] = {};
  const char *at = text.data() + equals + 1, *last = text.data() + text.size();
  for (int k = 0; k < 3; ++k) {
    const auto [end, error] = std::from_chars(at, last, numbers[k]);
    if (error != std::errc() || !std::isfinite(numbers[k]) || (k < 2 ? end == last || *end != ':' : end != last))
      fail();
    at = end + 1;
  }
  if (numbers[2] < 1 || numbers[2] > 1e9 || numbers[2] != std::floor(numbers[2])) fail();
  return {text.substr(0, equals), numbers[0], numbers[1], std::size_t(numbers[2])};
}

// Entries are called layer1.weight[0,1], layer1.bias[3]; a glob may name them or their whole block.
template <class Visit>
void each_entry(std::span<const Block> blocks, const Visit& visit) {
  for (const Block& b : blocks)
    for (std::size_t i = 0; i < b.size(); ++i) visit(b, entry_name(b.name, i, b.shape.extents()), b.offset + i);
}

std::vector<Axis> axes_of(const Scene& scene, const LandscapeOptions& o, const std::vector<double>& centre) {
  if (o.axis.empty()) throw Error("a grid needs at least one --axis, for example \"layer1.weight[0,1]=-2:2:41\"");
  const auto& blocks = scene.replay.problem.recipe.blocks;
  std::vector<std::string> names;
  for (const Block& b : blocks) names.push_back(b.name);
  std::vector<bool> excluded(centre.size()), used(centre.size());
  for (const std::string& glob : o.exclude) {
    bool found = false;
    each_entry(blocks, [&](const Block& b, const std::string& name, std::size_t place) {
      if (matches(glob, name) || matches(glob, b.name)) excluded[place] = found = true;
    });
    if (!found) throw Error("--exclude \"{}\" matches no entry; the blocks are {}", glob, fmt::join(names, ", "));
  }
  std::vector<Axis> axes;
  double points = 1;
  for (const std::string& text : o.axis) {
    const Range range = parse_axis(text);
    bool found = false;
    each_entry(blocks, [&](const Block& b, const std::string& name, std::size_t place) {
      if (!matches(range.entries, name) && !matches(range.entries, b.name)) return;
      found = true;
      if (excluded[place]) return;
      if (used[place]) throw Error("--axis \"{}\": {} has an axis already; name every entry once", text, name);
      used[place] = true;
      points *= double(range.count);
      if (points > double(o.most))
        throw Error(
            "the grid has more than {} points; use fewer points or axes, leave entries out with --exclude, or "
            "raise --most",
            o.most);
      Axis axis{name, place, {}};
      for (std::size_t k = 0; k < range.count; ++k) {
        const double a = range.count == 1 ? 0 : double(k) / double(range.count - 1);
        axis.values.push_back((1 - a) * range.low + a * range.high + (o.relative ? centre[place] : 0));
      }
      axes.push_back(std::move(axis));
    });
    if (!found)
      throw Error(
          "--axis \"{}\" matches no entry; entries are called layer1.weight[0,1] or layer1.bias[3], and the "
          "blocks are {}",
          text, fmt::join(names, ", "));
  }
  if (axes.empty()) throw Error("--exclude leaves no axis; exclude less");
  return axes;
}

// Figures of one or two axes; more cannot be drawn.
void draw(Finding& finding, const std::vector<Axis>& axes, const std::string& name, const std::vector<double>& values) {
  Figure figure;
  figure.name = name, figure.title = name + " on the grid", figure.x_label = axes[0].name;
  if (axes.size() == 1) {
    figure.y_label = name;
    figure.curves.push_back({name, axes[0].values, values, {}, {}, "line"});
    finding.figures.push_back(std::move(figure));
  } else if (axes.size() == 2 && axes[0].values.size() > 1 && axes[1].values.size() > 1) {
    Map map{axes[0].values, axes[1].values, {}, "contour", {}, name};
    for (std::size_t y = 0; y < map.y.size(); ++y)
      for (std::size_t x = 0; x < map.x.size(); ++x) map.z.push_back(values[x * map.y.size() + y]);
    figure.y_label = axes[1].name, figure.map = std::move(map);
    finding.figures.push_back(figure);
    figure.name += "_3d", figure.map->style = "surface";
    finding.figures.push_back(std::move(figure));
  }
}

}  // namespace

Finding landscape_grid(const Scene& scene, const LandscapeOptions& o) {
  const auto centre = point_at(scene, o.at.empty() ? scene.replay.samples.run.string() : o.at);
  const auto axes = axes_of(scene, o, centre);
  const std::string file = file_for(scene, o, "landscape_grid");
  std::size_t points = 1;
  for (const Axis& axis : axes) points *= axis.values.size();
  // The last axis runs fastest.
  const auto value_at = [&](std::size_t k, std::size_t which) {
    for (std::size_t d = axes.size(); --d > which;) k /= axes[d].values.size();
    return axes[which].values[k % axes[which].values.size()];
  };
  Readings readings(scene, o.of, points);
  const auto rows = readings.at(points, [&](std::size_t k, std::span<double> q) {
    std::copy(centre.begin(), centre.end(), q.begin());
    for (std::size_t d = 0; d < axes.size(); ++d) q[axes[d].place] = value_at(k, d);
  });

  std::vector<GridColumn> columns;
  std::vector<std::size_t> shape;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    shape.push_back(axes[d].values.size());
    GridColumn& c = columns.emplace_back(GridColumn{axes[d].name, {}, {axes[d].values.size()}, axes[d].values});
    for (std::size_t k = 0; k < points; ++k) c.each_row.push_back(value_at(k, d));
  }
  Finding finding{"landscape_grid", "On a grid over parameters", {}, {}, {}};
  Table table;
  for (std::size_t c = 0; c < readings.quantities().size(); ++c) {
    const std::string& name = readings.quantities()[c].name;
    GridColumn column{name, {}, shape, {}};
    std::size_t lowest = 0;
    for (std::size_t k = 0; k < points; ++k) {
      column.each_row.push_back(rows[k][c]);
      if (rows[k][c] < column.each_row[lowest] || std::isnan(column.each_row[lowest])) lowest = k;
    }
    Table::Row row = {{"quantity", name}, {"lowest", column.each_row[lowest]}};
    for (std::size_t d = 0; d < axes.size(); ++d) row.push_back({axes[d].name, value_at(lowest, d)});
    table.row(std::move(row));
    draw(finding, axes, name, column.each_row);
    columns.push_back(std::move(column));
  }
  write_columns(file, columns);
  finding.words = {
      fmt::format("{} points on {} {}, written to {}.", points, axes.size(), axes.size() == 1 ? "axis" : "axes", file)};
  finding.tables = {{"lowest points", table}};
  return finding;
}

Finding landscape_trajectory(const Scene& scene, const LandscapeOptions& o) {
  const Samples& samples = scene.replay.samples;
  if (samples.draws == 0)
    throw Error("\"{}\" has no draws; run it for at least `every` steps after warm-up", samples.run.string());
  if (o.every < 1) throw Error("--every is {}; it must be at least 1", o.every);
  const std::string file = file_for(scene, o, "landscape_trajectory");
  const std::size_t every = std::size_t(o.every), each = (samples.draws + every - 1) / every;
  std::vector<std::string> names = o.of;
  if (names.empty())
    for (const Observable& q : quantities(scene.replay.problem)) names.push_back(q.name);
  Readings readings(scene, names, each * samples.walkers);

  std::vector<GridColumn> columns(3 + names.size());
  columns[0].name = "walker", columns[1].name = "draw", columns[2].name = "step";
  for (std::size_t c = 0; c < names.size(); ++c) columns[3 + c].name = names[c];
  std::vector<std::vector<double>> waiting;  // points, until there are enough to share among threads
  const auto read = [&] {
    for (const auto& row : readings.at(waiting.size(), [&](std::size_t k, std::span<double> q) {
           std::copy(waiting[k].begin(), waiting[k].end(), q.begin());
         }))
      for (std::size_t c = 0; c < names.size(); ++c) columns[3 + c].each_row.push_back(row[c]);
    waiting.clear();
  };
  std::vector<std::vector<double>> steps;
  for (std::size_t w = 0; w < samples.walkers; ++w) steps.push_back(samples.statistic("step", w));
  scene.replay.each_point(every, [&](std::size_t draw, std::size_t walker, std::span<const double> q) {
    columns[0].each_row.push_back(double(walker)), columns[1].each_row.push_back(double(draw));
    columns[2].each_row.push_back(steps[walker][draw]);
    waiting.emplace_back(q.begin(), q.end());
    if (waiting.size() >= 16 * scene.threads) read();
  });
  read();
  for (GridColumn& c : columns) c.shape = {c.each_row.size()};

  constexpr std::size_t most_drawn = 1000;  // draws of a walker; the file has them all
  Finding finding{"landscape_trajectory", "Along the trajectory", {}, {}, {}};
  Table table;
  for (std::size_t c = 3; c < columns.size(); ++c) {
    const auto& values = columns[c].each_row;
    const double n = double(values.size());
    double mean = 0, square = 0, low = INFINITY, high = -INFINITY;
    for (const double x : values) mean += x / n, low = std::min(low, x), high = std::max(high, x);
    for (const double x : values) square += (x - mean) * (x - mean);
    table.row({{"quantity", columns[c].name},
               {"first", values.front()},
               {"last", values.back()},
               {"mean", mean},
               {"sd", n > 1 ? Table::Cell(std::sqrt(square / (n - 1))) : Table::Cell()},
               {"lowest", low},
               {"highest", high}});
    Figure figure;
    figure.name = columns[c].name, figure.title = columns[c].name + " at the draws";
    figure.x_label = "step", figure.y_label = columns[c].name;
    for (std::size_t w = 0; w < samples.walkers; ++w) {
      Curve curve{fmt::format("walker {}", w), {}, {}, {}, {}, "line"};
      for (std::size_t k = w * each; k < (w + 1) * each; k += (each + most_drawn - 1) / most_drawn)
        curve.x.push_back(columns[2].each_row[k]), curve.y.push_back(values[k]);
      figure.curves.push_back(std::move(curve));
    }
    finding.figures.push_back(std::move(figure));
  }
  write_columns(file, columns);
  finding.words = {fmt::format("{} draws of {} walkers, written to {}.", each, samples.walkers, file)};
  finding.tables = {{"along the draws", table}};
  return finding;
}

}  // namespace kelvin
