// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/estimator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "kelvin/core/pack.h"

namespace kelvin {

template <class Real>
void Estimator<Real>::add(const BlockMask& given, std::span<const Block> blocks) {
  const Block& block = block_named(given.block, blocks);
  masks_.push_back({block, mask_of(given.mask, block)});
}

template <class Real>
void Estimator<Real>::add(BlockNoise given, std::span<const Block> blocks) {
  const Block& block = block_named(given.block, blocks);
  normals_.resize(std::max(normals_.size(), block.size()));
  noises_.push_back({block, std::move(given)});
}

template <class Real>
void Estimator<Real>::share_rows(std::size_t shares, std::size_t rows, RowTeam team) {
  shares_ = shares;
  team_ = std::move(team);
  all_rows_.resize(rows);
  std::iota(all_rows_.begin(), all_rows_.end(), 0u);
}

template <class Real>
void Estimator<Real>::arrange(std::span<const Block> given) {
  for (Masked& m : masks_) m.block = block_named(m.block.name, given);
  for (Noisy& n : noises_) n.block = block_named(n.block.name, given);
  if (anchor_every_ == 0) return;
  for (const Block& block : given) size_ = std::max(size_, block.offset + block.size());
  anchored_.assign(2 * size_ + 2, Real(0));
  correction_.assign(size_, Real(0));
}

template <class Real>
void Estimator<Real>::prepare(const Stream& stream) {
  stream_ = stream;
  anchor_due_ = anchor_every_ > 0 && stream.step % anchor_every_ == 0;
  for (std::size_t k = 0; k < masks_.size(); ++k) {
    Stream own = stream;
    own.place = std::uint16_t(k);
    masks_[k].mask.draw(masks_[k].block, own);
  }
}

template <class Real>
double Estimator<Real>::operator()(Potential<Real>& U, std::span<const Real> q, const Evaluation& e,
                                   std::span<Real> g) {
  return masks_.empty() ? with_anchor(U, q, e, g) : with_masks(U, q, e, g);
}

template <class Real>
double Estimator<Real>::with_masks(Potential<Real>& U, std::span<const Real> q, const Evaluation& e,
                                   std::span<Real> g) {
  masked_.assign(q.begin(), q.end());
  const auto multiply = [&](std::span<Real> by, std::vector<double> DrawnMask::*factors) {
    for (const auto& [block, mask] : masks_)
      for (std::size_t i = 0; i < (mask.*factors).size(); ++i) by[block.offset + i] *= Real((mask.*factors)[i]);
  };
  multiply(masked_, &DrawnMask::on_q);
  const double energy = with_anchor(U, masked_, e, g);
  multiply(g, &DrawnMask::on_g);
  return energy;
}

// U(q; rows) - U(a; rows) + U(a), a the anchor
template <class Real>
double Estimator<Real>::with_anchor(Potential<Real>& U, std::span<const Real> q, const Evaluation& e,
                                    std::span<Real> g) {
  if (anchor_every_ == 0 || e.rows.empty()) return in_shares(U, q, e, g);
  const auto anchor = std::span(anchored_).first(size_), slope = std::span(anchored_).subspan(size_, size_);
  Real &height = anchored_[2 * size_], &placed = anchored_[2 * size_ + 1];
  if (anchor_due_ || placed == Real(0)) {
    std::copy(q.begin(), q.begin() + long(size_), anchor.begin());
    height = Real(in_shares(U, anchor, {.rows = {}, .piece = e.piece, .wanted = {}}, slope));
    placed = Real(1);
    anchor_due_ = false;
  }
  const double there = in_shares(U, anchor, e, correction_);
  const double here = in_shares(U, q, e, g);
  for (std::size_t i = 0; i < size_; ++i) g[i] += slope[i] - correction_[i];
  return here - there + double(height);
}

template <class Real>
double Estimator<Real>::in_shares(Potential<Real>& U, std::span<const Real> q, const Evaluation& e, std::span<Real> g) {
  if (shares_ == 1) return plain(U, q, e, g);
  Evaluation rows = e;
  if (e.rows.empty()) rows.rows = all_rows_;
  const double energy = my_branch(U, q, rows, g);
  if (team_.size == 1) return energy;
  Packer pack;
  pack(energy);
  pack.bytes.append(reinterpret_cast<const char*>(g.data()), g.size_bytes());
  return trunk(team_.everyone(pack.bytes), g);
}

// The branch of this rank: its own branches, one a thread, added pairwise.
template <class Real>
double Estimator<Real>::my_branch(Potential<Real>& U, std::span<const Real> q, const Evaluation& e, std::span<Real> g) {
  const std::size_t mine = shares_ / team_.size, first = team_.rank * mine;
  const std::size_t count = std::bit_floor(std::min(std::max<std::size_t>(threads_, 1), mine));
  auto& [threads, works] = branches_;
  if (works.size() != count) {
    works = std::vector<BranchWork>(count);
    for (BranchWork& work : works) {
      work.levels.resize(std::size_t(std::countr_zero(mine)) + 1);
      if (count > 1) work.U = U.clone();
    }
    threads = count > 1 ? std::make_unique<Threads>(count) : nullptr;
  }
  for (BranchWork& work : works)
    for (auto& level : work.levels) level.resize(g.size());  // constraints may have numbers of their own in g
  if (count == 1) return branch(U, q, e, first, mine, works[0], g);
  threads->each(count, [&](std::size_t k) {
    BranchWork& work = works[k];
    work.g.resize(g.size());
    work.energy = branch(*work.U, q, e, first + k * mine / count, mine / count, work, work.g);
  });
  for (std::size_t apart = 1; apart < count; apart *= 2)
    for (std::size_t k = 0; k < count; k += 2 * apart) {
      for (std::size_t i = 0; i < g.size(); ++i) works[k].g[i] += works[k + apart].g[i];
      works[k].energy += works[k + apart].energy;
    }
  std::ranges::copy(works[0].g, g.begin());
  return works[0].energy;
}

// The weighted sum over some of the shares, into g.
template <class Real>
double Estimator<Real>::branch(Potential<Real>& U, std::span<const Real> q, const Evaluation& e, std::size_t first,
                               std::size_t count, BranchWork& work, std::span<Real> g) {
  if (count > 1) {
    const std::span<Real> other = work.levels[std::size_t(std::countr_zero(count))];
    const double left = branch(U, q, e, first, count / 2, work, g);
    const double right = branch(U, q, e, first + count / 2, count / 2, work, other);
    for (std::size_t i = 0; i < g.size(); ++i) g[i] += other[i];
    return left + right;
  }
  const std::size_t begin = first * e.rows.size() / shares_, end = (first + 1) * e.rows.size() / shares_;
  if (begin == end) {
    std::fill(g.begin(), g.end(), Real(0));
    return 0;
  }
  const double weight = double(end - begin) / double(e.rows.size());
  Evaluation share = e;
  share.rows = e.rows.subspan(begin, end - begin);
  const double energy = plain(U, q, share, g);
  for (Real& x : g) x *= Real(weight);
  return weight * energy;
}

// The rest of the tree: what each rank has, added pairwise.
template <class Real>
double Estimator<Real>::trunk(const std::vector<std::string>& ranks, std::span<Real> g) const {
  std::vector<double> U(ranks.size());
  std::vector<std::vector<Real>> sums(ranks.size(), std::vector<Real>(g.size()));
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Unpacker unpack{ranks[r]};
    unpack(U[r]);
    unpack.take(sums[r].data(), g.size_bytes());
  }
  for (std::size_t apart = 1; apart < ranks.size(); apart *= 2)
    for (std::size_t r = 0; r < ranks.size(); r += 2 * apart) {
      for (std::size_t i = 0; i < g.size(); ++i) sums[r][i] += sums[r + apart][i];
      U[r] += U[r + apart];
    }
  std::copy(sums[0].begin(), sums[0].end(), g.begin());
  return U[0];
}

template <class Real>
void Estimator<Real>::add_noise(std::span<Real> g) {
  constexpr std::size_t first_place = 1 << 15;  // masks have the places before it
  for (std::size_t k = 0; k < noises_.size(); ++k) {
    const Block& block = noises_[k].block;
    const auto z = std::span(normals_).first(block.size());
    Stream stream = stream_;
    stream.place = std::uint16_t(first_place + k);
    normals(stream, 0, z);
    const Real spread = Real(std::sqrt(noises_[k].noise.variance(double(stream.step))));
    for (std::size_t i = 0; i < z.size(); ++i) g[block.offset + i] += spread * z[i];
  }
}

template class Estimator<float>;
template class Estimator<double>;

}  // namespace kelvin
