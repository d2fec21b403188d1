// SPDX-License-Identifier: Apache-2.0
// A stored run whose draws the test chooses.
#pragma once
#include "kelvin/analysis/stored_run.h"
#include "kelvin/core/toml.h"
#include "kelvin/io/problem.h"
#include "kelvin/trajectory/store.h"
#include "tests/files.h"

namespace kelvin {

template <class Real>
Problem<Real> problem_of(const std::string& toml) {
  return make_problem<Real>(read_run_settings(parse_toml(toml, "test")), [](std::string_view) {});
}

template <class Real>
struct MadeRun {
  Directory directory{in_memory()};
  StoredRun<Real> stored;

  // The draws of every walker in turn, laid out as the recipe's blocks.
  MadeRun(const std::string& toml, const std::vector<std::vector<Real>>& draws) {
    Problem<Real> problem = problem_of<Real>(toml);
    const std::size_t walkers = std::size_t(problem.settings.walkers), each = draws.size() / walkers;
    RunRecord record;
    record.kelvin = "test";
    record.settings = problem.settings;
    for (const Block& b : problem.recipe.blocks) record.blocks.push_back(b.name);
    Reading reading;
    for (const PartRecipe& p : problem.recipe.parts) {
      record.parts.push_back(p.name);
      reading.parts.emplace_back();
    }
    write_record(directory.path(""), record);
    Store<Real> store(directory.path(""), problem, each,
                      {.attributes = {}, .seconds = [] { return 0.0; }, .identity = identity_of(record)});
    for (std::size_t d = 0; d < each * walkers; ++d)
      store.keep({std::uint32_t(d / each), d % each, reading, std::span<const Real>(draws[d])});
    store.finish();
    stored = {open_samples(directory.path("")), std::move(problem)};
  }
  const Dataset& train() const { return stored.problem.data.train; }
};

}  // namespace kelvin
