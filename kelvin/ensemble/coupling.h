// SPDX-License-Identifier: Apache-2.0
// Walkers that help each other: the covariance of the others' positions, frozen for a while, is the metric in which a
// walker moves (ensemble quasi-Newton; Matthews, Weare and Leimkuhler 2018). To add a way, add a row in coupling.cpp.
#pragma once
#include "kelvin/chain/chain.h"
#include "kelvin/core/parallel.h"
#include "kelvin/ensemble/comm.h"
#include "kelvin/ensemble/exchange.h"
#include "kelvin/ensemble/settings.h"

namespace kelvin {

// Walkers are numbered within their ensemble.
struct CouplingMethod {
  std::string_view name;
  std::size_t groups;                               // that move in turn, walker i in group i % groups
  std::size_t fewest;                               // walkers of an ensemble
  bool (*counts)(std::size_t mine, std::size_t j);  // whether j's position counts in mine's metric; null: there is none
  std::string_view meaning;
};
std::span<const CouplingMethod> coupling_methods();

// Over which stretches of q one covariance is taken.
struct CouplingExtent {
  std::string_view name;
  std::vector<MetricSpan> (*stretches)(const Recipe&);
};
std::span<const CouplingExtent> coupling_extents();

// Where a collapse puts walkers that are at the given points.
struct Collapse {
  std::string_view name;
  double (*place)(std::span<const double> entries);  // of one entry of q, from all walkers'; null: they stay
};
std::span<const Collapse> collapses();

void check_ensembles(const CouplingSettings&, long walkers);

// Walkers whose draws belong together, as one chain: those of an ensemble, or each by itself.
std::size_t walkers_together(const CouplingSettings&, std::size_t walkers);

inline constexpr std::uint64_t never = ~std::uint64_t(0);

// What the metrics of one ensemble and group are made of; part of the checkpoint.
template <class Real>
struct CouplingState {
  std::uint64_t step = never;  // when it was made
  std::uint64_t judge_at = 0;  // when its stability is to be looked at again
  double blending = 0;         // may have been halved since the settings
  std::uint64_t count = 0;
  std::vector<Real> points;  // about their mean, one after another
  template <class Visit>
  void fields(Visit&& field) {
    field(step), field(judge_at), field(blending), field(count), field(points);
  }
};

template <class Real>
class Ensembles {
 public:
  Ensembles(const EnsembleSettings&, const Recipe&, Comm&, const Remark&, const CouplingMethod* other = nullptr);
  bool at_work() const;  // else no metric is ever made and nothing is put anywhere
  Comm& comm() const { return *comm_; }
  std::size_t groups() const { return at_work() ? method_->groups : 1; }
  std::size_t group_of(std::uint32_t walker) const { return walker % each_ % groups(); }
  std::uint64_t refresh() const { return exchange_ ? exchange_->every() : std::uint64_t(settings_.refresh); }
  Exchange<Real>* exchange() { return exchange_.get(); }  // null: walkers keep their positions
  bool reads() const { return at_work() && !exchange_; }  // the readings of walkers that meet
  bool due(std::size_t group, std::uint64_t step) const;

  // Moves starts that coincide apart; `mine` are those of this rank's walkers, `first` the number of the first.
  void part_starts(std::vector<std::vector<Real>>& mine, std::size_t first, std::uint64_t seed) const;

  // New metrics for the walkers of a group, which are all at `step`. Every rank calls it with the walkers it has.
  void couple(std::span<Chain<Real>> mine, std::size_t group, std::uint64_t step, Threads&);

  std::vector<double> blending() const;  // now, of each ensemble and group; none if there are no metrics
  const std::vector<CouplingState<Real>>& state() const { return states_; }  // ensemble by ensemble, group by group
  void restore(std::vector<CouplingState<Real>>, std::span<Chain<Real>> mine);

 private:
  std::vector<std::size_t> counted(std::size_t group) const;  // within an ensemble, by someone of the group
  void put(Chain<Real>&, const std::shared_ptr<const PointCloud<Real>>&, double blending,
           std::span<const Real> q) const;
  struct Told {
    std::vector<double> heat;                  // of each walker: kinetic temperature over the one set
    std::vector<std::vector<Real>> positions;  // of those that count
  };
  Told ask(std::span<Chain<Real>> mine, std::size_t group) const;
  void remember(Told&, std::size_t group, std::uint64_t step);
  void look_at_temperature(const Told&, std::size_t group, std::uint64_t step);
  void look_for_flatness(const PointCloud<Real>&, std::uint64_t step);
  bool blend_less(std::size_t ensemble, std::size_t group, double steepest);
  std::shared_ptr<const PointCloud<Real>> cloud(const CouplingState<Real>&) const;

  CouplingSettings settings_;
  std::uint64_t warmup_;
  const CouplingMethod* method_;
  const Collapse* collapse_;
  Comm* comm_;
  Remark tell_;
  std::size_t each_, size_, freedom_ = 0;  // walkers of an ensemble; numbers of a walker, and those that move
  std::vector<MetricSpan> stretches_;
  std::vector<std::size_t> still_;  // entries that never move
  std::vector<CouplingState<Real>> states_;
  bool told_of_flatness_ = false;
  std::unique_ptr<Exchange<Real>> exchange_;
};

}  // namespace kelvin
