// SPDX-License-Identifier: Apache-2.0
#include "kelvin/report/sections.h"

#include <cmath>

#include "kelvin/trajectory/samples.h"

namespace kelvin {

using nlohmann::json;

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
};

// { name = "spiral", rows = 500 } as "spiral (rows 500)"; anything else as it is written.
std::string text_of(const json& value) {
  if (value.is_string()) return value;
  if (value.is_number()) return fmt::format("{:.6g}", value.get<double>());
  if (value.is_array()) {
    std::string text;
    for (const json& x : value) text += (text.empty() ? "" : " - ") + text_of(x);
    return text;
  }
  if (!value.is_object()) return value.dump();
  std::string numbers;
  for (const auto& [key, x] : value.items())
    if (key != "name") numbers += (numbers.empty() ? "" : ", ") + key + " " + text_of(x);
  return value.value("name", "") + (numbers.empty() ? "" : " (" + numbers + ")");
}

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.3g} s", seconds);
  if (seconds < 6000) return fmt::format("{:.3g} min", seconds / 60);
  return fmt::format("{:.3g} h", seconds / 3600);
}

std::string data_of(const json& record) {
  const json& settings = record.at("settings");
  const json& toy = settings.at("model").at("toy");
  if (!toy.is_null() && !text_of(toy).empty()) return "none: the toy " + text_of(toy);
  const json& data = settings.at("data");
  const std::string file = data.at("file");
  std::string text = file.empty() ? text_of(data.at("generator")) : file;
  text += fmt::format("; {} training rows", record.at("rows").get<long>());
  const std::size_t classes = record.at("targets").at("classes").size();
  return text + (classes ? fmt::format(", {} classes", classes) : "");
}

std::string network_of(const json& record) {
  const json& model = record.at("settings").at("model");
  const json& toy = model.at("toy");
  if (!toy.is_null() && !text_of(toy).empty())
    return fmt::format("{} coordinates", record.at("parameters").get<long>());
  return fmt::format("{} with {}, {} parameters, loss {}", text_of(model.at("layers")), text_of(model.at("activation")),
                     record.at("parameters").get<long>(), text_of(model.at("loss")));
}

// A number of the log if the line has it.
double logged(const json& line, const std::string& split, const std::string& measure) {
  if (!line.contains(split) || !line[split].contains(measure) || !line[split][measure].is_number()) return NAN;
  return line[split][measure];
}

// All that the log says of one measure, by step; empty if it never does.
Curve curve_of(const RunFiles& files, const std::string& split, const Scored& measure) {
  Curve curve{split, {}, {}, {}, {}, "line"};
  bool some = false;
  for (const json& line : files.log) {
    curve.x.push_back(line.at("step").get<double>());
    curve.y.push_back(measure.factor * logged(line, split, measure.name));
    some = some || std::isfinite(curve.y.back());
  }
  return some ? curve : Curve{split, {}, {}, {}, {}, "line"};
}

Figure figure_of(const Scored& measure, std::vector<Curve> curves) {
  Figure figure{measure.name, measure.title, "step", measure.label, std::move(curves), {}, "", false, false, false};
  double low = INFINITY, high = 0;
  for (const Curve& c : figure.curves)
    for (const double y : c.y)
      if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
  figure.log_y = low > 0 && high > 20 * low;
  return figure;
}

std::string state_of(const RunFiles& files) {
  if (files.record.value("finished", false)) return "finished";
  return RunLock::held(files.run) ? "running" : "stopped before its end";
}

}  // namespace

RunFiles read_run_files(const std::filesystem::path& run) {
  return {run, std::filesystem::weakly_canonical(run).filename().string(), read_record(run), read_log(run)};
}

Finding what_was_run(const RunFiles& files) {
  const json& record = files.record;
  const json& settings = record.at("settings");
  Table facts, parts;
  const auto fact = [&](const char* what, const std::string& value) { facts.row({{"what", what}, {"value", value}}); };
  fact("data", data_of(record));
  fact("network", network_of(record));
  fact("prior", settings.at("model").at("prior").is_null() ? "as the parts say" : text_of(settings["model"]["prior"]));
  fact("batch", settings.at("batch").at("size").is_string() ? "all rows"
                                                            : text_of(settings["batch"]["size"]) + " rows a gradient");
  fact("steps", fmt::format("{} of warm-up, then {}; every {} kept", settings.at("warmup").get<long>(),
                            record.at("until").get<long>() - settings.at("warmup").get<long>(),
                            settings.at("every").get<long>()));
  fact("walkers", text_of(settings.at("walkers")));
  fact("seed", text_of(settings.at("seed")));
  fact("command", record.at("command_line"));
  fact("started", record.at("created_at"));
  if (record.contains("machine")) fact("machine", record["machine"]);
  fact("state",
       state_of(files) +
           (record.contains("seconds") ? fmt::format(" after {}", duration(record["seconds"].get<double>())) : ""));
  fact("version",
       "Kelvin " + record.at("kelvin").get<std::string>() + ", " + settings.at("precision").get<std::string>());
  std::string moves;
  for (const std::string name : record.at("parts")) {
    const json& part = record.at("part").at(name);
    const json& given = settings.at("part").at(name);
    const double posterior = part.at("posterior_temperature");
    parts.row({{"part", name},
               {"scheme", part.at("scheme")},
               {"numbers", part.at("size")},
               {"step", text_of(given.at("step"))},
               {"friction", text_of(given.at("friction"))},
               {"temperature T", part.at("temperature")},
               {"N T", posterior},
               {"prior", given.at("prior").is_null() ? "the network's" : text_of(given["prior"])}});
    moves += fmt::format("{} \"{}\" moves {} numbers by {} at {}", moves.empty() ? "Part" : "; part", name,
                         part.at("size").get<long>(), part.at("scheme").get<std::string>(),
                         posterior == 0 ? "temperature 0: training" : fmt::format("N T = {:.4g}", posterior));
  }
  Finding finding{"run", "What was run", {moves + "."}, {{"", facts}, {"Parts", parts}}, {}};
  finding.words.push_back(
      "N T = 1 is the Bayes posterior, 0 is training; a step is the time of one pass through the scheme.");
  return finding;
}

Finding learning(const RunFiles& files) {
  Finding finding{"learning", "How it learned", {}, {}, {}};
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
        files.record.at("settings").at("warmup").get<long>()
            ? fmt::format("; the first {} steps are warm-up", files.record["settings"]["warmup"].get<long>())
            : "");
  }
  if (!final.rows.empty()) finding.tables.push_back({"", final});
  return finding;
}

}  // namespace kelvin
