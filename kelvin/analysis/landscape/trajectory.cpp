// SPDX-License-Identifier: Apache-2.0
// The draws of a run looked at again, on any rows; leaves a file of numbers.
#include <cmath>

#include "kelvin/analysis/landscape/landscape.h"
#include "kelvin/analysis/landscape/numbers_file.h"

namespace kelvin {
namespace {

struct TrajectoryOptions {
  std::vector<std::string> of;
  long every = 1;
  std::string out;
  bool force = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("of", of, meaning_of_quantities);
    field("every", every, "every so many draws");
    field("out", out, meaning_of_numbers_file);
    field("force", force, "replace the file that is there");
  }
};

Found find_trajectory(const Subject& subject, const TrajectoryOptions& o, const Progress& progress) {
  const EvaluatedRun run = evaluated_run(subject, progress);
  const Samples& samples = run.samples;
  if (o.every < 1) throw Error("--every is {}; it must be at least 1", o.every);
  const std::string file = numbers_file_for(samples, {o.out, o.force}, "landscape_trajectory");
  const std::size_t every = std::size_t(o.every), each = (samples.draws + every - 1) / every;
  std::vector<std::string> names = o.of;
  if (names.empty())
    for (const Observable& q : quantities(run.problem)) names.push_back(q.name);
  Readings readings(run, names, each * samples.walkers);

  std::vector<NumberColumn> columns(3 + names.size());
  columns[0].name = "walker";
  columns[1].name = "draw";
  columns[2].name = "step";
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
  run.each_point(every, [&](std::size_t draw, std::size_t walker, std::span<const double> q) {
    columns[0].each_row.push_back(double(walker));
    columns[1].each_row.push_back(double(draw));
    columns[2].each_row.push_back(steps[walker][draw]);
    waiting.emplace_back(q.begin(), q.end());
    if (waiting.size() >= 16 * run.threads) read();
  });
  read();
  for (NumberColumn& c : columns) c.shape = {c.each_row.size()};

  constexpr std::size_t most_drawn = 1000;  // draws of a walker; the file has them all
  Finding finding{"", "Along the trajectory", {}, {}, {}};
  Table table;
  for (std::size_t c = 3; c < columns.size(); ++c) {
    const auto& values = columns[c].each_row;
    const double n = double(values.size());
    double mean = 0, square = 0, low = INFINITY, high = -INFINITY;
    for (const double x : values) {
      mean += x / n;
      low = std::min(low, x);
      high = std::max(high, x);
    }
    for (const double x : values) square += (x - mean) * (x - mean);
    table.row({{"quantity", columns[c].name},
               {"first", values.front()},
               {"last", values.back()},
               {"mean", mean},
               {"sd", n > 1 ? Table::Cell(std::sqrt(square / (n - 1))) : Table::Cell()},
               {"lowest", low},
               {"highest", high}});
    Figure figure;
    figure.name = columns[c].name;
    figure.title = columns[c].name + " at the draws";
    figure.x_label = "step";
    figure.y_label = columns[c].name;
    for (std::size_t w = 0; w < samples.walkers; ++w) {
      Curve curve{fmt::format("walker {}", w), {}, {}, {}, {}, "line"};
      for (std::size_t k = w * each; k < (w + 1) * each; k += (each + most_drawn - 1) / most_drawn) {
        curve.x.push_back(columns[2].each_row[k]);
        curve.y.push_back(values[k]);
      }
      figure.curves.push_back(std::move(curve));
    }
    finding.figures.push_back(std::move(figure));
  }
  write_columns(file, columns);
  finding.words = {fmt::format("{} draws of {} walkers, written to {}.", each, samples.walkers, file)};
  finding.tables = {{"along the draws", table}};
  return {finding};
}

}  // namespace

Question ask_trajectory() { return ask(find_trajectory); }

}  // namespace kelvin
