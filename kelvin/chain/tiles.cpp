// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/tiles.h"

#include <algorithm>
#include <cmath>

namespace kelvin {
namespace {

// Entries, in whole units, of each tile of a constraint.
std::size_t entries_at_once(const BlockConstraint& held, std::size_t length) {
  const std::size_t unit = held.size() / held.units();
  return std::min(held.size(), std::max<std::size_t>(1, length / unit) * unit);
}

// p has to be made tangent after a letter that moved it, or moved q, unless the next letter moves p again before anyone
// looks: all letters on p are linear, so making it tangent once is enough. Where nobody looks is a matter of the string
// alone; else bytes would depend on when a run is saved.
std::vector<char> tangent_moves(const Scheme& scheme) {
  const auto& moves = scheme.moves;
  std::vector<char> after;
  for (std::size_t at = 0; at < moves.size(); ++at) {
    const Letter& letter = *moves[at].letter;
    const Letter* next = at + 1 < moves.size() ? moves[at + 1].letter : nullptr;
    const bool again =
        next && next->local() && next->moves_p && !next->moves_q && !next->whole && scheme.kinetic_after != at + 1;
    after.push_back((letter.moves_p && !again) || (letter.moves_q && !letter.drifts && scheme.has_momentum));
  }
  return after;
}

}  // namespace

template <class Real>
Tiling<Real>::Tiling(const PartRecipe& part, std::size_t length) {
  if (part.constraints.empty()) return;
  tangent_after = tangent_moves(part.scheme);
  std::size_t at = 0;
  const auto free_up_to = [&](std::size_t end) {
    for (; at < end; at += std::min(length, end - at))
      tiles.push_back({at, std::min(length, end - at), at, 0, nullptr});
  };
  for (const BlockConstraint& held : part.constraints) {
    free_up_to(held.first);
    manifolds_.push_back(make_manifold<Real>(held));
    const std::size_t each = entries_at_once(held, held.slack_count == held.size() ? length / 2 : length);
    for (std::size_t first = 0; first < held.size(); first += each) {
      const std::size_t count = std::min(each, held.size() - first);
      const auto slack_of = [&](std::size_t entries) { return entries * held.slack_count / held.size(); };
      tiles.push_back(
          {held.first + first, count, held.slack + slack_of(first), slack_of(count), manifolds_.back().get()});
    }
    at = std::max(at, held.slack_count ? held.slack + held.slack_count : held.first + held.size());
  }
  free_up_to(part.size);
  from_.resize(room());
  if (part.scheme.takes_sums) kept_.resize(part.size);
  if (std::ranges::any_of(part.scheme.moves, [](const Move& m) { return m.letter->scales; })) slopes_.resize(part.size);
}

template <class Real>
ManifoldPoint<Real> Tiling<Real>::piece(const Tile<Real>& s, const Part<Real>& part) const {
  return {part.q.subspan(s.first, s.count), part.p.subspan(s.first, s.count), part.q.subspan(s.slack, s.slack_count),
          part.p.subspan(s.slack, s.slack_count)};
}

template <class Real>
std::size_t Tiling<Real>::longest() const {
  std::size_t most = 0;
  for (const auto& s : tiles) most = std::max({most, s.count, s.slack_count});
  return most;
}

template <class Real>
std::size_t Tiling<Real>::room() const {
  std::size_t most = 0;
  for (const auto& s : tiles) most = std::max(most, s.count + s.slack_count);
  return most;
}

template <class Real>
void Tiling<Real>::keep_point(const Part<Real>& part) {
  std::copy(part.q.begin(), part.q.end(), kept_.begin());
}

template <class Real>
void Tiling<Real>::project(const Part<Real>& part, ProjectionReport& report) {
  for (const auto& s : tiles) {
    if (!s.on) continue;
    std::copy_n(kept_.begin() + long(s.first), s.count, from_.begin());
    std::copy_n(kept_.begin() + long(s.slack), s.slack_count, from_.begin() + long(s.count));
    s.on->project(piece(s, part), std::span(from_).first(s.count + s.slack_count), report);
  }
}

template <class Real>
void Tiling<Real>::tangent(const Part<Real>& part) {
  for (const auto& s : tiles)
    if (s.on) s.on->tangent(piece(s, part));
}

template <class Real>
std::span<const Real> Tiling<Real>::tangent_slopes(const Tile<Real>& s, const Part<Real>& part) {
  const std::span<Real> all(slopes_);
  std::ranges::copy(part.g.subspan(s.first, s.count), all.begin() + long(s.first));
  std::ranges::copy(part.g.subspan(s.slack, s.slack_count), all.begin() + long(s.slack));
  if (s.on)
    s.on->tangent({part.q.subspan(s.first, s.count), all.subspan(s.first, s.count),
                   part.q.subspan(s.slack, s.slack_count), all.subspan(s.slack, s.slack_count)});
  return slopes_;
}

template <class Real>
std::span<const Real> Tiling<Real>::tangent_slopes(const Part<Real>& part) {
  for (const auto& s : tiles) tangent_slopes(s, part);
  return slopes_;
}

template <class Real>
double Tiling<Real>::residual(const Part<Real>& part) const {
  double worst = 0;
  for (const auto& s : tiles)
    if (s.on) worst = larger(worst, s.on->residual(piece(s, part)));
  return worst;
}

template <class Real>
double Tiling<Real>::tangency(const Part<Real>& part) const {
  double worst = 0;
  for (const auto& s : tiles)
    if (s.on) worst = larger(worst, s.on->tangency(piece(s, part)));
  return worst;
}

template <class Real>
void settle(const Recipe& recipe, std::span<Real> q, const std::function<void(std::string_view)>& remark) {
  for (const PartRecipe& part : recipe.parts)
    for (const BlockConstraint& held : part.constraints) {
      const auto mine = q.subspan(part.offset, part.size);
      const Settled found = make_manifold<Real>(held)->settle(
          {mine.subspan(held.first, held.size()), {}, mine.subspan(held.slack, held.slack_count), {}});
      const std::string_view name = held.row ? held.row->name : "its own";
      if (found.moved)
        remark(
            fmt::format("block \"{}\" did not start on its constraint ({}): {} of {} {} were moved to the nearest "
                        "point of it",
                        held.block, name, found.moved, held.units(),
                        held.unit() == Unit::entry ? "entries"
                        : held.unit() == Unit::row ? "rows"
                                                   : "blocks"));
      if (found.stuck && part.temperature.range().second == 0)
        remark(
            fmt::format("{} of {} slack coordinates of block \"{}\" start at 0, where at temperature 0 no force can "
                        "shorten what is "
                        "at its radius; give a larger radius, a smaller start or a temperature",
                        found.stuck, held.slack_count, held.block));
    }
}

template class Tiling<float>;
template class Tiling<double>;
template void settle(const Recipe&, std::span<float>, const std::function<void(std::string_view)>&);
template void settle(const Recipe&, std::span<double>, const std::function<void(std::string_view)>&);

}  // namespace kelvin
