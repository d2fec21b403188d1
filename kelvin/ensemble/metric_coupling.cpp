// SPDX-License-Identifier: Apache-2.0
#include "kelvin/ensemble/metric_coupling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "kelvin/chain/stiffness.h"
#include "kelvin/core/pack.h"
#include "kelvin/energy/hessian.h"
#include "kelvin/numeric/linear.h"
#include "kelvin/numeric/mean.h"

namespace kelvin {
namespace {

constexpr MetricMethod methods[] = {
    {"none", 1, nullptr},
    {"ensemble", 1, [](std::size_t i, std::size_t j) { return i != j; }},
    {"halves", 2, [](std::size_t i, std::size_t j) { return i % 2 != j % 2; }},
};

std::vector<MetricSpan> everything(const Recipe& recipe) {
  const PartRecipe& last = recipe.parts.back();
  return {{0, last.offset + last.size}};
}

std::vector<MetricSpan> by_part(const Recipe& recipe) {
  std::vector<MetricSpan> out;
  for (const PartRecipe& part : recipe.parts) out.push_back({part.offset, part.size});
  return out;
}

std::vector<MetricSpan> by_block(const Recipe& recipe) {
  std::vector<MetricSpan> out;
  for (const Block& block : recipe.blocks)
    if (recipe.part_of.contains(block.name)) out.push_back({block.offset, block.size()});
  return out;
}

constexpr CouplingExtent extents[] = {{"all", everything}, {"part", by_part}, {"block", by_block}};

double first_of(std::span<const double> entries) { return entries.front(); }

constexpr Collapse ways_to_collapse[] = {
    {"never", nullptr}, {"first", first_of}, {"mean", [](std::span<const double> entries) {
                                                return mean_of(entries).value;
                                              }}};

// In other coordinates each part would have a mixture of the temperatures.
void check_temperatures(const Recipe& recipe, const std::vector<MetricSpan>& stretches) {
  for (const PartRecipe& part : recipe.parts) {
    const PartRecipe& first = recipe.parts.front();
    if (stretches.size() < recipe.parts.size() &&
        (part.temperature.range() != first.temperature.range() || part.temperature.at(0) != first.temperature.at(0)))
      throw Error(
          "coupling.over = \"all\" mixes the parameters of all parts, but part \"{}\" has another temperature than "
          "\"{}\"; "
          "give them one, or set coupling.over = \"part\"",
          part.name, first.name);
  }
}

}  // namespace

std::span<const MetricMethod> metric_methods() { return methods; }
std::span<const CouplingExtent> coupling_extents() { return extents; }
std::span<const Collapse> collapses() { return ways_to_collapse; }

template <class Real>
MetricCoupling<Real>::MetricCoupling(const CoupledRun& run, const MetricMethod& method)
    : settings_(run.settings.coupling),
      seed_(std::uint64_t(run.settings.seed)),
      warmup_(std::uint64_t(run.settings.warmup)),
      method_(&method),
      collapse_(&row_named(settings_.collapse, collapses(), "collapse")),
      comm_(&run.comm),
      remark_(run.remark),
      each_(std::size_t(run.settings.walkers / settings_.ensembles)),
      size_(run.recipe.size),
      spans_(row_named(settings_.over, coupling_extents(), "extent of a coupling").spans(run.recipe)) {
  const Recipe& recipe = run.recipe;
  for (const PartRecipe& part : recipe.parts) {
    for (const std::uint32_t i : part.frozen) still_.push_back(part.offset + i);
    freedom_ += part.freedom();
  }
  states_.resize(std::size_t(settings_.ensembles) * groups());
  for (auto& state : states_) state.blending = settings_.blending;
  if (method_->counts && settings_.blending == 0)
    remark_("coupling.blending is 0, so the walkers move as if each were alone");
  if (!at_work()) return;
  if (method_->counts) check_temperatures(recipe, spans_);
  for (const Recipe& phase : recipe.later) check_temperatures(phase, spans_);
  if (method_->counts && method_->groups == 1 && settings_.refresh < 100)
    remark_(
        fmt::format("coupling.refresh = {} is short: walkers that all move at once are biased by some percent unless "
                    "they are left alone for 100 steps and two autocorrelation times of the slowest quantity; "
                    "raise it, or use coupling.method = \"halves\"",
                    settings_.refresh));
  if (collapse_->place)
    remark_(
        fmt::format("every {} steps all walkers of an ensemble are put at one point ({}): draws soon after that are no "
                    "samples of the posterior",
                    settings_.refresh, settings_.collapse));
}

template <class Real>
bool MetricCoupling<Real>::at_work() const {
  return (method_->counts && settings_.blending > 0) || collapse_->place;
}

template <class Real>
std::unique_ptr<Coupling<Real>> make_metric(const CoupledRun& run) {
  const auto& name = run.settings.coupling.method.name;
  auto made = std::make_unique<MetricCoupling<Real>>(run, row_named(name, metric_methods(), "coupling"));
  if (!made->at_work()) return nullptr;
  return made;
}

template <class Real>
void MetricCoupling<Real>::part_starts(std::vector<std::vector<Real>>& mine, std::size_t first) const {
  if (!method_->counts) return;
  Packer pack;
  for (std::size_t k = 0; k < mine.size(); ++k) pack(std::uint64_t(first + k)), pack(mine[k]);
  std::vector<std::vector<Real>> all(each_ * std::size_t(settings_.ensembles));
  for (const std::string& bytes : comm_->everyone(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
      std::uint64_t walker = 0;
      unpack(walker);
      unpack(all.at(walker));
    }
  for (std::size_t begin = 0; begin < all.size(); begin += each_) {
    std::sort(all.begin() + long(begin), all.begin() + long(begin + each_));
    if (std::adjacent_find(all.begin() + long(begin), all.begin() + long(begin + each_)) ==
        all.begin() + long(begin + each_))
      continue;
    remark_(
        fmt::format("walkers {} to {} start at one point, where they have no covariance: each is moved by normals of "
                    "deviation {:g} (coupling.spread)",
                    begin, begin + each_ - 1, settings_.spread));
    std::vector<char> moves(size_, 0);
    for (const auto& [offset, size] : spans_) std::fill_n(moves.begin() + long(offset), size, 1);
    for (const std::size_t i : still_) moves[i] = 0;
    std::vector<Real> z(size_);
    for (std::size_t w = std::max(begin, first); w < std::min(begin + each_, first + mine.size()); ++w) {
      normals({stream_key(seed_, "spread"), std::uint32_t(w), 0, 0}, 0, std::span(z));
      for (std::size_t i = 0; i < size_; ++i) mine[w - first][i] += moves[i] ? Real(settings_.spread) * z[i] : 0;
    }
  }
}

template <class Real>
std::vector<std::size_t> MetricCoupling<Real>::counted(std::size_t group) const {
  std::vector<std::size_t> out;
  for (std::size_t j = 0; j < each_; ++j)
    for (std::size_t i = group; i < each_; i += groups())
      if (!method_->counts || method_->counts(i, j)) {
        out.push_back(j);
        break;
      }
  return out;
}

template <class Real>
std::shared_ptr<const PointCloud<Real>> MetricCoupling<Real>::cloud(const MetricState<Real>& state) const {
  std::vector<LargeArray<Real>> points;
  for (std::uint64_t k = 0; k < state.count; ++k)
    points.emplace_back(state.points.begin() + long(k * size_), state.points.begin() + long((k + 1) * size_));
  return std::make_shared<const PointCloud<Real>>(cloud_of(points, spans_));
}

template <class Real>
void MetricCoupling<Real>::put(Chain<Real>& chain, const std::shared_ptr<const PointCloud<Real>>& cloud,
                               double blending, std::span<const Real> q) const {
  const std::size_t mine = chain.walker() % each_;
  const auto all = counted(group_of(chain.walker()));
  std::vector<std::size_t> counting;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (method_->counts && method_->counts(mine, all[k])) counting.push_back(k);
  chain.move_in(counting.empty() ? nullptr : std::make_unique<LowRankMetric<Real>>(cloud, counting, blending), q);
}

// Each rank tells the others of its walkers: kinetic temperatures over those set, and the positions that count.
template <class Real>
auto MetricCoupling<Real>::ask(Walkers mine, std::size_t group) const -> Gathered {
  const auto wanted = counted(group);
  Packer pack;
  for (Chain<Real>& chain : mine) {
    const bool counts = std::find(wanted.begin(), wanted.end(), chain.walker() % each_) != wanted.end();
    double sum = 0, freedom = 0;
    for (std::size_t k = 0; k < chain.recipe().parts.size(); ++k) {
      const PartRecipe& part = chain.recipe().parts[k];
      if (!part.scheme.kinetic_exact || !(chain.part(k).T > 0)) continue;
      freedom += double(part.freedom());
      sum += double(part.freedom()) * chain.reading().parts[k].kinetic_temperature / chain.part(k).T;
    }
    pack(chain.walker());
    pack(sum / freedom);
    const auto q = chain.q();
    pack(counts ? std::vector<Real>(q.begin(), q.end()) : std::vector<Real>());
  }
  Gathered told;
  told.heat.resize(each_ * std::size_t(settings_.ensembles));
  told.positions.resize(told.heat.size());
  for (const std::string& bytes : comm_->everyone(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
      std::uint32_t walker = 0;
      unpack(walker);
      unpack(told.heat.at(walker));
      unpack(told.positions[walker]);
    }
  return told;
}

// A metric that makes the motion unstable heats it.
template <class Real>
void MetricCoupling<Real>::look_at_temperature(const Gathered& told, std::size_t group, std::uint64_t step) {
  for (std::size_t e = 0; e < std::size_t(settings_.ensembles); ++e) {
    MetricState<Real>& state = states_[e * groups() + group];
    double sum = 0, count = 0;
    for (std::size_t i = group; i < each_; i += groups())
      if (const double x = told.heat[e * each_ + i]; !std::isnan(x)) sum += x, ++count;
    const double ratio = sum / count, error = std::sqrt(2 / (count * double(freedom_)));
    const bool known = method_->counts && state.step != never && step > warmup_;
    if (!known || !(ratio > 1 + std::max(0.5, 6 * error))) continue;
    state.blending /= 2;
    remark_(
        fmt::format("step {}: the kinetic temperature of ensemble {} is {:.3g} times the one set, so the metric is too "
                    "steep for the step; coupling.blending is halved to {:.4g}",
                    step, e, ratio, state.blending));
  }
}

template <class Real>
void MetricCoupling<Real>::look_for_flatness(const PointCloud<Real>& cloud, std::uint64_t step) {
  if (told_of_flatness_ || !method_->counts || cloud.points.size() < 5 || step == 0) return;
  const std::vector<double> spread = eigenvalues(cloud.products.front());
  const double top = spread.back() / std::accumulate(spread.begin(), spread.end(), 0.0);
  if (!(top > 0.99)) return;
  told_of_flatness_ = true;
  remark_(fmt::format(
      "step {}: one direction holds {:.1f} % of the walkers' spread; if the posterior is flat there (output "
      "biases without a prior), the coupling helps in no other direction: use a prior or freeze it",
      step, 100 * top));
}

// Keeps the positions about their mean; a collapse changes those that were told.
template <class Real>
void MetricCoupling<Real>::remember(Gathered& told, std::size_t group, std::uint64_t step) {
  const auto wanted = counted(group);
  for (std::size_t e = 0; e < std::size_t(settings_.ensembles); ++e) {
    MetricState<Real>& state = states_[e * groups() + group];
    state.step = step;
    state.count = wanted.size();
    state.points.resize(wanted.size() * size_);
    std::vector<double> entries(wanted.size());
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < wanted.size(); ++k) entries[k] = double(told.positions[e * each_ + wanted[k]][i]);
      const double mean = mean_of(entries).value;
      const auto meet = collapse_->place ? std::optional(Real(collapse_->place(entries))) : std::nullopt;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        state.points[k * size_ + i] = Real(entries[k] - mean);
        if (meet) told.positions[e * each_ + wanted[k]][i] = *meet;
      }
    }
    for (std::size_t k = 0; k < wanted.size(); ++k)
      for (const std::size_t i : still_) state.points[k * size_ + i] = 0;
  }
}

template <class Real>
void MetricCoupling<Real>::meet(Walkers mine, std::size_t group, std::uint64_t step, Threads& threads) {
  Gathered told = ask(mine, group);
  look_at_temperature(told, group, step);
  remember(told, group, step);
  const auto ensembles = std::size_t(settings_.ensembles);
  std::vector<std::shared_ptr<const PointCloud<Real>>> clouds;
  for (std::size_t e = 0; e < ensembles; ++e) {
    clouds.push_back(cloud(states_[e * groups() + group]));
    look_for_flatness(*clouds.back(), step);
  }
  std::vector<Chain<Real>*> moving;
  for (Chain<Real>& chain : mine)
    if (group_of(chain.walker()) == group) moving.push_back(&chain);
  for (Chain<Real>* chain : moving)
    if (auto& q = told.positions[chain->walker()]; q.empty()) q.assign(chain->q().begin(), chain->q().end());

  std::uint64_t& judge_at = states_[group].judge_at;
  const bool judging = method_->counts && step >= judge_at;
  double most = 0;
  std::vector<char> again(ensembles, 1);
  while (std::any_of(again.begin(), again.end(), [](char x) { return x; })) {
    std::vector<double> steep(moving.size(), 0), steepest(ensembles, 0);
    threads.each(moving.size(), [&](std::size_t k) {
      const std::size_t e = moving[k]->walker() / each_;
      if (!again[e]) return;
      put(*moving[k], clouds[e], states_[e * groups() + group].blending, told.positions[moving[k]->walker()]);
      if (judging) steep[k] = stiffness(*moving[k]);
    });
    for (std::size_t k = 0; k < moving.size(); ++k) {
      double& mine = steepest[moving[k]->walker() / each_];
      mine = std::max(mine, steep[k]);
    }
    steepest = comm_->most(steepest);
    most = std::max(most, *std::max_element(steepest.begin(), steepest.end()));
    for (std::size_t e = 0; e < ensembles; ++e) again[e] = char(blend_less(e, group, steepest[e]));
  }
  // It costs a dozen gradients: rarely where all is well, and never more often than every 100 steps.
  if (judging) judge_at = step + (most < 2 ? 10 * std::max<std::uint64_t>(100, refresh()) : 100);
}

// Whether the metrics of an ensemble must be made again, with less of the covariance.
template <class Real>
bool MetricCoupling<Real>::blend_less(std::size_t ensemble, std::size_t group, double steepest) {
  MetricState<Real>& state = states_[ensemble * groups() + group];
  if (steepest < 4 || state.blending == 0) return false;
  state.blending = state.blending > settings_.blending / 1000 ? state.blending / 2 : 0;
  remark_(
      fmt::format("step {}: h^2 times the largest curvature of ensemble {} would be {:.3g} in the walkers' metric, "
                  "where 4 is the limit of stability; coupling.blending is halved to {:.4g}",
                  state.step, ensemble, steepest, state.blending));
  return true;
}

template <class Real>
std::vector<double> MetricCoupling<Real>::blending() const {
  std::vector<double> out;
  for (const auto& state : states_)
    if (method_->counts) out.push_back(state.blending);
  return out;
}

template <class Real>
void MetricCoupling<Real>::read(Value::Group& line) const {
  if (method_->counts) line["blending"] = blending();
}

template <class Real>
std::string MetricCoupling<Real>::state() const {
  Packer pack;
  for (MetricState<Real> state : states_) state.fields(pack);
  return pack.bytes;
}

template <class Real>
void MetricCoupling<Real>::restore(const std::string& bytes, Walkers mine) {
  Unpacker unpack{bytes};
  for (auto& state : states_) state.fields(unpack);
  if (!unpack.bytes.empty()) throw Error("the checkpoint has more couplings than the settings make");
  std::vector<std::shared_ptr<const PointCloud<Real>>> clouds;
  for (const auto& state : states_) clouds.push_back(state.count ? cloud(state) : nullptr);
  for (Chain<Real>& chain : mine) {
    const std::size_t k = chain.walker() / each_ * groups() + group_of(chain.walker());
    if (clouds[k]) put(chain, clouds[k], states_[k].blending, std::vector<Real>(size_, 0));
  }
}

template class MetricCoupling<float>;
template class MetricCoupling<double>;
template std::unique_ptr<Coupling<float>> make_metric(const CoupledRun&);
template std::unique_ptr<Coupling<double>> make_metric(const CoupledRun&);

}  // namespace kelvin
