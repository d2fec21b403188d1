// SPDX-License-Identifier: Apache-2.0
// Ensemble quasi-Newton: the covariance of the other walkers' positions, frozen between refreshes, is the metric in
// which a walker moves (Matthews, Weare and Leimkuhler 2018).
#pragma once
#include "kelvin/ensemble/coupling.h"

namespace kelvin {

// Walkers are numbered within their ensemble.
struct MetricMethod {
  std::string_view name;
  std::size_t groups;                               // that move in turn, walker i in group i % groups
  bool (*counts)(std::size_t mine, std::size_t j);  // whether j's position counts in mine's metric; null: there is none
};

std::span<const MetricMethod> metric_methods();

// Over which coordinates one covariance is taken.
struct CouplingExtent {
  std::string_view name;
  std::vector<MetricSpan> (*spans)(const Recipe&);
};
std::span<const CouplingExtent> coupling_extents();

// Where a collapse puts walkers that are at the given points.
struct Collapse {
  std::string_view name;
  double (*place)(std::span<const double> entries);  // of one entry of q, from all walkers'; null: they stay
};
std::span<const Collapse> collapses();

// What the metrics of one ensemble and group are made of.
template <class Real>
struct MetricState {
  std::uint64_t step = never;  // when it was made
  std::uint64_t judge_at = 0;  // when its stability is to be looked at again
  double blending = 0;         // may have been halved since the settings
  std::uint64_t count = 0;
  std::vector<Real> points;  // about their mean, one after another
  template <class Visit>
  void fields(Visit&& field) {
    field(step);
    field(judge_at);
    field(blending);
    field(count);
    field(points);
  }
};

template <class Real>
class MetricCoupling final : public Coupling<Real> {
 public:
  using typename Coupling<Real>::Walkers;
  MetricCoupling(const CoupledRun&, const MetricMethod&);
  bool at_work() const;  // else no metric is ever made and nothing is put anywhere
  std::size_t groups() const override { return method_->groups; }
  std::size_t group_of(std::uint32_t walker) const override { return walker % each_ % groups(); }
  std::uint64_t next_meeting(std::uint64_t after) const override { return after - after % refresh() + refresh(); }
  bool due(std::size_t group, std::uint64_t step) const override {
    return step % refresh() == 0 && states_[group].step != step;
  }
  bool reads() const override { return true; }
  void meet(Walkers mine, std::size_t group, std::uint64_t step, Threads&) override;  // new metrics for the group

  // Moves starts that coincide apart; `mine` are those of this rank's walkers, `first` the number of the first.
  void part_starts(std::vector<std::vector<Real>>& mine, std::size_t first) const override;
  void read(Value::Group&) const override;
  std::string state() const override;
  void restore(const std::string&, Walkers) override;
  std::vector<double> blending() const;  // now, of each ensemble and group; none if there are no metrics

 private:
  struct Gathered {
    std::vector<double> heat;                  // of each walker: kinetic temperature over the one set
    std::vector<std::vector<Real>> positions;  // of those that count
  };
  std::uint64_t refresh() const { return std::uint64_t(settings_.refresh); }
  std::vector<std::size_t> counted(std::size_t group) const;  // within an ensemble, by someone of the group
  void put(Chain<Real>&, const std::shared_ptr<const PointCloud<Real>>&, double blending,
           std::span<const Real> q) const;
  Gathered ask(Walkers mine, std::size_t group) const;
  void remember(Gathered&, std::size_t group, std::uint64_t step);
  void look_at_temperature(const Gathered&, std::size_t group, std::uint64_t step);
  void look_for_flatness(const PointCloud<Real>&, std::uint64_t step);
  bool blend_less(std::size_t ensemble, std::size_t group, double steepest);
  std::shared_ptr<const PointCloud<Real>> cloud(const MetricState<Real>&) const;

  CouplingSettings settings_;
  std::uint64_t seed_, warmup_;
  const MetricMethod* method_;
  const Collapse* collapse_;
  Comm* comm_;
  Remark remark_;
  std::size_t each_, size_, freedom_ = 0;  // walkers of an ensemble; numbers of a walker, and those that move
  std::vector<MetricSpan> spans_;
  std::vector<std::size_t> still_;         // entries that never move
  std::vector<MetricState<Real>> states_;  // ensemble by ensemble, group by group
  bool told_of_flatness_ = false;
};

template <class Real>
std::unique_ptr<Coupling<Real>> make_metric(const CoupledRun&);

}  // namespace kelvin
