// SPDX-License-Identifier: Apache-2.0
// Everything a run file can say.
#pragma once
#include "kelvin/data/batch.h"
#include "kelvin/data/load.h"
#include "kelvin/dynamics/recipe.h"
#include "kelvin/model/network.h"

namespace kelvin {

struct RunSettings {
  long seed = 1;
  std::string precision;
  long steps = 10000, warmup = 0, every = 0, walkers = 1, log_every = 0;
  DataSettings data;
  ModelSettings model;
  BatchSettings batch;
  std::map<std::string, PartSettings> part;
  template <class Visit>
  void fields(Visit&& field) {
    field("seed", seed, "the run is a pure function of the settings and this number");
    field("precision", precision, "\"float\" (default for networks) or \"double\" (default for toys)");
    field("steps", steps, "steps after warm-up, per walker");
    field("warmup", warmup, "steps before the first draw is kept");
    field("every", every,
          "keep a draw every so many steps; 0 keeps 1000 draws, or the last state only for `kelvin train`");
    field("walkers", walkers, "independent chains");
    field("log_every", log_every, "steps between lines of log.jsonl; 0 writes 20 of them");
    field("data", data, "");
    field("model", model, "");
    field("batch", batch, "");
    field("part", part, "");
  }
};

// Reads and checks what does not depend on the data; with no part, one part "all" holds every block.
RunSettings read_run_settings(const Value&);

}  // namespace kelvin
