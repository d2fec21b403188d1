// SPDX-License-Identifier: Apache-2.0
#include "kelvin/ensemble/coupling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "kelvin/chain/stiffness.h"
#include "kelvin/numeric/mean.h"
#include "kelvin/core/pack.h"
#include "kelvin/core/parallel.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {
namespace {

constexpr CouplingMethod methods[] = {
    {"none", 1, 1, nullptr, "walkers know nothing of each other"},
    {"ensemble", 1, 3, [](std::size_t i, std::size_t j) { return i != j; },
     "each walker moves in the metric of all others of its ensemble; all move at once, so refresh rarely"},
    {"halves", 2, 4, [](std::size_t i, std::size_t j) { return i % 2 != j % 2; },
     "even and odd walkers move in turn, each in the metric of the resting others: exact however often it is "
     "refreshed"},
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

// A metric is a change of coordinates, and one is enough.
void check_coordinates(const Recipe& recipe) {
  if (recipe.tuning.rescaling().shape != MassShape::none)
    throw Error(
        "coupling and adapt.metric both change the coordinates; set adapt.metric = \"unit\" or "
        "coupling.method = \"none\"");
  for (const PartRecipe& part : recipe.parts)
    if (!part.constraints.empty())
      throw Error(
          "part \"{}\" has a constraint, which does not hold in the coordinates of a coupling; set "
          "coupling.method = \"none\"",
          part.name);
}

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

std::span<const CouplingMethod> coupling_methods() { return methods; }
std::span<const CouplingExtent> coupling_extents() { return extents; }
std::span<const Collapse> collapses() { return ways_to_collapse; }

void check_ensembles(const CouplingSettings& s, long walkers) {
  const CouplingMethod& method = row_named(s.method, coupling_methods(), "coupling");
  row_named(s.over, coupling_extents(), "extent of a coupling");
  const Collapse& collapse = row_named(s.collapse, collapses(), "collapse");
  if (!(s.blending >= 0) || !std::isfinite(s.blending))
    throw Error("coupling.blending must be 0 or above, not {}", s.blending);
  if (!(s.spread >= 0)) throw Error("coupling.spread must be 0 or above, not {}", s.spread);
  if (s.refresh < 1) throw Error("coupling.refresh must be at least 1, not {}", s.refresh);
  if (s.ensembles < 1 || walkers % s.ensembles != 0)
    throw Error("{} walkers cannot be shared equally by coupling.ensembles = {}; make one a multiple of the other",
                walkers, s.ensembles);
  if (walkers / s.ensembles < long(method.fewest))
    throw Error("coupling.method = \"{}\" needs at least {} walkers in each ensemble; {} walkers in {} make {}",
                s.method, method.fewest, walkers, s.ensembles, walkers / s.ensembles);
  if (!method.counts && s.blending > 0)
    throw Error(
        "coupling.blending = {} does nothing with coupling.method = \"{}\"; choose another row of "
        "`kelvin list couplings`",
        s.blending, s.method);
  if (collapse.place && method.groups > 1)
    throw Error(
        "coupling.collapse = \"{}\" moves all walkers at once, but with coupling.method = \"{}\" some rest; use "
        "\"ensemble\" or \"none\"",
        s.collapse, s.method);
}

std::size_t walkers_together(const CouplingSettings& s, std::size_t walkers) {
  const bool metric = row_named(s.method, coupling_methods(), "coupling").counts && s.blending > 0;
  const bool collapse = row_named(s.collapse, collapses(), "collapse").place;
  return metric || collapse ? walkers / std::size_t(s.ensembles) : 1;
}

template <class Real>
Ensembles<Real>::Ensembles(const EnsembleSettings& run, const Recipe& recipe, Comm& comm, const Remark& tell,
                           const CouplingMethod* other)
    : settings_(run.coupling),
      warmup_(std::uint64_t(run.warmup)),
      method_(other ? other : &row_named(run.coupling.method, coupling_methods(), "coupling")),
      collapse_(&row_named(run.coupling.collapse, collapses(), "collapse")),
      comm_(&comm),
      tell_(tell),
      each_(std::size_t(run.walkers / run.coupling.ensembles)),
      size_(recipe.size),
      stretches_(row_named(settings_.over, coupling_extents(), "extent of a coupling").stretches(recipe)) {
  for (const PartRecipe& part : recipe.parts) {
    for (const std::uint32_t i : part.frozen) still_.push_back(part.offset + i);
    freedom_ += part.freedom();
  }
  if (run.exchange.used()) exchange_ = std::make_unique<Exchange<Real>>(run, recipe, comm, tell);
  states_.resize(std::size_t(settings_.ensembles) * groups());
  for (auto& state : states_) state.blending = settings_.blending;
  if (method_->counts && settings_.blending == 0)
    tell_("coupling.blending is 0, so the walkers move as if each were alone");
  if (exchange_ && (method_->counts || collapse_->place))
    throw Error("[exchange] and [coupling] both move walkers by what others do; keep one");
  if (!at_work() || exchange_) return;
  check_coordinates(recipe);
  if (method_->counts) check_temperatures(recipe, stretches_);
  for (const Recipe& phase : recipe.later) check_temperatures(phase, stretches_);
  if (method_->counts && method_->groups == 1 && settings_.refresh < 100)
    tell_(
        fmt::format("coupling.refresh = {} is short: walkers that all move at once are biased by some percent unless "
                    "they are left alone for 100 steps and two autocorrelation times of the slowest quantity; "
                    "raise it, or use coupling.method = \"halves\"",
                    settings_.refresh));
  if (collapse_->place)
    tell_(
        fmt::format("every {} steps all walkers of an ensemble are put at one point ({}): draws soon after that are no "
                    "samples of the posterior",
                    settings_.refresh, settings_.collapse));
}

template <class Real>
bool Ensembles<Real>::at_work() const {
  return (method_->counts && settings_.blending > 0) || collapse_->place || exchange_;
}

template <class Real>
bool Ensembles<Real>::due(std::size_t group, std::uint64_t step) const {
  if (exchange_) return exchange_->due(step);
  return at_work() && step % refresh() == 0 && states_[group].step != step;
}

template <class Real>
void Ensembles<Real>::part_starts(std::vector<std::vector<Real>>& mine, std::size_t first, std::uint64_t seed) const {
  if (!method_->counts || !at_work()) return;
  Packer pack;
  for (std::size_t k = 0; k < mine.size(); ++k) pack(std::uint64_t(first + k)), pack(mine[k]);
  std::vector<std::vector<Real>> all(each_ * std::size_t(settings_.ensembles));
  for (const std::string& bytes : comm_->everyone(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
      std::uint64_t walker = 0;
      unpack(walker), unpack(all.at(walker));
    }
  for (std::size_t begin = 0; begin < all.size(); begin += each_) {
    std::sort(all.begin() + long(begin), all.begin() + long(begin + each_));
    if (std::adjacent_find(all.begin() + long(begin), all.begin() + long(begin + each_)) ==
        all.begin() + long(begin + each_))
      continue;
    tell_(
        fmt::format("walkers {} to {} start at one point, where they have no covariance: each is moved by normals of "
                    "deviation {:g} (coupling.spread)",
                    begin, begin + each_ - 1, settings_.spread));
    std::vector<char> moves(size_, 0);
    for (const auto& [offset, size] : stretches_) std::fill_n(moves.begin() + long(offset), size, 1);
    for (const std::size_t i : still_) moves[i] = 0;
    std::vector<Real> z(size_);
    for (std::size_t w = std::max(begin, first); w < std::min(begin + each_, first + mine.size()); ++w) {
      normals({stream_key(seed, "spread"), std::uint32_t(w), 0, 0}, 0, std::span(z));
      for (std::size_t i = 0; i < size_; ++i) mine[w - first][i] += moves[i] ? Real(settings_.spread) * z[i] : 0;
    }
  }
}

template <class Real>
std::vector<std::size_t> Ensembles<Real>::counted(std::size_t group) const {
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
std::shared_ptr<const PointCloud<Real>> Ensembles<Real>::cloud(const CouplingState<Real>& state) const {
  std::vector<LargeArray<Real>> points;
  for (std::uint64_t k = 0; k < state.count; ++k)
    points.emplace_back(state.points.begin() + long(k * size_), state.points.begin() + long((k + 1) * size_));
  return std::make_shared<const PointCloud<Real>>(cloud_of(points, stretches_));
}

template <class Real>
void Ensembles<Real>::put(Chain<Real>& chain, const std::shared_ptr<const PointCloud<Real>>& cloud, double blending,
                          std::span<const Real> q) const {
  const std::size_t mine = chain.walker() % each_;
  const auto all = counted(group_of(chain.walker()));
  std::vector<std::size_t> counting;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (method_->counts && method_->counts(mine, all[k])) counting.push_back(k);
  chain.move_in(counting.empty() ? nullptr : std::make_unique<LowRankMetric<Real>>(cloud, counting, blending), q);
}

// Each rank tells the others of its walkers: kinetic temperatures over those set, and the positions that count.
template <class Real>
auto Ensembles<Real>::ask(std::span<Chain<Real>> mine, std::size_t group) const -> Told {
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
    pack(chain.walker()), pack(sum / freedom);
    const auto q = chain.q();
    pack(counts ? std::vector<Real>(q.begin(), q.end()) : std::vector<Real>());
  }
  Told told;
  told.heat.resize(each_ * std::size_t(settings_.ensembles));
  told.positions.resize(told.heat.size());
  for (const std::string& bytes : comm_->everyone(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
      std::uint32_t walker = 0;
      unpack(walker);
      unpack(told.heat.at(walker)), unpack(told.positions[walker]);
    }
  return told;
}

// A metric that makes the motion unstable heats it.
template <class Real>
void Ensembles<Real>::look_at_temperature(const Told& told, std::size_t group, std::uint64_t step) {
  for (std::size_t e = 0; e < std::size_t(settings_.ensembles); ++e) {
    CouplingState<Real>& state = states_[e * groups() + group];
    double sum = 0, count = 0;
    for (std::size_t i = group; i < each_; i += groups())
      if (const double x = told.heat[e * each_ + i]; !std::isnan(x)) sum += x, ++count;
    const double ratio = sum / count, error = std::sqrt(2 / (count * double(freedom_)));
    const bool known = method_->counts && state.step != never && step > warmup_;
    if (!known || !(ratio > 1 + std::max(0.5, 6 * error))) continue;
    state.blending /= 2;
    tell_(
        fmt::format("step {}: the kinetic temperature of ensemble {} is {:.3g} times the one set, so the metric is too "
                    "steep for the step; coupling.blending is halved to {:.4g}",
                    step, e, ratio, state.blending));
  }
}

template <class Real>
void Ensembles<Real>::look_for_flatness(const PointCloud<Real>& cloud, std::uint64_t step) {
  if (told_of_flatness_ || !method_->counts || cloud.points.size() < 5 || step == 0) return;
  const std::vector<double> spread = eigenvalues(cloud.products.front());
  const double top = spread.back() / std::accumulate(spread.begin(), spread.end(), 0.0);
  if (!(top > 0.99)) return;
  told_of_flatness_ = true;
  tell_(fmt::format(
      "step {}: one direction holds {:.1f} % of the walkers' spread; if the posterior is flat there (output "
      "biases without a prior), the coupling helps in no other direction: use a prior or freeze it",
      step, 100 * top));
}

// Keeps the positions about their mean; a collapse changes those that were told.
template <class Real>
void Ensembles<Real>::remember(Told& told, std::size_t group, std::uint64_t step) {
  const auto wanted = counted(group);
  for (std::size_t e = 0; e < std::size_t(settings_.ensembles); ++e) {
    CouplingState<Real>& state = states_[e * groups() + group];
    state.step = step, state.count = wanted.size();
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
void Ensembles<Real>::couple(std::span<Chain<Real>> mine, std::size_t group, std::uint64_t step, std::size_t threads) {
  if (exchange_) return exchange_->swap(mine, step, threads);
  Told told = ask(mine, group);
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
    parallel(moving.size(), threads, [&](std::size_t k) {
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
bool Ensembles<Real>::blend_less(std::size_t ensemble, std::size_t group, double steepest) {
  CouplingState<Real>& state = states_[ensemble * groups() + group];
  if (steepest < 4 || state.blending == 0) return false;
  state.blending = state.blending > settings_.blending / 1000 ? state.blending / 2 : 0;
  tell_(
      fmt::format("step {}: h^2 times the largest curvature of ensemble {} would be {:.3g} in the walkers' metric, "
                  "where 4 is the limit of stability; coupling.blending is halved to {:.4g}",
                  state.step, ensemble, steepest, state.blending));
  return true;
}

template <class Real>
std::vector<double> Ensembles<Real>::blending() const {
  std::vector<double> out;
  for (const auto& state : states_)
    if (at_work() && method_->counts) out.push_back(state.blending);
  return out;
}

template <class Real>
void Ensembles<Real>::restore(std::vector<CouplingState<Real>> states, std::span<Chain<Real>> mine) {
  if (states.size() != states_.size())
    throw Error("the checkpoint has {} couplings where the settings make {}", states.size(), states_.size());
  states_ = std::move(states);
  std::vector<std::shared_ptr<const PointCloud<Real>>> clouds;
  for (const auto& state : states_) clouds.push_back(state.count ? cloud(state) : nullptr);
  for (Chain<Real>& chain : mine) {
    const std::size_t k = chain.walker() / each_ * groups() + group_of(chain.walker());
    if (clouds[k]) put(chain, clouds[k], states_[k].blending, std::vector<Real>(size_, 0));
  }
}

template class Ensembles<float>;
template class Ensembles<double>;

}  // namespace kelvin
