// SPDX-License-Identifier: Apache-2.0
// Walkers on a toy, coupled as a run file says, without a run directory.
#pragma once
#include "kelvin/core/toml.h"
#include "kelvin/ensemble/exchange.h"
#include "kelvin/ensemble/metric_coupling.h"
#include "kelvin/io/problem.h"
#include "kelvin/run/rounds.h"
#include "tests/support.h"

namespace kelvin {

struct CoupledWalkers {
  Noise<double> noise;
  Problem<double> problem;
  Comm comm;
  std::vector<std::string> said;
  std::vector<Chain<double>> walkers;
  Couplings<double> couplings;

  // `method`: in place of the one that the run file names.
  explicit CoupledWalkers(const std::string& toml, const MetricMethod* method = nullptr)
      : problem(make_problem<double>(read_run_settings(parse_toml(toml, "test")), [](std::string_view) {})) {
    const EnsembleSettings settings = ensemble_settings(problem.settings);
    const Remark say = [this](std::string_view text) { said.emplace_back(text); };
    const CoupledRun run{settings, problem.recipe, comm, say};
    if (method) couplings.add("metric", std::make_unique<MetricCoupling<double>>(run, *method));
    else couplings = Couplings<double>(run);
    for (std::uint32_t w = 0; w < std::uint32_t(problem.settings.walkers); ++w) {
      walkers.push_back(problem.chain(w, noise));
      walkers.back().start(problem.starting_point(w, {}));
    }
  }
  MetricCoupling<double>& metric() { return *couplings.find<MetricCoupling<double>>(); }

  // At a stationary draw of a Gaussian with these curvatures, at temperature 1.
  void settle(const std::vector<double>& stiffness) {
    std::vector<double> q(stiffness.size());
    for (Chain<double>& chain : walkers) {
      normals({stream_key(7, "settle"), chain.walker(), 0, 0}, 0, std::span(q));
      for (std::size_t i = 0; i < q.size(); ++i) q[i] /= std::sqrt(stiffness[i]);
      chain.start(q);
    }
  }

  void run_for(std::uint64_t steps, const Sink<double>& sink, std::size_t threads = 1) {
    Plan plan;
    plan.steps = steps, plan.round = steps, plan.threads = threads;
    kelvin::run<double>(walkers, plan, couplings, sink, [](std::uint64_t) {});
  }
};

}  // namespace kelvin
