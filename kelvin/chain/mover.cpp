// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/mover.h"

#include <algorithm>

#include "kelvin/core/isa.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {

template <class Real>
void Workspace<Real>::use_threads(std::size_t count, bool retrace) {
  if (count != threads) pool.reset();
  threads = count;
  normals.resize(threads * normals_each);
  from.resize(threads * from_each);
  reports.assign(threads, {.retrace = retrace});
}

template <class Real>
Mover<Real>::Mover(const Recipe& recipe, std::size_t k, ChainState<Real>& state, std::uint64_t seed)
    : recipe_(&recipe.parts[k]),
      begins_(recipe.begins),
      fallbacks_(&state.fallbacks[k]),
      key_(stream_key(seed, "part " + recipe_->name)),
      frozen_(recipe_->frozen.size()),
      tiling_(*recipe_, block_length) {
  part.q = std::span(state.q).subspan(recipe_->offset, recipe_->size);
  part.p = std::span(state.p).subspan(recipe_->offset, recipe_->size);
  part.g = std::span<const Real>(state.g).subspan(recipe_->offset, recipe_->size);
  part.xi = &state.xi[k];
  part.constants = &recipe_->constants;
  constexpr std::size_t strings_at_once = 8;
  pending_.reserve(strings_at_once);
}

template <class Real>
std::size_t Mover<Real>::most_normals() const {
  int most = 1;
  std::size_t longest = std::max(block_length, tiling_.longest());
  for (const Move& move : recipe_->scheme.moves) {
    most = std::max(most, move.letter->normals);
    if (move.letter->whole && move.letter->normals) longest = std::max(longest, recipe_->size);
  }
  return std::size_t(most) * longest;
}

template <class Real>
bool Mover<Real>::put_off(std::size_t first, std::size_t last, std::uint64_t steps, Workspace<Real>& room) {
  const auto& moves = recipe_->scheme.moves;
  bool moves_q = false;
  if (recipe_->scheme.takes_sums)
    for (std::size_t at = first; at < last; ++at)
      if (moves[at].letter->whole) {
        moves_q |= put_off(first, at, steps, room);
        move_whole(at, steps, room);
        moves_q |= moves[at].letter->moves_q;
        first = at + 1;
      }
  if (first == last) return moves_q;
  pending_.push_back({first, last, part, step, steps});
  for (std::size_t at = first; at < last; ++at) moves_q |= moves[at].letter->moves_q;
  return moves_q;
}

// A letter that needs a sum over its part ends a run of blocks.
template <class Real>
void Mover<Real>::move_whole(std::size_t at, std::uint64_t steps, Workspace<Real>& room) {
  const auto& [letter, share, occurrence, occurrences] = recipe_->scheme.moves[at];
  flush(room);
  part.count = double((steps - begins_) * occurrences + occurrence + 1);
  const auto z = std::span(room.normals).first(std::size_t(letter->normals) * part.size());
  if (!z.empty()) room.noise->normals({key_, room.walker, steps, std::uint16_t(at)}, 0, z);
  const bool returns = letter->moves_q && !tiling_.none();
  if (returns) tiling_.keep_point(part);
  Part<Real> seen = part;
  if (letter->scales && !tiling_.none()) seen.g = tiling_.tangent_slopes(part);
  letter->flow(seen, share * step, z);
  if (returns) {
    room.reports.front().descends = !letter->shaken(part.T);
    tiling_.project(part, room.reports.front());
    count_fallbacks(room);
  }
  if (!tiling_.none() && tiling_.tangent_after[at]) tiling_.tangent(part);
  if (letter->moves_q) restore_frozen();
}

template <class Real>
void Mover<Real>::flush(Workspace<Real>& room) {
  constexpr std::size_t worth_threads = std::size_t(1) << 18;
  if (pending_.empty()) return;
  const auto& tiles = tiling_.tiles;
  const std::size_t size = part.size();
  const std::size_t blocks = tiles.empty() ? (size + block_length - 1) / block_length : tiles.size();
  const std::size_t threads = size < worth_threads ? 1 : room.threads, each = (blocks + threads - 1) / threads;
  auto work = [&](std::size_t t) {
    const FlushToZero tiny_numbers;  // other threads have their own mode
    for (std::size_t b = t * each; b < std::min(blocks, (t + 1) * each); ++b) {
      const std::size_t first = b * block_length;
      advance(tiles.empty() ? Tile<Real>{first, std::min(block_length, size - first), 0, 0, nullptr} : tiles[b], t,
              room);
    }
  };
  if (threads > 1 && !room.pool) room.pool = std::make_unique<Threads>(threads);
  if (threads > 1) room.pool->each(threads, work);
  else work(0);
  pending_.clear();
  if (!tiles.empty()) count_fallbacks(room);
  restore_frozen();
}

// One letter of the pending moves on the numbers of `block`, which begins at `first` within the part.
template <class Real>
inline void Mover<Real>::apply(const Pending& pending, std::size_t at, std::size_t first, Part<Real>& block,
                               std::size_t thread, Workspace<Real>& room) const {
  const auto& [letter, share, occurrence, occurrences] = recipe_->scheme.moves[at];
  const std::size_t each = std::size_t(letter->normals);
  const auto z = std::span(room.normals).subspan(thread * room.normals_each, each * block.size());
  if (!letter->shaken(pending.part.T)) std::fill(z.begin(), z.end(), Real(0));
  else room.noise->normals({key_, room.walker, pending.steps, std::uint16_t(at)}, each * first, z);
  if (letter->memory) block.count = double((pending.steps - begins_) * occurrences + occurrence + 1);
  letter->flow(block, share * pending.step, z);
}

// All pending moves of one tile.
template <class Real>
void Mover<Real>::advance(const Tile<Real>& tile, std::size_t thread, Workspace<Real>& room) {
  if (tile.on) return advance_on_manifold(tile, thread, room);
  for (const Pending& pending : pending_) {
    Part<Real> block = pending.part.slice(tile.first, tile.count);
    for (std::size_t at = pending.first_move; at < pending.last_move; ++at)
      apply(pending, at, tile.first, block, thread, room);
  }
}

// A drift follows the manifold, other letters are followed by a return to it.
template <class Real>
void Mover<Real>::advance_on_manifold(const Tile<Real>& tile, std::size_t thread, Workspace<Real>& room) {
  const auto from = std::span(room.from).subspan(thread * room.from_each, tile.count + tile.slack_count);
  ProjectionReport& report = room.reports[thread];
  for (const Pending& pending : pending_) {
    Part<Real> entries = pending.part.slice(tile.first, tile.count);
    Part<Real> slack = pending.part.slice(tile.slack, tile.slack_count);
    const ManifoldPoint<Real> point{entries.q, entries.p, slack.q, slack.p};
    for (std::size_t at = pending.first_move; at < pending.last_move; ++at) {
      const Move& move = recipe_->scheme.moves[at];
      const Letter& letter = *move.letter;
      if (letter.drifts) {
        tile.on->drift(point, move.share * pending.step / pending.part.m, report);
        continue;
      }
      if (letter.moves_q) {
        std::copy(entries.q.begin(), entries.q.end(), from.begin());
        std::copy(slack.q.begin(), slack.q.end(), from.begin() + long(tile.count));
      }
      if (letter.scales) {
        const auto slopes = tiling_.tangent_slopes(tile, pending.part);
        entries.g = slopes.subspan(tile.first, tile.count);
        slack.g = slopes.subspan(tile.slack, tile.slack_count);
      }
      apply(pending, at, tile.first, entries, thread, room);
      if (tile.slack_count) apply(pending, at, tile.slack, slack, thread, room);
      report.descends = !letter.shaken(pending.part.T);
      if (letter.moves_q) tile.on->project(point, from, report);
      if (tiling_.tangent_after[at]) tile.on->tangent(point);
    }
  }
}

template <class Real>
void Mover<Real>::count_fallbacks(Workspace<Real>& room) {
  for (ProjectionReport& report : room.reports) {
    *fallbacks_ += double(report.fallbacks);
    room.irreversible |= report.irreversible > 0;
    report.fallbacks = report.irreversible = 0;
  }
}

template <class Real>
void Mover<Real>::hold_frozen() {
  for (std::size_t i = 0; i < frozen_.size(); ++i) frozen_[i] = part.q[recipe_->frozen[i]];
  restore_frozen();
}

template <class Real>
void Mover<Real>::restore_frozen() {
  for (std::size_t i = 0; i < frozen_.size(); ++i) {
    part.q[recipe_->frozen[i]] = frozen_[i];
    part.p[recipe_->frozen[i]] = 0;
  }
}

template <class Real>
double Mover<Real>::momentum_square() const {
  return dot<Real>(part.p, part.p) / part.m;
}

template <class Real>
double Mover<Real>::kinetic_energy() const {
  return recipe_->scheme.unit_speed ? part.T * work : momentum_square() / 2;
}

template struct Workspace<float>;
template struct Workspace<double>;
template class Mover<float>;
template class Mover<double>;

}  // namespace kelvin
