// SPDX-License-Identifier: Apache-2.0
// Whether walkers have the same law. The posterior of a network with hidden layers has modes between which no walker
// crosses: there each walker is judged by itself, and what they say differently is told as their share of the
// uncertainty, as of a deep ensemble.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/verdict/diagnose.h"

namespace kelvin {
namespace {

using enum Verdict;

constexpr double highest_rhat = 1.01;
constexpr double highest_rhat_alone = 1.1;  // of halves of one walker, which know their means less well

bool has_modes(const Evidence& e) {
  return e.settings.model.layers.items().size() > 2 && e.samples.walkers > e.together;
}

struct Alone {
  double rhat = NAN;  // of the halves of the worst walker
  std::size_t walker = 0;
  const Quantity* quantity = nullptr;
};

Alone least_settled(const Evidence& e) {
  Alone worst;
  for (const JudgedQuantity& q : e.judged)
    for (std::size_t w = 0; w < q.quantity.chains.size(); ++w)
      if (const double r = rhat({q.quantity.chains[w]}); r > worst.rhat || (std::isnan(worst.rhat) && !std::isnan(r)))
        worst = {r, w, &q.quantity};
  return worst;
}

// Of the variance of a quantity over all draws, the part between the means of the walkers.
double share_between(const Chains& chains) {
  std::vector<double> means;
  double within = 0;
  for (const auto& x : chains) {
    means.push_back(mean({x}));
    for (const double v : x) within += (v - means.back()) * (v - means.back()) / double(x.size() * chains.size());
  }
  double middle = 0, between = 0;
  for (const double m : means) middle += m / double(means.size());
  for (const double m : means) between += (m - middle) * (m - middle) / double(means.size());
  return between / (between + within);
}

std::vector<Judgement> each_by_itself(const Evidence& e) {
  const Alone worst = least_settled(e);
  if (!worst.quantity) return {};
  std::vector<Judgement> out;
  if (worst.rhat > highest_rhat_alone)
    out.push_back({fault, fmt::format("walker {} still moves on: rhat of its halves is {:.3g}, above {} ({}); run "
                                      "longer, with a longer warm-up",
                                      worst.walker, worst.rhat, highest_rhat_alone, worst.quantity->name)});
  else
    out.push_back({fine, fmt::format("each walker is settled by itself: rhat of halves is at most {:.3f} ({})",
                                     worst.rhat, worst.quantity->name)});
  double sum = 0, most = 0, count = 0;
  for (const JudgedQuantity& q : e.judged) {
    if (!q.quantity.name.starts_with("prediction")) continue;
    const double share = share_between(q.quantity.chains);
    if (std::isnan(share)) continue;
    sum += share;
    most = std::max(most, share);
    ++count;
  }
  if (count > 0)
    out.push_back({fine, fmt::format("walkers that sit in modes of their own are an ensemble: {:.0f} % of the variance "
                                     "of predictions over all draws lies between walkers (at most {:.0f} % of one)",
                                     100 * sum / count, 100 * most)});
  else
    out.push_back({unknown,
                   "no predictions are at hand, so how much the walkers differ in them is not told; set "
                   "store.predictions = true"});
  return out;
}

}  // namespace

std::vector<Judgement> judge_agreement(const Evidence& e) {
  if (has_modes(e)) return each_by_itself(e);
  const JudgedQuantity* worst = least_agreed(e);
  if (!worst) return {};
  const double together = worst->convergence.rhat;
  std::vector<Judgement> out;
  if (together <= highest_rhat)
    out.push_back({fine, fmt::format("rhat is at most {:.4f} ({})", together, worst->quantity.name)});
  else {
    double alone = 0;  // the worst of each walker's halves
    for (const auto& x : worst->quantity.chains) alone = std::fmax(alone, rhat({x}));
    const bool stuck = worst->quantity.chains.size() > 1 && alone - 1 < (together - 1) / 2 && !worst->time.missing;
    out.push_back({fault, fmt::format("chains disagree: rhat of {} is {:.3g}, above {}; {}", worst->quantity.name,
                                      together, highest_rhat,
                                      stuck ? "each walker is settled by itself, so they sit in different places: "
                                              "run much longer, or hotter, until they cross between them"
                                            : "the walkers still move on: run longer, with a longer warm-up")});
  }
  if (e.samples.walkers == 1)
    out.push_back({unknown, "one walker cannot disagree with another: rhat compares its halves only; use walkers = 4"});
  else if (worst->quantity.chains.size() == 1)
    out.push_back({unknown,
                   "the walkers are coupled and count as one chain, which cannot disagree with another: rhat "
                   "compares its halves only; use coupling.ensembles = 2"});
  return out;
}

}  // namespace kelvin
