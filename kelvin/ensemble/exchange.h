// SPDX-License-Identifier: Apache-2.0
// Replica exchange: walkers at several temperatures, a ladder, exchange positions at intervals, so that what the hot
// ones find reaches the cold one. Neighbours i < j do so with probability min(1, exp((1/T_i - 1/T_j)(U_i - U_j))), even
// pairs and odd pairs in turn.
#pragma once
#include "kelvin/ensemble/coupling.h"

namespace kelvin {

// Factors of the temperature set, from 1 up; of one walker, if no ladder is asked for.
std::vector<double> rungs_of(const ExchangeSettings&);

double constant_temperature(const Recipe&, std::string_view who);  // refuses, in the name of `who`, if there is none

// Refuses what makes no ladder. Says how many walkers there are: those of all ladders, `walkers` without.
long check_exchange(const ExchangeSettings&, long walkers, bool walkers_given);

// Logarithm of the chance of a swap between neighbours whose U differ by `energy` (that of the colder one less that of
// the hotter one), known from `samples` independent estimates to within the variance `error` of their mean; b is
// 1/T of the colder one less that of the hotter one. Exact for an error of 0; else the penalty of Ceperley and Dewing
// (1999), which for a known Gaussian error is b^2 error / 2.
double log_swap_chance(double b, double energy, double error = 0, double samples = INFINITY);

// Temperatures between the same ends at which all neighbours would be exchanged equally often, from the share of
// exchanges between the present ones: the rejections add up along the ladder (Syed et al. 2021).
std::vector<double> evened_out(const std::vector<double>& rungs, const std::vector<double>& acceptance);

// What the log tells of it.
struct ExchangeRecord {
  std::vector<double> temperatures, acceptance, rising;
  std::uint64_t attempts = 0;
  double round_trips = 0;
  template <class Visit>
  void fields(Visit&& field) {
    field("temperatures", temperatures, "of a ladder, in units of that asked for");
    field("attempts", attempts, "to exchange positions, since warm-up or since the temperatures were changed");
    field("acceptance", acceptance, "of the attempts of each pair of neighbours");
    field("rising", rising, "share of the positions at each temperature that come from the first");
    field("round_trips", round_trips, "of positions, from the first temperature to the last and back");
  }
};

// Part of the checkpoint. Walker w is on rung w % rungs of ladder w / rungs.
struct ExchangeState {
  std::uint64_t step = 0;             // of the last attempt
  std::uint64_t counted = 0;          // attempts since the warm-up, or since the temperatures were changed
  std::vector<double> rungs;          // the temperatures now
  std::vector<double> chance, swaps;  // of each pair of neighbours, over all ladders: sum of the probabilities, swaps
  std::vector<double> tries;
  std::vector<int> heading;  // of each replica: 1 from the coldest rung, -1 from the hottest, 0 of neither yet
  std::vector<double> rising, headed;  // visits to each rung of replicas that come from the coldest; from either end
  double trips = 0;                    // from the coldest rung to the hottest and back
  template <class Visit>
  void fields(Visit&& field) {
    field(step);
    field(counted);
    field(rungs);
    field(chance);
    field(swaps);
    field(tries);
    field(heading);
    field(rising);
    field(headed);
    field(trips);
  }
};

ExchangeRecord record_of(const ExchangeState&);

template <class Real>
class Exchange final : public Coupling<Real> {
 public:
  using typename Coupling<Real>::Walkers;
  explicit Exchange(const CoupledRun&);
  std::uint64_t every() const { return std::uint64_t(settings_.every); }
  std::uint64_t next_meeting(std::uint64_t after) const override { return after - after % every() + every(); }
  bool due(std::size_t, std::uint64_t step) const override { return step % every() == 0 && state_.step != step; }
  void meet(Walkers mine, std::size_t group, std::uint64_t step, Threads&) override;
  void begin(Walkers) const override;  // gives each its temperature
  bool asked_for(std::uint32_t walker) const override { return walker % rungs_ == 0; }
  void read(Value::Group&) const override;
  std::string state() const override;
  void restore(const std::string&, Walkers) override;
  const ExchangeState& now() const { return state_; }

 private:
  struct Gathered {                             // of each walker
    std::vector<std::vector<double>> energies;  // on each batch
    std::vector<std::uint32_t> replicas;
  };
  Gathered ask(Walkers mine, std::uint64_t sweep, Threads&);
  void move(Walkers mine, const std::vector<std::size_t>& partner, Threads&);
  void follow(const std::vector<std::uint32_t>& replicas);
  void learn(Walkers mine, std::uint64_t step);
  void begin_counting();

  ExchangeSettings settings_;
  BatchSettings batch_;
  std::uint64_t seed_, warmup_;
  std::size_t rungs_, walkers_;
  double temperature_ = 0;  // the one set
  Comm* comm_;
  Remark remark_;
  ExchangeState state_;
};

template <class Real>
std::unique_ptr<Coupling<Real>> make_exchange(const CoupledRun&);

}  // namespace kelvin
