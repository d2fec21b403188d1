// SPDX-License-Identifier: Apache-2.0
#include "kelvin/ensemble/coupling.h"

#include <algorithm>
#include <cmath>

#include "kelvin/ensemble/exchange.h"
#include "kelvin/ensemble/metric_coupling.h"

namespace kelvin {

template <class Real>
std::unique_ptr<Coupling<Real>> make_stretch(const CoupledRun&);  // stretch.cpp

namespace {

constexpr Parameter scale[] = {{"scale", "2.0", "a, above 1: a stretch goes from 1/a to a"}};

bool is_method(const EnsembleSettings& s, const CouplingRow& row) { return s.coupling.method.name == row.name; }
bool collapses_only(const EnsembleSettings& s, const CouplingRow& row) {
  return is_method(s, row) && s.coupling.collapse != "never";
}
bool has_ladder(const EnsembleSettings& s, const CouplingRow&) { return s.exchange.used(); }

const CouplingRow rows[] = {
    {"none",
     "coupling",
     Trait::shares_metric,
     1,
     true,
     true,
     {},
     collapses_only,
     make_metric<float>,
     make_metric<double>,
     "walkers know nothing of each other"},
    {"ensemble",
     "coupling",
     Trait::shares_metric,
     3,
     true,
     true,
     {},
     is_method,
     make_metric<float>,
     make_metric<double>,
     "each walker moves in the metric of all others of its ensemble; all move at once, so refresh rarely"},
    {"halves",
     "coupling",
     Trait::shares_metric,
     4,
     true,
     false,
     {},
     is_method,
     make_metric<float>,
     make_metric<double>,
     "even and odd walkers move in turn, each in the metric of the resting others: exact however often it is "
     "refreshed"},
    {"stretch", "coupling", Trait::moves_walkers, 4, false, false, scale, is_method, make_stretch<float>,
     make_stretch<double>,
     "every refresh steps, walkers are moved along lines through others of their ensemble, by Metropolis (Goodman and "
     "Weare 2010)"},
    {"exchange",
     "exchange",
     Trait::exchanges,
     2,
     false,
     false,
     {},
     has_ladder,
     make_exchange<float>,
     make_exchange<double>,
     "walkers at several temperatures exchange positions"},
};

template <class Real>
std::unique_ptr<Coupling<Real>> made_by(const CouplingRow& row, const CoupledRun& run) {
  if constexpr (std::is_same_v<Real, float>) return row.make_float(run);
  else return row.make_double(run);
}

}  // namespace

// All but the last, which has a section of its own.
std::span<const CouplingRow> coupling_methods() { return std::span(rows).first(std::size(rows) - 1); }

void add_couplings(Uses& uses, const EnsembleSettings& settings) {
  for (const CouplingRow& row : rows)
    if (row.asked_for(settings, row))
      uses.add(row.trait, row.section == row.name ? fmt::format("[{}]", row.section)
                                                  : fmt::format("{}.method = \"{}\"", row.section, row.name));
}

void check_couplings(const CouplingSettings& s, long walkers) {
  const CouplingRow& method = row_named(s.method.name, coupling_methods(), "coupling", s.method.where);
  s.method.completed(method.parameters, "coupling");
  const Collapse& collapse = row_named(s.collapse, collapses(), "collapse");
  row_named(s.over, coupling_extents(), "extent of a coupling");
  if (!(s.blending >= 0) || !std::isfinite(s.blending))
    throw Error("coupling.blending must be 0 or above, not {}", s.blending);
  if (!(s.spread >= 0)) throw Error("coupling.spread must be 0 or above, not {}", s.spread);
  if (s.refresh < 1) throw Error("coupling.refresh must be at least 1, not {}", s.refresh);
  if (s.ensembles < 1 || walkers % s.ensembles != 0)
    throw Error("{} walkers cannot be shared equally by coupling.ensembles = {}; make one a multiple of the other",
                walkers, s.ensembles);
  if (walkers / s.ensembles < long(method.fewest))
    throw Error("coupling.method = \"{}\" needs at least {} walkers in each ensemble; {} walkers in {} make {}",
                method.name, method.fewest, walkers, s.ensembles, walkers / s.ensembles);
  if (s.blending > 0 && (!method.blends || method.fewest == 1))
    throw Error(
        "coupling.blending = {} does nothing with coupling.method = \"{}\"; choose another row of "
        "`kelvin list couplings`",
        s.blending, method.name);
  if (collapse.place && !method.collapses)
    throw Error(
        "coupling.collapse = \"{}\" moves all walkers at once, but with coupling.method = \"{}\" some rest; use "
        "\"ensemble\" or \"none\"",
        s.collapse, method.name);
}

std::size_t walkers_together(const CouplingSettings& s, std::size_t walkers) {
  const CouplingRow& method = row_named(s.method.name, coupling_methods(), "coupling");
  const bool coupled = method.blends ? s.blending > 0 : method.fewest > 1;
  const bool collapse = row_named(s.collapse, collapses(), "collapse").place;
  return coupled || collapse ? walkers / std::size_t(s.ensembles) : 1;
}

template <class Real>
Couplings<Real>::Couplings(const CoupledRun& run) {
  Uses uses(run.recipe);
  add_couplings(uses, run.settings);
  if (!run.settings.masked_part.empty()) uses.add(Trait::noisy, fmt::format("part.{}.mask", run.settings.masked_part));
  uses.check();
  for (const CouplingRow& row : rows) {
    if (!row.asked_for(run.settings, row)) continue;
    EnsembleSettings settings = run.settings;
    Choice& method = settings.coupling.method;
    if (method.name == row.name) method = method.completed(row.parameters, "coupling");
    add(std::string(row.name), made_by<Real>(row, {settings, run.recipe, run.comm, run.remark}));
  }
}

template <class Real>
void Couplings<Real>::add(std::string name, std::unique_ptr<Coupling<Real>> coupling) {
  if (coupling) list_.emplace_back(std::move(name), std::move(coupling));
}

template <class Real>
std::size_t Couplings<Real>::groups() const {
  std::size_t most = 1;
  for (const auto& [name, coupling] : list_) most = std::max(most, coupling->groups());
  return most;
}

template <class Real>
std::size_t Couplings<Real>::group_of(std::uint32_t walker) const {
  for (const auto& [name, coupling] : list_)
    if (coupling->groups() > 1) return coupling->group_of(walker);
  return 0;
}

template <class Real>
std::uint64_t Couplings<Real>::next_meeting(std::uint64_t after) const {
  std::uint64_t next = never;
  for (const auto& [name, coupling] : list_) next = std::min(next, coupling->next_meeting(after));
  return next;
}

template <class Real>
bool Couplings<Real>::reads() const {
  return std::ranges::any_of(list_, [](const auto& named) { return named.second->reads(); });
}

template <class Real>
void Couplings<Real>::meet(std::span<Chain<Real>> mine, std::size_t group, std::uint64_t step, Threads& threads) {
  for (const auto& [name, coupling] : list_)
    if (coupling->due(group, step)) coupling->meet(mine, group, step, threads);
}

template <class Real>
void Couplings<Real>::part_starts(std::vector<std::vector<Real>>& mine, std::size_t first) const {
  for (const auto& [name, coupling] : list_) coupling->part_starts(mine, first);
}

template <class Real>
void Couplings<Real>::begin(std::span<Chain<Real>> mine) const {
  for (const auto& [name, coupling] : list_) coupling->begin(mine);
}

template <class Real>
bool Couplings<Real>::asked_for(std::uint32_t walker) const {
  return std::ranges::all_of(list_, [&](const auto& named) { return named.second->asked_for(walker); });
}

template <class Real>
void Couplings<Real>::read(Value::Group& line) const {
  for (const auto& [name, coupling] : list_) coupling->read(line);
}

template <class Real>
std::map<std::string, std::string> Couplings<Real>::states() const {
  std::map<std::string, std::string> out;
  for (const auto& [name, coupling] : list_) out[name] = coupling->state();
  return out;
}

template <class Real>
void Couplings<Real>::restore(const std::map<std::string, std::string>& states, std::span<Chain<Real>> mine) {
  for (const auto& [name, coupling] : list_) {
    const auto state = states.find(name);
    if (state == states.end()) throw Error("the checkpoint has no coupling \"{}\", which the settings make", name);
    coupling->restore(state->second, mine);
  }
}

template class Couplings<float>;
template class Couplings<double>;

}  // namespace kelvin
