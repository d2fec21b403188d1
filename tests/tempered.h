// SPDX-License-Identifier: Apache-2.0
// A tempered walker on a toy, as a run file says, without a run directory.
#pragma once
#include "kelvin/core/toml.h"
#include "kelvin/energy/tempered.h"
#include "kelvin/io/problem.h"
#include "kelvin/run/problem.h"
#include "kelvin/run/tempering.h"
#include "kelvin/trajectory/inputs.h"
#include "tests/support.h"

namespace kelvin {

// The double well of the tests, with barriers of 6 T.
inline const std::string well =
    "model = { toy = { name = \"double_well\" } }\npart.all = { step = 0.1, temperature = 0.5 }\n";

inline std::string gaussian_of(long dimension) {
  return fmt::format(
      "model = {{ toy = {{ name = \"gaussian\", dimension = {} }} }}\npart.all = {{ step = 0.1, temperature = 1.0 }}\n",
      dimension);
}

// A law that changes another one.
struct ChangedLaw : Law<double> {
  std::unique_ptr<Law<double>> law;
  explicit ChangedLaw(std::unique_ptr<Law<double>> inner) : law(std::move(inner)) {}
  ChangedLaw(const ChangedLaw& other) : law(other.law->clone()) {}
  double log_weight(std::span<const double> q) const override { return law->log_weight(q); }
  AskedFor asked_for(double energy, std::span<const double> q) const override { return law->asked_for(energy, q); }
  const Block* own_block() const override { return law->own_block(); }
  void place(std::size_t offset) override { law->place(offset); }
  std::span<double> learnt() override { return law->learnt(); }
  Tempered<double>* tempered() override { return law->tempered(); }
};

template <class Real>
struct TemperedWalker {
  Noise<Real> noise;
  std::vector<std::string> said;
  Problem<Real> problem;
  std::unique_ptr<Chain<Real>> chain;
  double delta;

  using Change = std::function<std::unique_ptr<Law<Real>>(std::unique_ptr<Law<Real>>)>;

  // `change`: to spoil the law on purpose.
  explicit TemperedWalker(const std::string& toml, const Change& change = {})
      : problem(make_problem<Real>(piloted<Real>(read_run_settings(parse_toml(toml, "test")), inputs_from(),
                                                 [this](std::string_view s) { said.emplace_back(s); }),
                                   [this](std::string_view s) { said.emplace_back(s); })) {
    if (change) problem.energy->law = change(std::move(problem.energy->law));
    chain = std::make_unique<Chain<Real>>(problem.chain(0, noise));
    chain->start(problem.starting_point(0, {}));
    delta = problem.settings.tempering.delta;
  }
  double alpha() { return double(chain->q()[chain->q().size() - 1]); }
  bool at_target() { return std::abs(alpha()) <= delta; }
};

// Means over the draws at the target, with errors from 50 stretches of the run: ratios of sums.
struct Target {
  std::vector<double> counts = std::vector<double>(50, 0.0);
  std::vector<std::vector<double>> sums;
  explicit Target(std::size_t observables) : sums(observables, std::vector<double>(50, 0.0)) {}
  void see(std::size_t stretch, const std::vector<double>& x) {
    counts[stretch] += 1;
    for (std::size_t k = 0; k < x.size(); ++k) sums[k][stretch] += x[k];
  }
  Estimate of(std::size_t k) const {
    double n = 0, sum = 0, square = 0;
    for (std::size_t b = 0; b < 50; ++b) n += counts[b], sum += sums[k][b];
    Estimate e;
    e.mean = sum / n;
    for (std::size_t b = 0; b < 50; ++b) square += std::pow(sums[k][b] - e.mean * counts[b], 2);
    e.error = std::sqrt(square * 50 / 49) / n;
    return e;
  }
};

}  // namespace kelvin
