// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kelvin/analysis/posterior/columns.h"
#include "kelvin/analysis/posterior/ensembles.h"
#include "kelvin/core/entry.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {
namespace {

constexpr std::size_t fewest_for_errors = 100;
constexpr std::size_t most_for_quantiles = 1'000'000;
constexpr std::size_t numbers_summarised = std::size_t(1) << 24;  // of parameters, 128 MB

Table::Row diagnosed(const std::string& name, const Chains& chains, std::size_t together) {
  const Convergence c = ensemble_convergence(chains, together);
  Chains squares = chains;
  for (auto& x : squares)
    for (double& v : x) v *= v;
  const bool enough = chains.size() * chains.front().size() >= fewest_for_errors;
  const auto if_enough = [&](double x) { return cell(enough ? x : NAN); };
  return {{"quantity", name},
          {"mean", cell(c.mean)},
          {"error", if_enough(c.mcse_mean)},
          {"sd", cell(c.deviation)},
          {"mean_square", cell(mean(squares))},
          {"its_error", if_enough(mcse_mean(ensemble_means(squares, together)))},
          {"5%", cell(c.low)},
          {"50%", cell(c.median)},
          {"95%", cell(c.high)},
          {"ess_bulk", if_enough(c.ess_bulk)},
          {"ess_tail", if_enough(c.ess_tail)},
          {"rhat", if_enough(c.rhat)}};
}

Table::Row pooled(const std::string& name, const PooledMoments::Result& r) {
  return {{"quantity", name},        {"mean", cell(r.mean)},          {"error", cell(r.mean_error)},
          {"sd", cell(r.deviation)}, {"mean_square", cell(r.square)}, {"its_error", cell(r.square_error)},
          {"5%", cell(r.low)},       {"50%", cell(r.median)},         {"95%", cell(r.high)}};
}

// Those worth a row, in this order; any other follows that is not one of `told_elsewhere`.
constexpr const char* first_statistics[] = {"potential",           "energy", "kinetic_energy",
                                            "kinetic_temperature", "virial", "configurational_temperature"};
constexpr const char* told_elsewhere[] = {"step", "lp", "time", "acceptance_rate", "diverging"};

std::vector<std::string> statistics_of(const Samples& samples) {
  const std::string group = "sample_stats/";
  std::vector<std::string> names;
  for (const char* name : first_statistics)
    if (samples.manifest.arrays.contains(group + name)) names.push_back(name);
  for (const auto& [place, fingerprint] : samples.manifest.arrays) {
    if (!place.starts_with(group)) continue;
    const std::string name = place.substr(group.size());
    if (std::count(names.begin(), names.end(), name) ||
        std::count(std::begin(told_elsewhere), std::end(told_elsewhere), name))
      continue;
    names.push_back(name);
  }
  return names;
}

// A part without momenta has no kinetic energy, and so on: nan in every draw.
bool absent(const Chains& chains) {
  for (const auto& x : chains)
    if (!std::all_of(x.begin(), x.end(), [](double v) { return std::isnan(v); })) return false;
  return true;
}

void add_statistics(Table& table, const Samples& samples) {
  for (const std::string& name : statistics_of(samples)) {
    const std::string array = "sample_stats/" + name;
    const bool per_part = !samples.shape(array).each.empty();
    const auto all = columns(samples, array);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!absent(all[k]))
        table.row(diagnosed(!per_part                  ? name
                            : k < samples.parts.size() ? fmt::format("{} of {}", name, samples.parts[k])
                                                       : fmt::format("{}[{}]", name, k),
                            all[k], walkers_together(samples)));
  }
}

// Whether some quantiles were those of some numbers only.
bool add_blocks(Table& table, const Samples& samples, const std::vector<std::string>& blocks) {
  bool thinned = false;
  for (const std::string& block : blocks) {
    const std::string array = "posterior/" + block;
    const std::size_t width = width_of(samples, array);
    PooledMoments moments(samples.walkers, samples.draws, width, walkers_together(samples));
    for (std::size_t w = 0; w < samples.walkers; ++w)
      each_piece(samples, array, w,
                 [&](std::size_t first, std::span<const double> numbers) { moments.add(w, first, numbers); });
    table.row(pooled(fmt::format("{} ({} numbers)", block, width), moments.result()));
    thinned |= moments.thinned();
  }
  return thinned;
}

void add_parameters(Table& table, const Samples& samples, const std::vector<std::string>& blocks, const Done& done) {
  const std::size_t at_once = std::max<std::size_t>(1, numbers_summarised / (samples.walkers * samples.draws));
  std::size_t seen = 0, total = 0;
  for (const std::string& block : blocks) total += width_of(samples, "posterior/" + block);
  for (const std::string& block : blocks) {
    const std::string array = "posterior/" + block;
    const std::vector<std::size_t> shape = samples.shape(array).each;
    const std::size_t width = width_of(samples, array);
    for (std::size_t first = 0; first < width; first += at_once) {
      std::vector<std::size_t> which(std::min(at_once, width - first));
      std::iota(which.begin(), which.end(), first);
      const auto some = columns(samples, array, which);
      for (std::size_t k = 0; k < which.size(); ++k) {
        table.row(diagnosed(entry_name(block, which[k], shape), some[k], walkers_together(samples)));
        if (done) done(++seen, total);
      }
    }
  }
}

// The one that converged worst, among rows that have diagnostics.
std::string worst(const Table& table) {
  std::string rhat_of, ess_of;
  double rhat = 0, ess = INFINITY;
  for (const auto& row : table.rows) {
    const auto number = [&](const char* name) {
      for (const auto& [column, value] : row)
        if (column == name) return value.number().value_or(NAN);
      return double(NAN);
    };
    const std::string name = row.front().second.text();
    if (number("rhat") > rhat) {
      rhat = number("rhat");
      rhat_of = name;
    }
    if (const double e = std::fmin(number("ess_bulk"), number("ess_tail")); e < ess) {
      ess = e;
      ess_of = name;
    }
  }
  if (rhat_of.empty()) return {};
  return fmt::format("; the largest rhat is {:.4g} ({}), the smallest ess {:.4g} ({})", rhat, rhat_of, ess, ess_of);
}

}  // namespace

PooledMoments::PooledMoments(std::size_t walkers, std::size_t draws, std::size_t width, std::size_t together)
    : draws_(draws), width_(width), together_(together), next_(walkers, 0) {
  const std::size_t batches = std::max<std::size_t>(1, std::min(draws, std::size_t(2 * std::cbrt(double(draws)))));
  each_ = std::max<std::size_t>(1, draws / batches);
  batches_.assign(walkers / together, std::vector<Sums>(batches + 1));
  // with no factor in common with the width, or some columns would never be seen
  for (every_ = (walkers * draws * width + most_for_quantiles - 1) / most_for_quantiles; std::gcd(every_, width) > 1;)
    ++every_;
  every_ = std::max<std::size_t>(1, every_);
}

void PooledMoments::Sums::add(std::span<const double> x, double pivot) {
  constexpr std::size_t apart = 8;  // sums that do not wait for each other
  double sums[apart] = {}, squares[apart] = {};
  std::size_t i = 0;
  for (; i + apart <= x.size(); i += apart)
    for (std::size_t k = 0; k < apart; ++k) {
      const double d = x[i + k] - pivot;
      sums[k] += d;
      squares[k] += d * d;
    }
  for (; i < x.size(); ++i) {
    sums[0] += x[i] - pivot;
    squares[0] += (x[i] - pivot) * (x[i] - pivot);
  }
  for (std::size_t k = 0; k < apart; ++k) {
    sum += sums[k];
    square += squares[k];
  }
  count += double(x.size());
}

void PooledMoments::add(std::size_t walker, std::size_t first_draw, std::span<const double> numbers) {
  if (!begun_ && !numbers.empty()) {
    pivot_ = numbers.front();
    begun_ = true;
  }
  auto& batches = batches_[walker / together_];
  const std::size_t draws = numbers.size() / width_, begin = first_draw * width_;
  for (std::size_t draw = 0; draw < draws;) {
    const std::size_t batch = std::min((first_draw + draw) / each_, batches.size() - 1);
    const std::size_t end = batch + 1 == batches.size() ? draws : std::min(draws, (batch + 1) * each_ - first_draw);
    batches[batch].add(numbers.subspan(draw * width_, (end - draw) * width_), pivot_);
    draw = end;
  }
  for (std::size_t& next = next_[walker]; next < begin + numbers.size(); next += every_)
    some_.push_back(numbers[next - begin]);
}

PooledMoments::Result PooledMoments::result() {
  Sums all;
  for (const auto& walker : batches_)
    for (const Sums& s : walker) {
      all.count += s.count;
      all.sum += s.sum;
      all.square += s.square;
    }
  const double shift = all.sum / all.count;
  Result r;
  r.mean = pivot_ + shift;
  const auto square_of = [&](const Sums& s) { return (s.square + 2 * pivot_ * s.sum) / s.count + pivot_ * pivot_; };
  r.square = square_of(all);
  r.deviation = all.count > 1 ? std::sqrt(std::max(0.0, all.square - shift * all.sum) / (all.count - 1)) : NAN;
  if (!std::isfinite(r.square)) return {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

  double mean_spread = 0, square_spread = 0, count = 0;
  for (const auto& walker : batches_)
    for (std::size_t b = 0; b + 1 < walker.size(); ++b) {
      mean_spread += std::pow(walker[b].sum / walker[b].count - shift, 2);
      square_spread += std::pow(square_of(walker[b]) - r.square, 2);
      ++count;
    }
  const bool enough = batches_.size() * draws_ >= fewest_for_errors && count > 1;
  r.mean_error = enough ? std::sqrt(mean_spread / (count - 1) / count) : NAN;
  r.square_error = enough ? std::sqrt(square_spread / (count - 1) / count) : NAN;

  // the three quantiles and their upper neighbours, without sorting the rest
  auto from = some_.begin();
  for (const double share : {0.05, 0.5, 0.95})
    for (std::size_t k = 0, place = std::size_t(1 + double(some_.size() - 1) * share) - 1; k < 2; ++k, ++place)
      if (const auto at = some_.begin() + long(place); at >= from && at < some_.end()) {
        std::nth_element(from, at, some_.end());
        from = at + 1;
      }
  const auto quantile = [&](double share) { return quantile_of_sorted(some_, share); };
  r.low = quantile(0.05);
  r.median = quantile(0.5);
  r.high = quantile(0.95);
  return r;
}

Finding summary(const Samples& samples, bool every_parameter, const Done& done) {
  if (samples.draws == 0)
    throw Error("\"{}\" has no draws; run it for at least `every` steps after warm-up", samples.run.string());
  Table table;
  add_statistics(table, samples);
  for (const Quantity& q : stored_predictions(samples))
    table.row(diagnosed(q.name, q.chains, walkers_together(samples)));
  Finding finding{.name = "summary", .title = "Summary"};
  finding.words.push_back(fmt::format("{} draws of {} walkers{}.", samples.draws, samples.walkers, worst(table)));
  if (walkers_together(samples) > 1)
    finding.words.push_back(
        fmt::format("The walkers are coupled, {} in an ensemble: errors, ess and rhat count each "
                    "ensemble as one chain.",
                    walkers_together(samples)));
  if (samples.draws * samples.walkers < fewest_for_errors)
    finding.words.push_back(fmt::format("Errors, ess and rhat need at least {} draws.", fewest_for_errors));
  std::vector<std::string> blocks;
  for (const std::string& block : samples.blocks)
    if (samples.manifest.arrays.contains("posterior/" + block)) blocks.push_back(block);
  if (blocks.empty()) finding.words.push_back("No weights were stored (store.weights is \"none\").");
  else if (every_parameter) add_parameters(table, samples, blocks, done);
  else {
    finding.words.push_back(
        "Rows of blocks pool their entries, with errors from batch means; --parameters shows each entry.");
    if (add_blocks(table, samples, blocks))
      finding.words.push_back("Quantiles of large blocks are those of about 10^6 evenly spaced numbers.");
  }
  finding.tables.push_back({"Quantities", std::move(table)});
  return finding;
}

}  // namespace kelvin
