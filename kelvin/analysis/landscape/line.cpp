// SPDX-License-Identifier: Apache-2.0
// theta(alpha) = (1 - alpha) theta_i + alpha theta_f, for all blocks at once or some of them with the others at
// theta_f. To group blocks in another way, add a row to `groupings`.
#include <fmt/ranges.h>

#include <cmath>

#include "kelvin/analysis/landscape/landscape.h"
#include "kelvin/dynamics/block_groups.h"

namespace kelvin {
namespace {

struct LineOptions {
  std::string from = "start", to, by = "all";
  std::vector<std::string> of;
  MovingBlocks moving;
  long intervals = 0;
  double tolerance = 0.01;
  template <class Visit>
  void fields(Visit&& field) {
    field("from", from, meaning_of_place);
    field("to", to, meaning_of_end);
    field("of", of, meaning_of_quantities);
    moving.fields(field);
    field("by", by, "one line for all blocks together, or one for each block, layer or group");
    field("intervals", intervals, "equal intervals; by default 50");
    field("tolerance", tolerance, "rises below this share of the line's range do not count");
  }
};

struct Grouping {
  std::string_view name;
  std::string (*line)(const Block&);  // the line that a block belongs to
};
std::string group_of(const Block& b) {
  for (const BlockGroup& group : block_groups())
    if (group.of_role && group.has(b, {})) return std::string(group.name);
  return "others";
}
constexpr Grouping groupings[] = {
    {"all", [](const Block&) -> std::string { return "all"; }},
    {"block", [](const Block& b) { return b.name; }},
    {"layer",
     [](const Block& b) { return b.layer ? fmt::format("layer{}", b.layer) : b.name.substr(0, b.name.find('.')); }},
    {"group", group_of},
};

struct Line {
  std::string name;
  std::vector<const Block*> blocks;
};

std::vector<Line> lines_of(const std::vector<Block>& blocks, const LineOptions& o,
                           const std::function<bool(const Block&)>& moves) {
  const Grouping& grouping = row_named<Grouping>(o.by, groupings, "way to group blocks", "--by");
  std::vector<Line> lines;
  for (const Block* b : chosen_blocks(blocks, o.moving)) {
    if (!moves(*b)) continue;
    const std::string name = grouping.line(*b);
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.name == name; });
    if (line == lines.end()) line = lines.insert(lines.end(), Line{name, {}});
    line->blocks.push_back(b);
  }
  if (lines.empty())
    throw Error("the two ends are the same in all blocks that may move; choose others with --from and --to");
  return lines;
}

// |a - b| over a block; without b, |a|.
double distance(const std::vector<double>& a, const std::vector<double>& b, const Block& block) {
  double square = 0;
  for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
    const double d = a[i] - (b.empty() ? 0 : b[i]);
    square += d * d;
  }
  return std::sqrt(square);
}
Block whole(const std::vector<double>& q) { return {.name = "all", .shape = {q.size()}}; }

// How far each block travels, in units of its length at the start.
Table distances(std::vector<Block> blocks, const std::vector<double>& start, const std::vector<double>& end) {
  blocks.insert(blocks.begin(), whole(start));
  Table table;
  for (const Block& b : blocks) {
    const double way = distance(end, start, b), length = distance(start, {}, b);
    table.row({{"block", b.name}, {"distance", way}, {"length_at_start", length}, {"relative", cell(way / length)}});
  }
  return table;
}

// The quantity that the verdict is about: the first loss, one without prior if there is one.
std::string leading_of(const std::vector<Observable>& quantities) {
  for (const bool prior : {false, true})
    for (const Observable& q : quantities)
      if (q.is_loss() && (q.view == View::potential) == prior) return q.name;
  return "";
}

Figure& figure_named(Finding& finding, const std::string& name) {
  for (Figure& f : finding.figures)
    if (f.name == name) return f;
  Figure& f = finding.figures.emplace_back();
  f.name = name;
  f.title = name + " along the line";
  f.x_label = "alpha";
  f.y_label = name;
  return f;
}

std::string verdict(const std::string& quantity, const std::vector<double>& y, const CurveShape& s,
                    const std::vector<double>& alpha, double chance) {
  const std::string range = fmt::format("{} goes from {:.4g} to {:.4g}", quantity, y.front(), y.back());
  if (s.kind == barrier_kind)
    return fmt::format("{} over a barrier (B): it rises by up to {:.4g} on the way{}.", range, s.increase,
                       s.barrier > 0 ? fmt::format(" and is highest at alpha = {:.3g}, {:.4g} above its start",
                                                   alpha[s.highest], s.barrier)
                                     : ", though never above its start");
  if (s.kind == plateau_kind)
    return fmt::format("{}: {:.0f} % of the line is a plateau at the loss of chance ({:.4g}), then it drops (P).",
                       range, 100 * s.plateau, chance);
  return fmt::format("{} without a barrier (NB).", range);
}

}  // namespace

CurveShape shape_of(std::span<const double> values, double tolerance, double chance) {
  constexpr double plateau_width = 0.05, shortest_plateau = 0.3;
  CurveShape s{-INFINITY, 0, 0, NAN, monotone_kind};
  double lowest = INFINITY, highest = -INFINITY;
  std::size_t level = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (std::isnan(values[k])) continue;
    lowest = std::min(lowest, values[k]);
    s.increase = std::max(s.increase, values[k] - lowest);
    if (values[k] > highest) {
      highest = values[k];
      s.highest = k;
    }
    level += std::abs(values[k] - chance) <= plateau_width * (chance - values.back());
  }
  s.barrier = highest - values.front();
  if (!std::isnan(chance)) s.plateau = double(level) / double(values.size());
  // Rounding alone makes differences of 1e-16 of the values.
  const double rise = std::max(tolerance * (highest - lowest), 1e-12 * std::abs(highest));
  if (s.increase > rise) s.kind = barrier_kind;
  else if (s.plateau >= shortest_plateau) s.kind = plateau_kind;
  return s;
}

namespace {

Found find_line(const Subject& subject, const LineOptions& o, const Progress& progress) {
  const EvaluatedRun run = evaluated_run(subject, progress);
  const Problem<double>& problem = run.problem;
  const std::string to = o.to.empty() ? run.samples.run.string() : o.to;
  if (!(o.tolerance >= 0 && o.tolerance < 1)) throw Error("--tolerance is {}; it must be in [0, 1)", o.tolerance);
  if (o.intervals < 0) throw Error("--intervals is {}; it must be at least 1", o.intervals);
  const auto start = point_at(run, o.from), end = point_at(run, to);
  const auto& blocks = problem.recipe.blocks;
  const auto lines = lines_of(blocks, o, [&](const Block& b) { return distance(start, end, b) > 0; });
  const std::size_t points = std::size_t(o.intervals ? o.intervals : 50) + 1;
  std::vector<double> alpha(points);
  for (std::size_t k = 0; k < points; ++k) alpha[k] = double(k) / double(points - 1);

  Readings readings(run, o.of, lines.size() * points);
  const auto rows = readings.at(lines.size() * points, [&](std::size_t k, std::span<double> q) {
    std::copy(end.begin(), end.end(), q.begin());
    const double a = alpha[k % points];
    for (const Block* b : lines[k / points].blocks)
      for (std::size_t i = b->offset; i < b->offset + b->size(); ++i) q[i] = (1 - a) * start[i] + a * end[i];
  });

  Finding finding{.title = fmt::format("Along the line from {} to {}", o.from, to)};
  const std::string leading = leading_of(readings.quantities());
  Table shapes;
  std::vector<std::string> barriers;
  std::size_t not_finite = 0;
  for (std::size_t c = 0; c < readings.quantities().size(); ++c) {
    const Observable& quantity = readings.quantities()[c];
    const double chance = quantity.score == &Score::loss ? chance_loss(problem, quantity.view) : NAN;
    Figure& figure = figure_named(finding, lines.size() > 1 ? quantity.name : quantity.kind);
    figure.caption = fmt::format("alpha = 0: {}, alpha = 1: {}{}", o.from, to,
                                 lines.size() > 1 ? "; blocks that do not move stay at alpha = 1" : "");
    for (std::size_t l = 0; l < lines.size(); ++l) {
      Curve curve{.name = lines.size() > 1 ? lines[l].name : quantity.name, .x = alpha};
      for (std::size_t k = 0; k < points; ++k) {
        curve.y.push_back(rows[l * points + k][c]);
        not_finite += !std::isfinite(curve.y.back());
      }
      if (quantity.is_loss()) {
        const CurveShape s = shape_of(curve.y, o.tolerance, chance);
        shapes.row({{"line", lines[l].name},
                    {"quantity", quantity.name},
                    {"shape", s.kind},
                    {"first", cell(curve.y.front())},
                    {"last", cell(curve.y.back())},
                    {"barrier", cell(s.barrier)},
                    {"increase", cell(s.increase)},
                    {"highest_at", alpha[s.highest]},
                    {"chance", cell(chance)},
                    {"plateau", cell(s.plateau)}});
        if (quantity.name == leading && s.kind == barrier_kind) barriers.push_back(lines[l].name);
        if (quantity.name == leading && lines.size() == 1)
          finding.words.push_back(verdict(leading, curve.y, s, alpha, chance));
      }
      figure.curves.push_back(std::move(curve));
    }
  }
  if (lines.size() > 1 && !leading.empty())
    finding.words.push_back(barriers.empty()
                                ? fmt::format("None of {} lines has a barrier of {}.", lines.size(), leading)
                                : fmt::format("Barriers of {} on {} of {} lines: {}.", leading, barriers.size(),
                                              lines.size(), fmt::join(barriers, ", ")));
  const double way = distance(end, start, whole(start)), length = distance(start, {}, whole(start));
  finding.words.push_back(
      length > 0 ? fmt::format("The ends are {:.4g} apart, {:.4g} times the length of the first.", way, way / length)
                 : fmt::format("The ends are {:.4g} apart.", way));
  finding.words.push_back(fmt::format(
      "A rise counts above {:g} % of a line's range; barrier = highest - first, increase = the largest rise "
      "from one point to a later one.",
      100 * o.tolerance));
  if (not_finite) finding.words.push_back(fmt::format("{} numbers are not finite; they are left out.", not_finite));
  if (!shapes.rows.empty()) finding.tables.push_back({"shapes", shapes});
  finding.tables.push_back({"distances", distances(blocks, start, end)});
  return {finding};
}

}  // namespace

Question ask_line() { return ask(find_line); }

}  // namespace kelvin
