// SPDX-License-Identifier: Apache-2.0
#include "kelvin/ensemble/exchange.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kelvin/core/pack.h"
#include "kelvin/core/record.h"

namespace kelvin {

// Moving in temperatures that are not constant, or differ from part to part, is drawing from no law exp(-U/T).
double constant_temperature(const Recipe& recipe, std::string_view who) {
  const double T = recipe.parts.front().temperature.at(0);
  const auto check = [&](const Recipe& phase) {
    for (const PartRecipe& part : phase.parts)
      if (part.temperature.range() != std::pair(T, T) || !(T > 0))
        throw Error(
            "[{}] needs one constant temperature above 0 for all parts and phases, of which it takes multiples; part "
            "\"{}\" has temperatures from {:g} to {:g}",
            who, part.name, part.temperature.range().first, part.temperature.range().second);
  };
  check(recipe);
  for (const Recipe& phase : recipe.later) check(phase);
  return T;
}

std::vector<double> rungs_of(const ExchangeSettings& s) {
  if (!s.temperatures.empty()) return s.temperatures;
  std::vector<double> out = {1};
  for (long k = 1; k < s.rungs; ++k) out.push_back(std::pow(s.highest, double(k) / double(s.rungs - 1)));
  return out;
}

long check_exchange(const ExchangeSettings& s, long walkers, bool walkers_given) {
  if (!s.used()) return walkers;
  if (!s.temperatures.empty() && (s.rungs > 0 || s.highest > 0))
    throw Error("exchange.temperatures and exchange.rungs with exchange.highest exclude each other; keep one");
  if (s.temperatures.empty() && (s.rungs < 2 || !(s.highest > 1) || !std::isfinite(s.highest)))
    throw Error(
        "exchange.rungs = {} and exchange.highest = {} make no ladder; give at least 2 rungs and a factor above 1",
        s.rungs, s.highest);
  const auto rungs = rungs_of(s);
  bool rises = rungs.size() > 1 && rungs[0] == 1;
  for (std::size_t k = 1; k < rungs.size(); ++k) rises &= std::isfinite(rungs[k]) && rungs[k] > rungs[k - 1];
  if (!rises) throw Error("exchange.temperatures must be two or more factors that rise from 1, such as [1, 2, 4]");
  if (s.every < 1) throw Error("exchange.every must be at least 1, not {}", s.every);
  if (s.ladders < 1) throw Error("exchange.ladders must be at least 1, not {}", s.ladders);
  if (s.batches < 0 || s.batches == 1)
    throw Error("exchange.batches must be 0, for all rows, or at least 2, whose scatter tells the error; not {}",
                s.batches);
  const long all = s.ladders * long(rungs.size());
  if (walkers_given && walkers != all)
    throw Error("exchange has {} ladder{} of {} temperatures, which takes {} walkers, not {}; leave walkers out",
                s.ladders, s.ladders == 1 ? "" : "s", rungs.size(), all, walkers);
  return all;
}

double log_swap_chance(double b, double energy, double error, double samples) {
  // exp(-u), averaged over the scatter of the estimated error, is to be exp(-x/2) for the true one.
  const double x = b * b * error, n = samples;
  const double u = x / 2 + x * x / (4 * (n + 1)) + x * x * x / (3 * (n + 1) * (n + 3));
  return std::min(0.0, b * energy - u);
}

std::vector<double> evened_out(const std::vector<double>& rungs, const std::vector<double>& acceptance) {
  constexpr double least = 1e-3;  // a pair that is never refused still has some width
  std::vector<double> way = {0};
  for (const double a : acceptance) way.push_back(way.back() + std::max(least, 1 - a));
  std::vector<double> out = rungs;
  std::size_t at = 1;
  for (std::size_t k = 1; k + 1 < rungs.size(); ++k) {
    const double wanted = way.back() * double(k) / double(rungs.size() - 1);
    while (way[at] < wanted) ++at;
    const double share = (wanted - way[at - 1]) / (way[at] - way[at - 1]);
    out[k] = rungs[at - 1] * std::pow(rungs[at] / rungs[at - 1], share);
  }
  return out;
}

template <class Real>
Exchange<Real>::Exchange(const CoupledRun& run)
    : settings_(run.settings.exchange),
      batch_(run.settings.batch),
      seed_(std::uint64_t(run.settings.seed)),
      warmup_(std::uint64_t(run.settings.warmup)),
      walkers_(std::size_t(run.settings.walkers)),
      temperature_(constant_temperature(run.recipe, "exchange")),
      comm_(&run.comm),
      remark_(run.remark) {
  state_.rungs = rungs_of(settings_);
  rungs_ = state_.rungs.size();
  begin_counting();
  if (run.recipe.weighed)
    throw Error("[exchange] and draws with weights exclude each other: both heat what is sampled; keep one");
  if (!run.settings.masked_part.empty())
    throw Error("part.{}.mask makes U another one at every evaluation, so [exchange] cannot compare it; keep one",
                run.settings.masked_part);
  if (settings_.batches > 0 && batch_.size.text == "full")
    throw Error("exchange.batches = {} needs minibatches; with batch.size = \"full\" leave it out", settings_.batches);
  if (settings_.batches > 0 && batch_.anchor_every > 0)
    throw Error(
        "exchange.batches and batch.anchor_every exclude each other; leave out the first to compare on all rows");
  if (settings_.adapt && warmup_ < 100 * every())
    throw Error("exchange.adapt needs a warm-up of at least 100 attempts to exchange, {} steps, not {}", 100 * every(),
                warmup_);
}

template <class Real>
void Exchange<Real>::begin_counting() {
  state_.counted = 0;
  state_.trips = 0;
  for (auto* v : {&state_.chance, &state_.swaps, &state_.tries}) v->assign(rungs_ - 1, 0);
  for (auto* v : {&state_.rising, &state_.headed}) v->assign(rungs_, 0);
  state_.heading.assign(walkers_, 0);
}

template <class Real>
void Exchange<Real>::begin(Walkers mine) const {
  for (Chain<Real>& chain : mine) chain.heat(state_.rungs[chain.walker() % rungs_]);
}

template <class Real>
std::string Exchange<Real>::state() const {
  Packer pack;
  ExchangeState(state_).fields(pack);
  return pack.bytes;
}

template <class Real>
void Exchange<Real>::restore(const std::string& bytes, Walkers mine) {
  ExchangeState state;
  Unpacker unpack{bytes};
  state.fields(unpack);
  if (state.rungs.size() != rungs_ || state.heading.size() != walkers_)
    throw Error("the checkpoint has {} temperatures where the settings make {}", state.rungs.size(), rungs_);
  state_ = std::move(state);
  begin(mine);
}

template <class Real>
void Exchange<Real>::read(Value::Group& line) const {
  line["exchange"] = recorded(record_of(state_));
}

// U of all walkers, those of a ladder on the same rows.
template <class Real>
auto Exchange<Real>::ask(Walkers mine, std::uint64_t sweep, Threads& threads) -> Gathered {
  const auto batches = std::size_t(std::max(1L, settings_.batches));
  std::vector<std::vector<double>> energies(mine.size());
  comm_->together([&] {
    threads.each(mine.size(), [&](std::size_t k) {
      if (settings_.batches == 0) return void(energies[k].push_back(mine[k].energy_on({})));
      const auto all = std::uint32_t(mine[k].rows()), ladder = std::uint32_t(mine[k].walker() / rungs_);
      std::vector<std::uint32_t> rows(batch_.size.of(all));
      for (std::size_t b = 0; b < batches; ++b) {  // drawn with replacement, so that batches are independent
        const Stream stream{stream_key(seed_, "exchange rows"), ladder, sweep * batches + b, 0};
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = below(all, stream, i);
        energies[k].push_back(mine[k].energy_on(rows));
      }
    });
  });
  Packer pack;
  for (std::size_t k = 0; k < mine.size(); ++k) pack(mine[k].walker()), pack(mine[k].replica()), pack(energies[k]);
  Gathered told{std::vector<std::vector<double>>(walkers_), std::vector<std::uint32_t>(walkers_)};
  for (const std::string& bytes : comm_->everyone(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
      std::uint32_t walker = 0;
      unpack(walker);
      unpack(told.replicas.at(walker));
      unpack(told.energies.at(walker));
    }
  return told;
}

// Positions go to where `partner` says; only those that move are told to the other ranks.
template <class Real>
void Exchange<Real>::move(Walkers mine, const std::vector<std::size_t>& partner, Threads& threads) {
  const auto stays = [&](const Chain<Real>& chain) { return partner[chain.walker()] == chain.walker(); };
  std::vector<Packer> replicas(mine.size());
  threads.each(mine.size(), [&](std::size_t k) {
    if (!stays(mine[k])) mine[k].replica_now().fields(replicas[k]);
  });
  Packer pack;
  for (std::size_t k = 0; k < mine.size(); ++k) {
    if (stays(mine[k])) continue;
    pack(mine[k].walker());
    pack(std::uint64_t(replicas[k].bytes.size()));
    pack.bytes += replicas[k].bytes;
  }
  const auto all = comm_->everyone(pack.bytes);
  std::vector<std::string_view> gathered(walkers_);  // the replica of each walker
  for (const std::string& bytes : all)
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
      std::uint32_t walker = 0;
      std::uint64_t size = 0;
      unpack(walker);
      unpack(size);
      gathered.at(walker) = unpack.bytes.substr(0, size);
      unpack.bytes.remove_prefix(size);
    }
  threads.each(mine.size(), [&](std::size_t k) {
    if (stays(mine[k])) return;
    Replica<Real> replica;
    Unpacker unpack{gathered[partner[mine[k].walker()]]};
    replica.fields(unpack);
    mine[k].take(replica);
  });
}

// Where the replicas are after an attempt: their direction of travel, and whether a round trip has ended.
template <class Real>
void Exchange<Real>::follow(const std::vector<std::uint32_t>& replicas) {
  for (std::size_t w = 0; w < walkers_; ++w) {
    const std::size_t rung = w % rungs_;
    int& heading = state_.heading[replicas[w]];
    if (rung == 0) state_.trips += heading < 0, heading = 1;
    if (rung + 1 == rungs_) heading = -1;
    state_.rising[rung] += heading > 0;
    state_.headed[rung] += heading != 0;
  }
}

template <class Real>
void Exchange<Real>::meet(Walkers mine, std::size_t, std::uint64_t step, Threads& threads) {
  const std::uint64_t sweep = step / every();
  Gathered told = ask(mine, sweep, threads);
  std::vector<std::size_t> partner(walkers_);
  for (std::size_t w = 0; w < walkers_; ++w) partner[w] = w;
  for (std::size_t w = 0; w < walkers_; ++w) {
    const std::size_t rung = w % rungs_;
    if (rung % 2 != sweep % 2 || rung + 1 == rungs_) continue;
    const auto &cold = told.energies[w], &hot = told.energies[w + 1];
    const double n = double(cold.size()), b = (1 / state_.rungs[rung] - 1 / state_.rungs[rung + 1]) / temperature_;
    double mean = 0, square = 0;
    for (std::size_t k = 0; k < cold.size(); ++k) mean += (cold[k] - hot[k]) / n;
    for (std::size_t k = 0; k < cold.size(); ++k) square += std::pow(cold[k] - hot[k] - mean, 2);
    const double chance =
        std::exp(n > 1 ? log_swap_chance(b, mean, square / (n * (n - 1)), n) : log_swap_chance(b, mean));
    const bool swaps = uniform({stream_key(seed_, "exchange"), std::uint32_t(w), sweep, 0}, 0) < chance;
    ++state_.tries[rung];
    state_.chance[rung] += chance;
    state_.swaps[rung] += swaps;
    if (!swaps) continue;
    std::swap(partner[w], partner[w + 1]);
    std::swap(told.replicas[w], told.replicas[w + 1]);
  }
  move(mine, partner, threads);
  follow(told.replicas);
  state_.step = step;
  ++state_.counted;
  if (settings_.adapt && step <= warmup_) learn(mine, step);
  if (step <= warmup_ && step + every() > warmup_) begin_counting();
}

// Ever longer looks, which end at attempts 25, 50, 100, ...; the last one is half of the warm-up or more.
template <class Real>
void Exchange<Real>::learn(Walkers mine, std::uint64_t step) {
  const std::uint64_t sweep = step / every(), sweeps = warmup_ / every();
  if (sweep != sweeps && (sweep % 25 != 0 || !std::has_single_bit(sweep / 25) || 2 * sweep > sweeps)) return;
  std::vector<double> acceptance;
  for (std::size_t k = 0; k + 1 < rungs_; ++k) acceptance.push_back(state_.chance[k] / std::max(1.0, state_.tries[k]));
  state_.rungs = evened_out(state_.rungs, acceptance);
  begin_counting();
  begin(mine);
  if (sweep != sweeps) return;
  std::string rungs;
  for (const double x : state_.rungs) rungs += fmt::format("{}{:.4g}", rungs.empty() ? "" : ", ", x);
  remark_(fmt::format("step {}: exchange.adapt has found the temperatures [{}], as factors", step, rungs));
}

ExchangeRecord record_of(const ExchangeState& s) {
  ExchangeRecord out;
  out.temperatures = s.rungs;
  out.attempts = s.counted;
  out.round_trips = s.trips;
  for (std::size_t k = 0; k < s.tries.size(); ++k)
    out.acceptance.push_back(s.tries[k] > 0 ? s.chance[k] / s.tries[k] : 0);
  for (std::size_t k = 0; k < s.rising.size(); ++k)
    out.rising.push_back(s.headed[k] > 0 ? s.rising[k] / s.headed[k] : 0);
  return out;
}

template <class Real>
std::unique_ptr<Coupling<Real>> make_exchange(const CoupledRun& run) {
  return std::make_unique<Exchange<Real>>(run);
}

template std::unique_ptr<Coupling<float>> make_exchange(const CoupledRun&);
template std::unique_ptr<Coupling<double>> make_exchange(const CoupledRun&);
template class Exchange<float>;
template class Exchange<double>;

}  // namespace kelvin
