// SPDX-License-Identifier: Apache-2.0
// `kelvin watch`: follows a run that another process writes.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "apps/cli/command.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin::cli {
namespace {

namespace fs = std::filesystem;

// The last whole line of the log; null if there is none. Only the end of the file is read.
nlohmann::json last_line(const fs::path& log) {
  std::ifstream file(log, std::ios::binary);
  if (!file) return nullptr;
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg(), tail = std::min<std::streamoff>(size, 1 << 16);
  std::string text(std::size_t(tail), '\0');
  file.seekg(size - tail);
  file.read(text.data(), tail);
  while (!text.empty()) {
    const std::size_t end = text.find_last_of('\n');
    if (end == std::string::npos) break;
    text.resize(end);
    const std::size_t begin = text.find_last_of('\n');
    auto line = nlohmann::json::parse(text.substr(begin == std::string::npos ? 0 : begin + 1), nullptr, false);
    if (line.is_object()) return line;
  }
  return nullptr;
}

nlohmann::json state_of(const fs::path& run) {
  const nlohmann::json record = read_record(run);
  nlohmann::json state = {{"run", run.string()}};
  const bool held = RunLock::held(run);
  state["state"] = record.value("finished", false) ? "finished" : held ? "running" : "stopped";
  state["until"] = record.value("until", 0);
  if (fs::exists(run / "manifest.json")) {
    const Manifest manifest = read_manifest(run);
    state["draws"] = *std::min_element(manifest.draws.begin(), manifest.draws.end());
    state["walkers"] = manifest.draws.size();
  }
  state["log"] = last_line(run / "log.jsonl");
  return state;
}

std::string number(const nlohmann::json& x) { return x.is_number() ? fmt::format("{:.6g}", x.get<double>()) : "-"; }

std::string text_of(const nlohmann::json& state) {
  const auto& log = state.at("log");
  std::string text = fmt::format("{}: {}, {} draws of {} walkers\n", state["run"].get<std::string>(),
                                 state["state"].get<std::string>(), state.value("draws", 0), state.value("walkers", 0));
  if (!log.is_object()) return text + "no line in the log yet\n";
  const double step = log.value("step", 0.0), until = std::max(1.0, state["until"].get<double>());
  const double rate = log.contains("rate") && log["rate"].is_number() ? log["rate"].get<double>() : 0;
  text += fmt::format("step {:.0f} of {:.0f} ({:.1f} %), {} steps/s, {} s so far", step, until, 100 * step / until,
                      number(rate), number(log.value("seconds", nlohmann::json())));
  if (state["state"] == "running" && rate > 0) text += fmt::format(", {:.0f} s left", (until - step) / rate);
  text += "\n\n";
  Table scores, parts;
  for (const char* split : {"train", "validation", "test"})
    if (log.contains(split)) {
      Table::Row row = {{"rows", split}};
      for (const auto& [name, x] : log[split].items()) row.emplace_back(name, x);
      scores.row(row);
    }
  if (log.contains("part"))
    for (const auto& [name, numbers] : log["part"].items()) {
      Table::Row row = {{"part", name}};
      for (const auto& [quantity, x] : numbers.items()) row.emplace_back(quantity, x);
      parts.row(row);
    }
  if (!scores.rows.empty()) text += as_text(scores) + "\n";
  if (!parts.rows.empty()) text += as_text(parts);
  text += fmt::format("\nU {}{}\n", number(log.value("potential", nlohmann::json())),
                      log.contains("acceptance") ? ", acceptance " + number(log["acceptance"]) : "");
  return text;
}

struct WatchArguments {
  std::string run;
  bool once = false, json = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("run", run, "directory of a run", argument);
    field("once", once, "show where it is and leave");
    field("json", json, "print JSON, a line for each state");
  }
};

void watch_run(const WatchArguments& arguments) {
  const bool terminal = isatty(STDOUT_FILENO) && !arguments.json;
  for (nlohmann::json shown;;) {
    const nlohmann::json state = state_of(arguments.run);
    const bool last = arguments.once || state["state"] != "running";
    const std::string text = arguments.json ? state.dump() + "\n" : text_of(state);
    if (terminal && !arguments.once) print("\033[H\033[J" + text);
    else if (last || state["log"] != shown) print(text + (arguments.json ? "" : "\n"));
    std::fflush(stdout);
    shown = state["log"];
    if (last) {
      if (state["state"] == "stopped" && !arguments.json) print("to go on: kelvin resume " + arguments.run + "\n");
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace

Command watch_command() {
  return {.name = "watch",
          .summary = "follow a run while it grows, until it ends",
          .footer = "Example:  kelvin watch runs/spiral",
          .call = calls(watch_run)};
}

}  // namespace kelvin::cli
