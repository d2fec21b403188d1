// SPDX-License-Identifier: Apache-2.0
// The record of a run: run.json, and the lines of log.jsonl (docs/runs.md).
#pragma once
#include "kelvin/core/record.h"
#include "kelvin/data/dataset.h"
#include "kelvin/ensemble/exchange.h"
#include "kelvin/run/settings.h"

namespace kelvin {

struct ScoreRecord {
  double loss = 0;
  std::optional<double> accuracy, rmse, perplexity = {};
  template <class Visit>
  void fields(Visit&& field) {
    field("loss", loss, "mean loss of a row, without prior");
    field("accuracy", accuracy, "share of the rows whose class is right");
    field("rmse", rmse, "root mean square error, of numeric targets");
    field("perplexity", perplexity, "exp of the loss, where each step of a sequence has a class");
  }
};

// What warm-up found.
struct LearntRecord {
  double pace = 1, friction = 1;
  std::map<std::string, double> step;
  std::optional<std::string> metric;
  std::optional<std::vector<double>> factor;
  std::optional<double> put_back, put_back_later;
  template <class Visit>
  void fields(Visit&& field) {
    field("pace", pace, "what all steps are multiplied by");
    field("friction", friction, "what all frictions are multiplied by");
    field("step", step, "of each part, the step that follows");
    field("metric", metric, "the metric that was learnt");
    field("factor", factor, "widths of the coordinates, if they are few");
    field("put_back", put_back, "times that its energy jumped and it was put back, in the warm-up; none if not given");
    field("put_back_later", put_back_later, "likewise after the warm-up");
  }
};

// ---- log.jsonl

struct PartLine {
  std::optional<double> kinetic_temperature, configurational_temperature, xi;
  std::optional<double> constraint_residual, projection_fallbacks, tangency_residual;
  template <class Visit>
  void fields(Visit&& field) {
    field("kinetic_temperature", kinetic_temperature, "mean over the walkers");
    field("configurational_temperature", configurational_temperature, "mean over the walkers");
    field("xi", xi, "friction of the thermostat, mean over the walkers");
    field("constraint_residual", constraint_residual, "the largest of any walker");
    field("projection_fallbacks", projection_fallbacks, "summed over the walkers");
    field("tangency_residual", tangency_residual, "the largest of any walker");
  }
};

// Means over the walkers at one step.
struct LogLine {
  std::uint64_t step = 0;
  double potential = 0, seconds = 0, rate = 0;
  std::optional<ScoreRecord> train, validation, test;
  std::map<std::string, PartLine> part;
  std::optional<LearntRecord> learnt;
  std::optional<double> acceptance;
  std::optional<std::vector<double>> blending;
  std::optional<ExchangeRecord> exchange;
  Value::Group others;  // what couplings tell that has no field here, by its own name
  template <class Visit>
  void fields(Visit&& field) {
    field("step", step, "steps done, warm-up included");
    field("potential", potential, "U");
    field("train", train, "score on the training rows");
    field("validation", validation, "score on the validation rows");
    field("test", test, "score on the test rows");
    field("part", part, "temperatures and residuals of each part");
    field("learnt", learnt, "what the warm-up of walker 0 has found so far");
    field("acceptance", acceptance, "of the proposals of walker 0");
    field("blending", blending, "of each metric that walkers share");
    field("exchange", exchange, "how positions travel between temperatures");
    field("seconds", seconds, "since the run began");
    field("rate", rate, "steps a second since the line before");
  }
  // Of the rows "train", "validation" or "test"; nullptr if there are none.
  const ScoreRecord* score(std::string_view split) const;
};

// A number by its name, "step", "potential" or "test.loss", if the line has it.
std::optional<double> logged(const LogLine&, std::string_view name);

// ---- run.json

struct LaterScheme {
  std::uint64_t from_step = 0;
  std::string scheme;
  template <class Visit>
  void fields(Visit&& field) {
    field("from_step", from_step, "the first step of the phase");
    field("scheme", scheme, "its letters");
  }
};

struct PartRecord {
  std::string scheme;
  std::size_t size = 0, degrees_of_freedom = 0;
  double temperature = 0, posterior_temperature = 0;
  bool kinetic_temperature_is_exact = false;
  std::optional<std::string> damping;
  std::map<std::string, std::string> constraint;
  std::vector<LaterScheme> later;
  template <class Visit>
  void fields(Visit&& field) {
    field("scheme", scheme, "its letters");
    field("size", size, "numbers in it");
    field("degrees_of_freedom", degrees_of_freedom, "of them, less frozen ones and equations");
    field("temperature", temperature, "T at step 0");
    field("posterior_temperature", posterior_temperature, "N T");
    field("kinetic_temperature_is_exact", kinetic_temperature_is_exact, "at every step length, for a Gaussian target");
    field("damping", damping, "of an adaptive thermostat");
    field("constraint", constraint, "of each block that has one");
    field("later", later, "schemes of later phases");
  }
};

struct TemperingRecord {
  double temperature = 0, mass = 0, friction = 0, round_trip_steps = 0;
  std::vector<std::vector<double>> biases;
  template <class Visit>
  void fields(Visit&& field) {
    field("temperature", temperature, "T that was asked for");
    field("mass", mass, "of alpha");
    field("friction", friction, "of alpha");
    field("round_trip_steps", round_trip_steps, "planned from one end of alpha to the other and back");
    field("biases", biases, "what each walker has learnt");
  }
};

struct UnitsRecord {
  std::vector<double> mean, scale;
  template <class Visit>
  void fields(Visit&& field) {
    field("mean", mean, "that was taken off each column");
    field("scale", scale, "that each column was divided by");
  }
};

struct InputsRecord {
  std::vector<std::string> names;
  UnitsRecord units;
  template <class Visit>
  void fields(Visit&& field) {
    field("names", names, "of the columns");
    field("units", units, "empty if they are as in the file");
  }
};

struct TargetsRecord {
  std::vector<std::string> names, classes;
  std::size_t steps = 0;
  UnitsRecord units;
  template <class Visit>
  void fields(Visit&& field) {
    field("names", names, "of the columns");
    field("units", units, "empty if they are as in the file");
    field("classes", classes, "names of the classes; empty for numbers");
    field("steps", steps, "of a row that have a class each; 0: the row has one target");
  }
};

// A phase that a command began.
struct SteeredPhase {
  std::uint64_t from_step = 0;
  PhaseSettings phase;
  template <class Visit>
  void fields(Visit&& field) {
    field("from_step", from_step, "steps that were done when it began");
    field("phase", phase, "how the parts move from then on");
  }
};

struct RunRecord {
  std::string kelvin, command, command_line, created_at, directory, data_checksum;
  std::optional<std::string> machine, stopped, source;
  RunSettings settings;
  std::size_t rows = 0, parameters = 0;
  std::vector<std::string> blocks, parts;
  std::map<std::string, std::vector<TorchNames>> pytorch;
  std::map<std::string, PartRecord> part;
  InputsRecord inputs;
  TargetsRecord targets;
  std::uint64_t until = 0;
  std::vector<SteeredPhase> steered;
  std::optional<TemperingRecord> tempering;
  std::vector<LearntRecord> learnt;
  std::optional<ExchangeRecord> exchange;
  std::optional<double> seconds;
  std::optional<std::uint64_t> draws;
  std::optional<bool> finished;
  std::optional<LogLine> final;
  template <class Visit>
  void fields(Visit&& field) {
    field("kelvin", kelvin, "version of the program");
    field("command", command, "train or sample; import for draws of another program");
    field("command_line", command_line, "as it was given");
    field("created_at", created_at, "when the run began");
    field("directory", directory, "where it was started: names of files are relative to it");
    field("data_checksum", data_checksum, "of all rows");
    field("machine", machine, "what its speed may depend on");
    field("source", source, "where draws came from that no run of ours made");
    field("settings", settings, "resolved: all of them");
    field("rows", rows, "for training");
    field("parameters", parameters, "numbers in all blocks, running statistics aside");
    field("blocks", blocks, "their names, in order");
    field("pytorch", pytorch, "names that state dicts of PyTorch have for each block of a network");
    field("parts", parts, "their names, in order");
    field("part", part, "what each part is");
    field("inputs", inputs, "columns");
    field("targets", targets, "columns");
    field("until", until, "the last step that is planned, warm-up included");
    field("steered", steered, "phases that were begun by a command while it ran");
    field("tempering", tempering, "of a tempered run");
    field("learnt", learnt, "what the warm-up of each walker found");
    field("exchange", exchange, "how positions travelled between temperatures");
    field("stopped", stopped, "why it stopped before its end");
    field("seconds", seconds, "that it took");
    field("draws", draws, "of each walker");
    field("finished", finished, "once it has");
    field("final", final, "the last line of the log");
  }
  bool has_finished() const { return finished.value_or(false); }
  bool imported() const { return source.has_value(); }  // it tells of draws, and of nothing that made them
};

// Settings keep their own rules: all fields are written, and what they do not know is refused.
inline Value recorded(const RunSettings& settings) { return as_value(settings); }
void read_recorded(RunSettings&, const Value&, const std::string& key);
inline Value recorded(const PhaseSettings& phase) { return as_value(phase); }
void read_recorded(PhaseSettings&, const Value&, const std::string& key);

// Compiled once, in record.cpp.
Value recorded(const RunRecord&);
Value recorded(const LogLine&);
void read_recorded(RunRecord&, const Value&, const std::string& key);
void read_recorded(LogLine&, const Value&, const std::string& key);

}  // namespace kelvin
