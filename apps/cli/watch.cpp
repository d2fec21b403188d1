// SPDX-License-Identifier: Apache-2.0
// `kelvin watch`: follows a run that another process writes.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "apps/cli/command.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin::cli {
namespace {

namespace fs = std::filesystem;

struct State {
  std::string run, state;
  std::uint64_t until = 0;
  std::optional<Manifest> manifest;
  std::optional<LogLine> log;
  std::uint64_t draws() const {
    return manifest ? *std::min_element(manifest->draws.begin(), manifest->draws.end()) : 0;
  }
  std::size_t walkers() const { return manifest ? manifest->draws.size() : 0; }
};

State state_of(const fs::path& run) {
  const RunRecord record = read_record(run);
  const bool held = RunLock::held(run);
  State state{.run = run.string(),
              .state = record.has_finished() ? "finished"
                       : held                ? "running"
                                             : "stopped",
              .until = record.until,
              .manifest = {},
              .log = {}};
  if (has_manifest(run)) {
    state.manifest = read_manifest(run);
    check_same_run(run, *state.manifest, record);
  }
  state.log = last_log_line(run, record);
  return state;
}

Value as_value(const State& state) {
  Value::Group out = {{"run", state.run},
                      {"state", state.state},
                      {"until", state.until},
                      {"log", state.log ? recorded(*state.log) : Value()}};
  if (state.manifest) {
    out["draws"] = state.draws();
    out["walkers"] = state.walkers();
  }
  return out;
}

std::string number(double x) { return std::isfinite(x) ? fmt::format("{:.6g}", x) : "-"; }

// A row of what a record holds, after its name.
Table::Row row_of(const char* column, const std::string& name, const Value& record) {
  Table::Row row = {{column, name}};
  if (record.group())
    for (const auto& [quantity, x] : record.entries()) row.emplace_back(quantity, cell(x));
  return row;
}

std::string text_of(const State& state) {
  std::string text =
      fmt::format("{}: {}, {} draws of {} walkers\n", state.run, state.state, state.draws(), state.walkers());
  if (!state.log) return text + "no line in the log yet\n";
  const LogLine& log = *state.log;
  const double step = double(log.step), until = std::max(1.0, double(state.until));
  text += fmt::format("step {:.0f} of {:.0f} ({:.1f} %), {} steps/s, {} s so far", step, until, 100 * step / until,
                      number(log.rate), number(log.seconds));
  if (state.state == "running" && log.rate > 0) text += fmt::format(", {:.0f} s left", (until - step) / log.rate);
  text += "\n\n";
  Table scores, parts;
  for (const char* split : {"train", "validation", "test"})
    if (const ScoreRecord* score = log.score(split)) scores.row(row_of("rows", split, recorded(*score)));
  for (const auto& [name, part] : log.part) parts.row(row_of("part", name, recorded(part)));
  if (!scores.rows.empty()) text += as_text(scores) + "\n";
  if (!parts.rows.empty()) text += as_text(parts);
  text +=
      fmt::format("\nU {}{}\n", number(log.potential), log.acceptance ? ", acceptance " + number(*log.acceptance) : "");
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
  for (std::optional<std::uint64_t> shown;;) {
    const State state = state_of(arguments.run);
    const bool last = arguments.once || state.state != "running";
    const std::string text = arguments.json ? to_json(as_value(state)) + "\n" : text_of(state);
    const auto step = state.log ? std::optional(state.log->step) : std::nullopt;
    if (terminal && !arguments.once) {
      std::fputs("\033[H\033[J", stdout);
      print(text);
    } else if (last || step != shown) print(text + (arguments.json ? "" : "\n"));
    std::fflush(stdout);
    shown = step;
    if (last) {
      if (state.state == "stopped" && !arguments.json) print("to go on: kelvin resume " + arguments.run + "\n");
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
