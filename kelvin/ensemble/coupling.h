// SPDX-License-Identifier: Apache-2.0
// Coupled walkers. A run has a list of couplings, each made from the settings by a row of the table in coupling.cpp.
// Each states when walkers must synchronise (meet), what happens there, what the log records and what a checkpoint
// stores. To add one, write its source and its row.
#pragma once
#include "kelvin/chain/chain.h"
#include "kelvin/core/parallel.h"
#include "kelvin/dynamics/compatible.h"
#include "kelvin/ensemble/comm.h"
#include "kelvin/ensemble/settings.h"

namespace kelvin {

inline constexpr std::uint64_t never = ~std::uint64_t(0);

// What a coupling is made from.
struct CoupledRun {
  const EnsembleSettings& settings;
  const Recipe& recipe;
  Comm& comm;
  const Remark& remark;
};

// Every rank has one, with the walkers `mine` that it has; what ranks say to each other they say at the same meetings.
template <class Real>
class Coupling {
 public:
  using Walkers = std::span<Chain<Real>>;
  virtual ~Coupling() = default;

  // Groups of walkers move in turn, from one meeting to the next, while the others rest.
  virtual std::size_t groups() const { return 1; }
  virtual std::size_t group_of(std::uint32_t /*walker*/) const { return 0; }
  virtual std::uint64_t next_meeting(std::uint64_t after) const = 0;  // the first step after it
  virtual bool due(std::size_t group, std::uint64_t step) const = 0;
  virtual bool reads() const { return false; }  // whether meet looks at the readings of the walkers
  // The walkers of the group are all at `step`.
  virtual void meet(Walkers mine, std::size_t group, std::uint64_t step, Threads&) = 0;

  virtual void part_starts(std::vector<std::vector<Real>>& /*mine*/, std::size_t /*first*/) const {}  // may move them
  virtual void begin(Walkers) const {}                                     // before walkers are started or restored
  virtual bool asked_for(std::uint32_t /*walker*/) const { return true; }  // whether it has the law that was asked for
  virtual void read(Value::Group&) const {}                                // adds what a line of the log tells of it

  virtual std::string state() const = 0;                        // for a checkpoint
  virtual void restore(const std::string& state, Walkers) = 0;  // before the walkers themselves
};

struct CouplingRow {
  std::string_view name;
  std::string_view section;  // of the run file, which asks for it
  Trait trait;               // what it does not go with: dynamics/compatible.cpp
  std::size_t fewest;        // walkers of an ensemble
  bool blends;               // takes coupling.blending, and is none without it
  bool collapses;            // goes with coupling.collapse
  std::span<const Parameter> parameters;
  bool (*asked_for)(const EnsembleSettings&, const CouplingRow&);
  std::unique_ptr<Coupling<float>> (*make_float)(const CoupledRun&);  // null: there is nothing to do
  std::unique_ptr<Coupling<double>> (*make_double)(const CoupledRun&);
  std::string_view meaning;
};
std::span<const CouplingRow> coupling_methods();  // rows of coupling.method

// What the couplings that the settings ask for do to a run.
void add_couplings(Uses&, const EnsembleSettings&);

// Refuses what does not depend on the recipe.
void check_couplings(const CouplingSettings&, long walkers);

// Walkers whose draws belong together, as one chain: those of an ensemble, or each by itself.
std::size_t walkers_together(const CouplingSettings&, std::size_t walkers);

// All couplings of a run.
template <class Real>
class Couplings {
 public:
  Couplings() = default;  // none
  explicit Couplings(const CoupledRun&);
  void add(std::string name, std::unique_ptr<Coupling<Real>>);

  std::size_t groups() const;
  std::size_t group_of(std::uint32_t walker) const;
  std::uint64_t next_meeting(std::uint64_t after) const;
  bool reads() const;
  void meet(std::span<Chain<Real>> mine, std::size_t group, std::uint64_t step, Threads&);
  void part_starts(std::vector<std::vector<Real>>& mine, std::size_t first) const;
  void begin(std::span<Chain<Real>> mine) const;
  bool asked_for(std::uint32_t walker) const;
  void read(Value::Group& line) const;
  std::map<std::string, std::string> states() const;
  void restore(const std::map<std::string, std::string>&, std::span<Chain<Real>> mine);
  template <class Kind>
  Kind* find() const {
    for (const auto& [name, coupling] : list_)
      if (auto* found = dynamic_cast<Kind*>(coupling.get())) return found;
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Coupling<Real>>>> list_;
};

}  // namespace kelvin
