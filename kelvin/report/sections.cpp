// SPDX-License-Identifier: Apache-2.0
#include "kelvin/report/sections.h"

#include <fmt/ranges.h>

#include <cmath>

#include "kelvin/io/json.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

namespace {

constexpr const char* splits[] = {"train", "validation", "test"};

// What scores are called for a reader, and how they are shown.
struct Scored {
  const char *name, *title, *label;
  double factor;  // from the log's number to the one that is shown
};
constexpr Scored measures[] = {
    {"loss", "Loss", "mean loss per row", 1},
    {"accuracy", "Accuracy", "rows right (%)", 100},
    {"rmse", "Error", "root mean square error", 1},
    {"perplexity", "Perplexity", "exp of the mean loss of a step", 1},
};

// { name = "spiral", rows = 500 } as "spiral (rows 500)"; anything else as it is written.
std::string text_of(const Value& value) {
  if (value.text()) return value.as<std::string>();
  if (value.number()) return fmt::format("{:.6g}", value.as<double>());
  if (const auto* numbers = std::get_if<Value::Numbers>(&value.is))
    return fmt::format("{:.6g}", fmt::join(*numbers, " - "));
  if (const auto* list = std::get_if<Value::List>(&value.is)) {
    std::string text;
    for (const Value& x : *list) text += (text.empty() ? "" : " - ") + text_of(x);
    return text;
  }
  if (!value.group()) return to_json(value);
  std::string numbers;
  for (const auto& [key, x] : value.entries())
    if (key != "name") numbers += (numbers.empty() ? "" : ", ") + key + " " + text_of(x);
  return value.as<std::string>("name", "") + (numbers.empty() ? "" : " (" + numbers + ")");
}

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.3g} s", seconds);
  if (seconds < 6000) return fmt::format("{:.3g} min", seconds / 60);
  return fmt::format("{:.3g} h", seconds / 3600);
}

std::string data_of(const RunRecord& record) {
  const RunSettings& settings = record.settings;
  if (settings.model.toy.given()) return "none: the toy " + text_of(as_value(settings.model.toy));
  const DataSettings& data = settings.data;
  if (data.file.empty() && !data.generator.given()) return "none";
  const std::string from = data.file.empty() ? text_of(as_value(data.generator)) : data.file.text();
  const std::size_t classes = record.targets.classes.size();
  return fmt::format("{}; {} training rows{}", from, record.rows, classes ? fmt::format(", {} classes", classes) : "");
}

std::string network_of(const RunRecord& record) {
  const auto& model = record.settings.model;
  if (!model.own.empty()) return fmt::format("{}, a program's own, {} parameters", model.own, record.parameters);
  if (model.toy.given()) return fmt::format("{} coordinates", record.parameters);
  const std::string between = model.layers.are_sizes() ? " with " + text_of(as_value(model.activation)) : "";
  return fmt::format("{}{}, {} parameters, loss {}", text_of(as_value(model.layers)), between, record.parameters,
                     text_of(as_value(model.loss)));
}

// All that the log says of one measure, by step; empty if it never does.
Curve curve_of(const RunFiles& files, const std::string& split, const Scored& measure) {
  Curve curve{.name = split};
  bool some = false;
  for (const LogLine& line : files.log) {
    curve.x.push_back(double(line.step));
    curve.y.push_back(measure.factor * logged(line, split + "." + measure.name).value_or(NAN));
    some = some || std::isfinite(curve.y.back());
  }
  return some ? curve : Curve{.name = split};
}

Figure figure_of(const Scored& measure, std::vector<Curve> curves) {
  Figure figure{.name = measure.name,
                .title = measure.title,
                .x_label = "step",
                .y_label = measure.label,
                .curves = std::move(curves)};
  double low = INFINITY, high = 0;
  for (const Curve& c : figure.curves)
    for (const double y : c.y)
      if (std::isfinite(y)) {
        low = std::min(low, y);
        high = std::max(high, y);
      }
  figure.log_y = low > 0 && high > 20 * low;
  return figure;
}

// In the order of the run.
std::vector<std::pair<std::string, PartRecord>> parts_of(const RunFiles& files) {
  std::vector<std::pair<std::string, PartRecord>> out;
  for (const std::string& name : files.record.parts) {
    const auto part = files.record.part.find(name);
    if (part == files.record.part.end() || !files.record.settings.part.contains(name))
      throw Error("\"{}\" is damaged: it does not tell of part \"{}\"", (files.run / "run.json").string(), name);
    out.emplace_back(name, part->second);
  }
  return out;
}

std::string state_of(const RunFiles& files) {
  if (files.record.has_finished()) return "finished";
  return RunLock::held(files.run) ? "running" : "stopped before its end";
}

}  // namespace

RunFiles read_run_files(const std::filesystem::path& run) {
  return {run, std::filesystem::weakly_canonical(run).filename().string(), read_record(run), read_log(run)};
}

Finding what_was_run(const RunFiles& files) {
  const RunRecord& record = files.record;
  const RunSettings& settings = record.settings;
  Table facts, parts;
  const auto fact = [&](const char* what, const std::string& value) { facts.row({{"what", what}, {"value", value}}); };
  fact("data", data_of(record));
  fact("network", network_of(record));
  const Value batch = as_value(settings.batch.size);
  fact("prior", settings.model.prior.given() ? text_of(as_value(settings.model.prior)) : "as the parts say");
  fact("batch", batch.text() ? "all rows" : text_of(batch) + " rows a gradient");
  fact("steps", fmt::format("{} of warm-up, then {}; every {} kept", settings.warmup,
                            long(record.until) - settings.warmup, settings.every));
  fact("walkers", text_of(settings.walkers));
  fact("seed", text_of(settings.seed));
  fact("command", record.command_line);
  fact("started", record.created_at);
  if (record.machine) fact("machine", *record.machine);
  fact("state", state_of(files) + (record.seconds ? fmt::format(" after {}", duration(*record.seconds)) : ""));
  fact("version", "Kelvin " + record.kelvin + ", " + settings.precision);
  std::string moves;
  for (const auto& [name, part] : parts_of(files)) {
    const PartSettings& given = settings.part.at(name);
    const double posterior = part.posterior_temperature;
    parts.row({{"part", name},
               {"scheme", part.scheme},
               {"numbers", part.size},
               {"step", text_of(as_value(given.step))},
               {"friction", text_of(as_value(given.friction))},
               {"temperature T", part.temperature},
               {"N T", posterior},
               {"prior", given.prior.given() ? text_of(as_value(given.prior)) : "the network's"}});
    moves +=
        fmt::format("{} \"{}\" moves {} numbers by {} at {}", moves.empty() ? "Part" : "; part", name, part.size,
                    part.scheme, posterior == 0 ? "temperature 0: training" : fmt::format("N T = {:.4g}", posterior));
  }
  Finding finding{
      .name = "run", .title = "What was run", .words = {moves + "."}, .tables = {{"", facts}, {"Parts", parts}}};
  finding.words.push_back(
      "N T = 1 is the Bayes posterior, 0 is training; a step is the time of one pass through the scheme.");
  return finding;
}

Finding learning(const RunFiles& files) {
  Finding finding{.name = "learning", .title = "How it learned"};
  Table final;
  for (const Scored& measure : measures) {
    std::vector<Curve> curves;
    for (const char* split : splits)
      if (Curve c = curve_of(files, split, measure); !c.x.empty()) curves.push_back(std::move(c));
    if (curves.empty()) continue;
    Table::Row row = {{"at the end", measure.title}};
    for (const Curve& c : curves) row.emplace_back(c.name, c.y.back());
    final.row(std::move(row));
    if (finding.words.empty()) {
      const Curve& train = curves.front();
      finding.words.push_back(fmt::format("The {} of the training rows went from {:.3g} to {:.3g}.", measure.label,
                                          train.y.front(), train.y.back()));
      const Curve& held_out = curves.back();
      const auto best = std::min_element(held_out.y.begin(), held_out.y.end());
      if (curves.size() > 1 && *best < 0.8 * held_out.y.back())
        finding.words.push_back(fmt::format("Of the {} rows it was lowest, {:.3g}, at step {:.6g}; it ended at {:.3g}.",
                                            held_out.name, *best, held_out.x[std::size_t(best - held_out.y.begin())],
                                            held_out.y.back()));
    }
    finding.figures.push_back(figure_of(measure, std::move(curves)));
    finding.figures.back().caption = fmt::format(
        "Of single draws, averaged over the walkers{}.",
        files.record.settings.warmup ? fmt::format("; the first {} steps are warm-up", files.record.settings.warmup)
                                     : "");
  }
  if (!final.rows.empty()) finding.tables.push_back({"", final});
  return finding;
}

}  // namespace kelvin
