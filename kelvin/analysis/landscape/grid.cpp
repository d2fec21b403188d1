// SPDX-License-Identifier: Apache-2.0
// Grids over chosen parameters, which leave a file of numbers.
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "kelvin/analysis/landscape/landscape.h"
#include "kelvin/analysis/landscape/numbers_file.h"
#include "kelvin/core/entry.h"
#include "kelvin/function/block.h"

namespace kelvin {
namespace {

struct GridOptions {
  std::vector<std::string> axis, exclude, of;
  bool relative = false, force = false;
  std::string at, out;
  long most = 100000;
  template <class Visit>
  void fields(Visit&& field) {
    field("axis", axis,
          "entries and where to evaluate: \"layer1.weight[0,1]=-2:2:41\"; with * and ? an axis for each entry that "
          "matches (may be repeated)");
    field("exclude", exclude, "entries that stay at the point although an axis names them, with * and ?");
    field("relative", relative, "axes are relative to the point");
    field("at", at, meaning_of_at);
    field("of", of, meaning_of_quantities);
    field("most", most, "refuse grids of more points than this");
    field("out", out, meaning_of_numbers_file);
    field("force", force, "replace the file that is there");
  }
};

struct Axis {
  std::string name;
  std::size_t place;
  std::vector<double> values;
};

struct AxisRange {
  std::string entries;
  double low, high;
  std::size_t count;
};

AxisRange parse_axis(const std::string& text) {
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

std::vector<Axis> axes_of(const EvaluatedRun& run, const GridOptions& o, const std::vector<double>& centre) {
  if (o.axis.empty()) throw Error("a grid needs at least one --axis, for example \"layer1.weight[0,1]=-2:2:41\"");
  const auto& blocks = run.problem.recipe.blocks;
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
    const AxisRange range = parse_axis(text);
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
  figure.name = name;
  figure.title = name + " on the grid";
  figure.x_label = axes[0].name;
  if (axes.size() == 1) {
    figure.y_label = name;
    figure.curves.push_back({.name = name, .x = axes[0].values, .y = values});
    finding.figures.push_back(std::move(figure));
  } else if (axes.size() == 2 && axes[0].values.size() > 1 && axes[1].values.size() > 1) {
    Map map{.x = axes[0].values, .y = axes[1].values, .style = "contour", .label = name};
    for (std::size_t y = 0; y < map.y.size(); ++y)
      for (std::size_t x = 0; x < map.x.size(); ++x) map.z.push_back(values[x * map.y.size() + y]);
    figure.y_label = axes[1].name;
    figure.map = std::move(map);
    finding.figures.push_back(figure);
    figure.name += "_3d";
    figure.map->style = "surface";
    finding.figures.push_back(std::move(figure));
  }
}

Found find_grid(const Subject& subject, const GridOptions& o, const Progress& progress) {
  const EvaluatedRun run = evaluated_run(subject, progress);
  const auto centre = point_at(run, o.at.empty() ? run.samples.run.string() : o.at);
  const auto axes = axes_of(run, o, centre);
  const std::string file = numbers_file_for(run.samples, {o.out, o.force}, "landscape_grid");
  std::size_t points = 1;
  for (const Axis& axis : axes) points *= axis.values.size();
  // The last axis runs fastest.
  const auto value_at = [&](std::size_t k, std::size_t which) {
    for (std::size_t d = axes.size(); --d > which;) k /= axes[d].values.size();
    return axes[which].values[k % axes[which].values.size()];
  };
  Readings readings(run, o.of, points);
  const auto rows = readings.at(points, [&](std::size_t k, std::span<double> q) {
    std::copy(centre.begin(), centre.end(), q.begin());
    for (std::size_t d = 0; d < axes.size(); ++d) q[axes[d].place] = value_at(k, d);
  });

  std::vector<NumberColumn> columns;
  std::vector<std::size_t> shape;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    shape.push_back(axes[d].values.size());
    NumberColumn& c = columns.emplace_back(NumberColumn{axes[d].name, {}, {axes[d].values.size()}, axes[d].values});
    for (std::size_t k = 0; k < points; ++k) c.each_row.push_back(value_at(k, d));
  }
  Finding finding{.title = "On a grid over parameters"};
  Table table;
  for (std::size_t c = 0; c < readings.quantities().size(); ++c) {
    const std::string& name = readings.quantities()[c].name;
    NumberColumn column{name, {}, shape, {}};
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
  return {finding};
}

}  // namespace

Question ask_grid() { return ask(find_grid); }

}  // namespace kelvin
