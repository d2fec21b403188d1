// SPDX-License-Identifier: Apache-2.0
// From settings to something that can run: data, potential, recipe and starting points.
#pragma once
#include "kelvin/chain/chain.h"
#include "kelvin/function/initialiser.h"
#include "kelvin/run/environment.h"
#include "kelvin/run/record.h"

namespace kelvin {

// Those who only look at a run have no use for the slack coordinates of its constraints.
enum class Slack { kept, left_out };

template <class Real>
struct Problem {
  RunSettings settings;
  std::shared_ptr<const Model> model;  // what the settings do not say
  Recipe recipe;
  Splits data;                                                      // no rows for a toy
  std::optional<Energy<Real>> energy;                               // U: mean loss plus prior / N
  std::unique_ptr<PlacedLikelihood<Real>> train, validation, test;  // null for a toy, and for splits without rows

  // N: of rows, or of their steps where each has a target.
  double rows() const { return double(std::max<std::size_t>(1, energy->observations())); }
  PlacedFunction<Real> function() const;
  Chain<Real> chain(std::uint32_t walker, const Noise<Real>&) const;
  // Has the recipe follow phases that were begun while it ran, besides those of the settings.
  void steer(const std::vector<SteeredPhase>&);
  // On the manifolds of all constraints; what had to be moved there is remarked.
  std::vector<Real> starting_point(
      std::uint32_t walker, const ReadBlock&, const Remark& = [](std::string_view) {}) const;
};

// With the rows that `load` gives (it is not asked for a toy); kelvin/io/problem.h has one that reads files.
template <class Real>
Problem<Real> make_problem(const RunSettings&, const LoadData& load, const Remark&, Slack = Slack::kept,
                           std::shared_ptr<const Model> = nullptr);

// How the parts move from a step on, if some of them get these settings ("part" of a run file): those not given stay as
// they are at that step. Refuses what cannot change in a run.
PhaseSettings changed_phase(const RunRecord&, std::uint64_t step, const std::map<std::string, Value>& parts);

}  // namespace kelvin
