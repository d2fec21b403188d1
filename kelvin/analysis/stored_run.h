// SPDX-License-Identifier: Apache-2.0
// A stored run and its problem, rebuilt from the settings: for analyses that evaluate the network at its draws.
#pragma once
#include <functional>

#include "kelvin/run/problem.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

template <class Real>
struct StoredRun {
  Samples samples;
  Problem<Real> problem;
  bool recomputes_statistics = false;  // running ones, from the training rows, in place of those of the draw
  std::vector<Real> point(std::size_t draw, std::size_t walker) const;  // laid out as the recipe says
  // Every so many draws of each walker in turn, read in pieces; returns how many there were.
  std::size_t each_point(
      std::size_t every,
      const std::function<void(std::size_t draw, std::size_t walker, std::span<const Real> q)>&) const;
  std::vector<Real> start(std::size_t walker) const;  // where the walker began
};

// Of the options of those who ask for it.
inline constexpr std::string_view meaning_of_recomputing =
    "of batch norm: take running means and variances anew for each draw, as the mean over chunks of the training rows, "
    "in order";

// With settings that differ from the run's in their data only; files are looked for from the directory in which the
// run was started.
template <class Real>
StoredRun<Real> stored_run(const Samples&, const RunSettings&, const Remark&);

// Calls work with the run in its own precision.
template <class Work>
void with_stored_run(const Samples& samples, const Remark& remark, Work&& work) {
  const RunSettings& settings = samples.record.settings;
  if (settings.precision == "float") work(stored_run<float>(samples, settings, remark));
  else work(stored_run<double>(samples, settings, remark));
}

}  // namespace kelvin
