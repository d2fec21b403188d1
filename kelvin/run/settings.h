// SPDX-License-Identifier: Apache-2.0
// Everything a run file can say.
#pragma once
#include "kelvin/data/batch.h"
#include "kelvin/data/settings.h"
#include "kelvin/dynamics/recipe.h"
#include "kelvin/energy/likelihood.h"
#include "kelvin/energy/tempering.h"
#include "kelvin/ensemble/settings.h"

namespace kelvin {

// How much of the weights is stored. To add a way, add a row in run_settings.cpp.
struct StoredWeights {
  std::string_view name;
  std::string_view from_float, from_double;  // type of the stored numbers; empty: none are
};
std::span<const StoredWeights> stored_weights();

struct StoreSettings {
  static constexpr const char* shorthand = "weights";
  std::string weights = "full";
  bool keep_warmup = false, predictions = false, log_likelihood = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("weights", weights,
          "of every kept draw: full, half (16 bits: about 3 digits, up to 65504) or none; running means and variances "
          "are kept in any case");
    field("keep_warmup", keep_warmup, "keep draws of the warm-up too, apart from the others");
    field("predictions", predictions,
          "keep the network's outputs at every draw, on the test rows if there are any, else on the training rows");
    field("log_likelihood", log_likelihood, "keep minus the loss of each of those rows at every draw");
  }
};

// When to take smaller steps and when to stop, by what the log says.
struct PatienceSettings {
  std::string measure = "validation.loss";
  Choice target;
  long stop_after = 0, reduce_after = 0;
  double factor = 0.1;
  bool used() const { return target.given() || stop_after > 0 || reduce_after > 0; }
  template <class Visit>
  void fields(Visit&& field) {
    field("measure", measure,
          "a number of log.jsonl: potential, or loss, accuracy, rmse or perplexity of a split: validation.loss");
    field("target", target, "stop when the measure has reached this, but not before the end of the warm-up");
    field(
        "stop_after", stop_after,
        "stop after so many lines of the log without a better measure, but not before the end of the warm-up; 0 never");
    field("reduce_after", reduce_after,
          "multiply all steps by factor after so many lines of the log without a better measure; 0 never");
    field("factor", factor, "what steps are multiplied by then");
  }
};

// One walker at a continuum of temperatures (docs/exchange.md).
struct SwitchingSettings {
  static constexpr const char* shorthand = "highest";
  double highest = 0;
  long nodes = 20;
  bool used() const { return highest != 0; }
  template <class Visit>
  void fields(Visit&& field) {
    field("highest", highest,
          "infinite-switch simulated tempering: U is flattened as if its temperature went up to this factor of the one "
          "set; draws carry weights; 0 does not");
    field("nodes", nodes,
          "temperatures it is the sum of: some 8 more than twice the standard deviation of U over the temperature");
  }
};

// A span of the run in which the parts move in their own way.
struct PhaseSettings {
  long steps = 0;
  Choice preset;
  std::map<std::string, PartSettings> part;
  template <class Visit>
  void fields(Visit&& field) {
    field("steps", steps, "steps of this phase, per walker; the last phase goes on to the end of the run");
    field("preset", preset, "as above, for this phase");
    field("part", part, "");
  }
};

struct RunSettings {
  long seed = 1;
  std::string precision;
  long steps = 10000, warmup = 0, every = 0, walkers = 1, row_shares = 1, log_every = 0, checkpoint_every = 0;
  std::string from;
  StoreSettings store;
  DataSettings data;
  ModelSettings model;
  BatchSettings batch;
  Choice preset;
  std::map<std::string, PartSettings> part;
  PatienceSettings patience;
  CouplingSettings coupling;
  ExchangeSettings exchange;
  SwitchingSettings switching;
  AdaptSettings adapt;
  JitterSettings jitter;
  CovarianceSettings covariance;
  TemperingSettings tempering;
  TempoSettings tempo;
  std::vector<PhaseSettings> phase;
  template <class Visit>
  void fields(Visit&& field) {
    field("seed", seed, "the run is a pure function of the settings and this number");
    field("precision", precision, "\"float\" (default for networks) or \"double\" (default for toys)");
    field("steps", steps, "steps after warm-up, per walker; with phases by default all of theirs");
    field("warmup", warmup, "steps before the first draw is kept");
    field("every", every,
          "keep a draw every so many steps; 0 keeps 1000 draws, or the last state only for `kelvin train`");
    field("walkers", walkers, "chains; independent, unless coupling says otherwise");
    field("row_shares", row_shares,
          "take every gradient in so many shares of its rows (1, 2, 4, 8, ...), which the threads or ranks of each "
          "walker share: docs/walkers.md");
    field("log_every", log_every, "steps between lines of log.jsonl; 0 writes 20 of them");
    field("checkpoint_every", checkpoint_every,
          "steps between checkpoints; 0 writes one with every line of log.jsonl and at least every 30 seconds");
    field("from", from,
          "start every block from another run: RUN (its last draw), RUN:draw or RUN:draw:walker, or from a .npz, "
          ".safetensors or .onnx file");
    field("store", store, "");
    field("data", data, "");
    field("model", model, "");
    field("batch", batch, "");
    field("preset", preset,
          "a row of `kelvin list presets`, which fills in what the parts do not say; beside its name, settings for all "
          "parts: { name = \"adlala\", step = 0.25 }");
    field("part", part, "");
    field("patience", patience, "");
    field("coupling", coupling, "");
    field("exchange", exchange, "");
    field("switching", switching, "");
    field("adapt", adapt, "");
    field("jitter", jitter, "");
    field("covariance", covariance, "");
    field("tempering", tempering, "");
    field("tempo", tempo, "");
    field("phase", phase, "");
  }
};

// Gives every part that names no temperature, in every phase, this one.
void fill_in_temperatures(RunSettings&, const Choice&);

// What the commands that start a run take where the run file is silent.
struct RunKind {
  std::string_view name;
  Choice temperature;  // of parts that name none
  long draws;          // that are kept
};
const RunKind& run_kind(std::string_view name);  // "train" or "sample"
void complete(RunSettings&, const RunKind&);

// What the walkers' ensembles are told of it.
EnsembleSettings ensemble_settings(const RunSettings&);

// Reads and checks what does not depend on the data; with no part, one part "all" holds every block.
RunSettings read_run_settings(const Value&);
Value as_value(const RunSettings&);  // compiled once, in settings.cpp

}  // namespace kelvin
