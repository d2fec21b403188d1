// SPDX-License-Identifier: Apache-2.0
// How a chain applies its letters: put off, then block by block, along manifolds where there are any.
#include <algorithm>
#include <optional>

#include "kelvin/chain/chain.h"
#include "kelvin/core/isa.h"
#include "kelvin/core/parallel.h"

namespace kelvin {

template <class Real>
void Chain<Real>::run(std::size_t k, std::size_t segment) {
  const std::size_t first = movers_[k].segments[segment], last = movers_[k].segments[segment + 1];
  const std::size_t reads = recipe_.parts[k].scheme.kinetic_after;
  if (const auto [from, to] = left_out(k); first < to && last > from) {
    if (first < from) put_off(k, first, from);
    if (to < last) put_off(k, to, last);
  } else if (reading_now_ && first < reads && reads <= last) {
    put_off(k, first, reads);
    flush();
    movers_[k].kinetic = momentum_square(movers_[k].part);
    put_off(k, reads, last);
  } else {
    put_off(k, first, last);
  }
}

template <class Real>
void Chain<Real>::put_off(std::size_t k, std::size_t first_move, std::size_t last_move) {
  if (recipe_.parts[k].scheme.takes_sums)
    for (std::size_t at = first_move; at < last_move; ++at)
      if (recipe_.parts[k].scheme.moves[at].letter->whole) {
        put_off(k, first_move, at);
        move_whole(k, at);
        first_move = at + 1;
      }
  if (first_move == last_move) return;
  Mover& mover = movers_[k];
  mover.pending.push_back({first_move, last_move, mover.part, mover.step, steps_});
  if (recipe_.heats && k + 1 == movers_.size()) return;  // U does not depend on alpha
  for (std::size_t at = first_move; at < last_move; ++at) stale_ |= recipe_.parts[k].scheme.moves[at].letter->moves_q;
}

// A letter that needs a sum over its part ends a run of blocks.
template <class Real>
void Chain<Real>::move_whole(std::size_t k, std::size_t at) {
  const auto& [letter, share, occurrence, occurrences] = recipe_.parts[k].scheme.moves[at];
  flush(k);
  movers_[k].part.count = double((steps_ - recipe_.begins) * occurrences + occurrence + 1);
  const auto z = std::span(normals_).first(std::size_t(letter->normals) * movers_[k].part.size());
  if (!z.empty()) noise_->normals({movers_[k].key, walker_, steps_, std::uint16_t(at)}, 0, z);
  Held<Real>& held = movers_[k].held;
  if (letter->moves_q && !held.none()) held.keep_point(movers_[k].part);
  Part<Real> part = movers_[k].part;
  if (letter->scales && !held.none()) part.g = held.tangent_slopes(part);
  letter->flow(part, share * movers_[k].step, z);
  if (letter->moves_q && !held.none()) {
    tallies_.front().descends = !letter->shaken(part.T);
    held.project(part, tallies_.front());
    count_fallbacks(k);
  }
  if (!held.none() && held.tangent_after[at]) held.tangent(movers_[k].part);
  if (letter->moves_q) stale_ = true, restore_frozen(k);
}

template <class Real>
void Chain<Real>::flush() {
  for (std::size_t k = 0; k < movers_.size(); ++k) flush(k);
}

template <class Real>
void Chain<Real>::flush(std::size_t k) {
  constexpr std::size_t worth_threads = std::size_t(1) << 18;
  Mover& mover = movers_[k];
  if (mover.pending.empty()) return;
  const FlushToZero tiny_numbers;
  const auto& stretches = mover.held.stretches;
  const std::size_t size = mover.part.size();
  const std::size_t blocks = stretches.empty() ? (size + block_length - 1) / block_length : stretches.size();
  const std::size_t threads = size < worth_threads ? 1 : threads_, each = (blocks + threads - 1) / threads;
  parallel(threads, threads, [&](std::size_t t) {
    std::optional<FlushToZero> tiny_numbers;  // other threads have their own mode
    if (t > 0) tiny_numbers.emplace();
    for (std::size_t b = t * each; b < std::min(blocks, (t + 1) * each); ++b) {
      const std::size_t first = b * block_length;
      advance(
          recipe_.parts[k], mover,
          stretches.empty() ? Stretch<Real>{first, std::min(block_length, size - first), 0, 0, nullptr} : stretches[b],
          t);
    }
  });
  mover.pending.clear();
  if (!stretches.empty()) count_fallbacks(k);
  restore_frozen(k);
}

// All pending moves of one stretch of a part.
template <class Real>
void Chain<Real>::advance(const PartRecipe& recipe, Mover& mover, const Stretch<Real>& stretch, std::size_t t) {
  const auto normals = std::span(normals_).subspan(t * normals_each_, normals_each_);
  const auto apply = [&](const Pending& pending, std::size_t at, std::size_t first, Part<Real>& block) {
    const auto& [letter, share, occurrence, occurrences] = recipe.scheme.moves[at];
    const std::size_t each = std::size_t(letter->normals);
    const auto z = normals.first(each * block.size());
    if (!letter->shaken(pending.part.T)) std::fill(z.begin(), z.end(), Real(0));
    else noise_->normals({mover.key, walker_, pending.steps, std::uint16_t(at)}, each * first, z);
    if (letter->memory) block.count = double((pending.steps - recipe_.begins) * occurrences + occurrence + 1);
    letter->flow(block, share * pending.step, z);
  };
  if (stretch.on) return advance_held(recipe, mover, stretch, t, apply);
  for (const Pending& pending : mover.pending) {
    Part<Real> block = pending.part.slice(stretch.first, stretch.count);
    for (std::size_t at = pending.first_move; at < pending.last_move; ++at) apply(pending, at, stretch.first, block);
  }
}

// The same where the stretch is on a manifold: a drift follows it, other letters are followed by a return to it.
template <class Real>
template <class Apply>
void Chain<Real>::advance_held(const PartRecipe& recipe, Mover& mover, const Stretch<Real>& stretch, std::size_t t,
                               const Apply& apply) {
  const auto from = std::span(from_).subspan(t * from_each_, stretch.count + stretch.slack_count);
  for (const Pending& pending : mover.pending) {
    Part<Real> entries = pending.part.slice(stretch.first, stretch.count);
    Part<Real> slack = pending.part.slice(stretch.slack, stretch.slack_count);
    const ManifoldPoint<Real> piece{entries.q, entries.p, slack.q, slack.p};
    for (std::size_t at = pending.first_move; at < pending.last_move; ++at) {
      const auto& [letter, share, occurrence, occurrences] = recipe.scheme.moves[at];
      if (letter->drifts) {
        stretch.on->drift(piece, share * pending.step / pending.part.m, tallies_[t]);
        continue;
      }
      if (letter->moves_q) {
        std::copy(entries.q.begin(), entries.q.end(), from.begin());
        std::copy(slack.q.begin(), slack.q.end(), from.begin() + long(stretch.count));
      }
      if (letter->scales) {
        const auto slopes = mover.held.tangent_slopes(stretch, pending.part);
        entries.g = slopes.subspan(stretch.first, stretch.count);
        slack.g = slopes.subspan(stretch.slack, stretch.slack_count);
      }
      apply(pending, at, stretch.first, entries);
      if (stretch.slack_count) apply(pending, at, stretch.slack, slack);
      tallies_[t].descends = !letter->shaken(pending.part.T);
      if (letter->moves_q) stretch.on->project(piece, from, tallies_[t]);
      if (mover.held.tangent_after[at]) stretch.on->tangent(piece);
    }
  }
}

template <class Real>
void Chain<Real>::count_fallbacks(std::size_t k) {
  for (Tally& tally : tallies_) {
    fallbacks_[k] += double(tally.fallbacks);
    irreversible_ |= tally.irreversible > 0;
    tally.fallbacks = tally.irreversible = 0;
  }
}

template <class Real>
void Chain<Real>::restore_frozen(std::size_t k) {
  const auto& frozen = recipe_.parts[k].frozen;
  for (std::size_t i = 0; i < frozen.size(); ++i) {
    movers_[k].part.q[frozen[i]] = movers_[k].frozen[i];
    movers_[k].part.p[frozen[i]] = 0;
  }
}

#define KELVIN_MEMBERS(Real)                                                 \
  template void Chain<Real>::run(std::size_t, std::size_t);                  \
  template void Chain<Real>::put_off(std::size_t, std::size_t, std::size_t); \
  template void Chain<Real>::flush();                                        \
  template void Chain<Real>::restore_frozen(std::size_t);
KELVIN_MEMBERS(float)
KELVIN_MEMBERS(double)
#undef KELVIN_MEMBERS

}  // namespace kelvin
